#pragma once
// The part of the results that a person sees, and the files that hold all of them.
#include <nlohmann/json_fwd.hpp>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload.h"

namespace segfold::cli {

inline constexpr Flag kViewFlags[] = {
    {"show", "N|all"}, {"sort", "FIELD"}, {"labels", "FILE"}, {"output", "FILE"}};

/// Tells on standard error if the layout's keys are written to `output` under another name, because a result
/// field is called "keys".
void warn_of_renamed_keys(const std::string& output, const Operator& op, std::string_view name);

/// The segments to show, their order and their names.
class ResultsView {
public:
    /// Checks all that can be checked before a run; reads the labels. `saves` is false if another one writes
    /// the file --output. `first_segment` is the number of the workload's first segment, if others lie before
    /// it. Throws InputError.
    ResultsView(const Arguments& arguments, const Workload& workload, bool saves = true,
                std::int64_t first_segment = 0);

    /// A table of the first segments, or of those with the largest values of --sort; ends with how many are
    /// left out.
    [[nodiscard]] std::string print(const Results& results) const;
    /// The same as an array of objects.
    [[nodiscard]] nlohmann::ordered_json json(const Results& results) const;
    /// The outputs of the first elements, where the operator has a map.
    [[nodiscard]] nlohmann::ordered_json elements_json(const Results& results) const;
    /// Writes the file --output, if asked for; returns its name, else nothing.
    std::string save(const Results& results) const;

private:
    /// The key of each segment: as a kernel found them, else as the host did; null without the layout keys.
    [[nodiscard]] const Array* keys_of(const Results& results) const;
    /// The value of a place, or the row of features.
    [[nodiscard]] std::string text_of(const Array& array, std::int64_t place) const;
    [[nodiscard]] nlohmann::ordered_json value_of(const Array& array, std::int64_t place) const;
    [[nodiscard]] std::string print_segments(const Results& results) const;
    [[nodiscard]] std::string print_elements(const Results& results) const;
    [[nodiscard]] std::vector<std::int64_t> shown(const Results& results) const;

    const Workload& workload_;
    std::int64_t num_shown_;
    std::int64_t first_segment_;
    std::string sort_;
    std::vector<std::string> labels_;
    std::string output_;
};

}  // namespace segfold::cli
