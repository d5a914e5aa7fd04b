#pragma once
// Shows the first results of a run as a table, and writes all results to files.
#include <nlohmann/json_fwd.hpp>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload.h"

namespace segfold::cli {

inline constexpr Flag kViewFlags[] = {
    {"show", "N|all"}, {"sort", "FIELD"}, {"labels", "FILE"}, {"output", "FILE"}};

/// Warns on standard error if the file `output` holds the layout's keys under the name `name` instead of
/// "keys", because a result field is called "keys". `name` is empty if the file has no keys.
void warn_of_renamed_keys(const std::string& output, const Operator& op, std::string_view name);

/// Numbers of the first segment and element of a workload within larger data.
struct FirstPlaces {
    std::int64_t segment = 0, element = 0;
};

/// Shows results: chooses the segments to show, their order and their labels.
class ResultsView {
public:
    /// Reads the flags and the labels. Throws InputError for every error that can be found before a run.
    ///
    /// `saves` is false if other code writes the file of --output. `first` is where the workload begins in
    /// larger data.
    ResultsView(const Arguments& arguments, const Workload& workload, bool saves = true,
                FirstPlaces first = {});

    /// Returns a table of the first segments, or of the segments with the largest values of the field of
    /// --sort. The last line says how many segments are omitted.
    [[nodiscard]] std::string print(const Results& results) const;
    /// Returns the segments that print() shows, as an array of JSON objects.
    [[nodiscard]] nlohmann::ordered_json json(const Results& results) const;
    /// Returns the outputs of the first elements as an array of JSON objects. For operators with outputs.
    [[nodiscard]] nlohmann::ordered_json elements_json(const Results& results) const;
    /// Writes the file of --output. Returns its name; empty without --output.
    std::string save(const Results& results) const;

private:
    /// Returns the array of segment keys, found by the kernel or by the host. Returns null if the layout has
    /// no keys.
    [[nodiscard]] const Array* keys_of(const Results& results) const;
    /// Returns entry `place` of an array as text. In an array of rows, an entry is a row of features.
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
    std::vector<std::int64_t> lengths_;  ///< lengths of groups; empty for other segments
    std::int64_t num_shown_;
    FirstPlaces first_;
    std::string sort_;
    std::vector<std::string> labels_;
    std::string output_;
};

}  // namespace segfold::cli
