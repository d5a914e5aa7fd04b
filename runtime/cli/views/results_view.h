#pragma once
// The part of the results shown to a person, and the files that hold all of them.
#include <nlohmann/json_fwd.hpp>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload.h"

namespace segfold::cli {

inline constexpr Flag kViewFlags[] = {
    {"show", "N|all"}, {"sort", "FIELD"}, {"labels", "FILE"}, {"output", "FILE"}};

/// Warns on standard error if keys of the layout are written to `output` under another name, because a result
/// field is called "keys".
void warn_of_renamed_keys(const std::string& output, const Operator& op, std::string_view name);

/// The numbers of a workload's first segment and first element, if others precede them.
struct FirstPlaces {
    std::int64_t segment = 0, element = 0;
};

/// The segments to show, their order and their names.
class ResultsView {
public:
    /// Checks everything that can be checked before a run, and reads the labels.
    ///
    /// `saves` is false if other code writes the file of --output. Throws InputError.
    ResultsView(const Arguments& arguments, const Workload& workload, bool saves = true,
                FirstPlaces first = {});

    /// Returns a table of the first segments, or of the segments with the largest values of --sort. The last
    /// line gives the number of segments left out.
    [[nodiscard]] std::string print(const Results& results) const;
    /// Returns the same segments as an array of JSON objects.
    [[nodiscard]] nlohmann::ordered_json json(const Results& results) const;
    /// Returns the outputs of the first elements, if the operator has any.
    [[nodiscard]] nlohmann::ordered_json elements_json(const Results& results) const;
    /// Writes the file of --output, if requested. Returns its name, else "".
    std::string save(const Results& results) const;

private:
    /// Returns the key of each segment, from the kernel or else from the host; null if the layout has no
    /// keys.
    [[nodiscard]] const Array* keys_of(const Results& results) const;
    /// Returns the value at a place as text, or its row of features.
    [[nodiscard]] std::string text_of(const Array& array, std::int64_t place) const;
    [[nodiscard]] nlohmann::ordered_json value_of(const Array& array, std::int64_t place) const;
    [[nodiscard]] std::string print_segments(const Results& results) const;
    [[nodiscard]] std::string print_elements(const Results& results) const;
    [[nodiscard]] std::vector<std::int64_t> shown(const Results& results) const;

    const Workload& workload_;
    std::int64_t num_shown_;
    FirstPlaces first_;
    std::string sort_;
    std::vector<std::string> labels_;
    std::string output_;
};

}  // namespace segfold::cli
