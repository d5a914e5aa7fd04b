#pragma once
// Shows the first results of a run as a table, and writes all results to files.
#include <nlohmann/json_fwd.hpp>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload.h"

namespace segfold::cli {

inline constexpr Flag kViewFlags[] = {
    {"show", "N|all"}, {"sort", "FIELD"}, {"labels", "FILE"}, {"output", "FILE"}};

/// Warns on standard error if the file `output` contains the layout's keys under another name than "keys",
/// because a result field has this name. `name` is the name of the keys in the file; empty if the file has no
/// keys.
void warn_of_renamed_keys(const std::string& output, const Operator& op, std::string_view name);

/// The numbers of a workload's first segment and first element, for a workload that is a part of larger data.
struct FirstPlaces {
    std::int64_t segment = 0, element = 0;
};

/// Chooses the segments to show, their order and their labels.
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
    /// Returns the segments that print() shows as an array of JSON objects.
    [[nodiscard]] nlohmann::ordered_json json(const Results& results) const;
    /// Returns the outputs of the first elements as an array of JSON objects, for an operator with outputs.
    [[nodiscard]] nlohmann::ordered_json elements_json(const Results& results) const;
    /// Writes the file that --output names. Returns the file's name; "" without --output.
    std::string save(const Results& results) const;

private:
    /// Returns the array of the segments' keys: those that the kernel found, or else those that the host
    /// found. Returns null if the layout has no keys.
    [[nodiscard]] const Array* keys_of(const Results& results) const;
    /// Returns the value at index `place` of an array as text. If the array has rows, returns the row of
    /// features at this index.
    [[nodiscard]] std::string text_of(const Array& array, std::int64_t place) const;
    [[nodiscard]] nlohmann::ordered_json value_of(const Array& array, std::int64_t place) const;
    [[nodiscard]] std::string print_segments(const Results& results) const;
    [[nodiscard]] std::string print_elements(const Results& results) const;
    [[nodiscard]] std::vector<std::int64_t> shown(const Results& results) const;

    [[nodiscard]] std::int64_t length_of(std::int64_t segment) const
    {
        return lengths_.empty() ? workload_.segments.length(segment)
                                : lengths_[static_cast<std::size_t>(segment)];
    }

    const Workload& workload_;
    std::vector<std::int64_t> lengths_;  ///< of groups; empty for other segments
    std::int64_t num_shown_;
    FirstPlaces first_;
    std::string sort_;
    std::vector<std::string> labels_;
    std::string output_;
};

}  // namespace segfold::cli
