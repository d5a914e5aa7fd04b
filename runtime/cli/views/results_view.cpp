#include "runtime/cli/views/results_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/evaluation/interpreter.h"
#include "dsl/message/suggest.h"
#include "dsl/message/visible.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/groups.h"
#include "runtime/judge/mapped.h"
#include "runtime/judge/value_text.h"
#include "runtime/support/files/file.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kStandardShown = 8;
constexpr std::int64_t kMostShown = std::int64_t{1} << 40;

std::int64_t num_shown(const Arguments& arguments)
{
    if (arguments.value("show") == "all")
        return kMostShown;
    return arguments.integer("show", 0, kMostShown).value_or(kStandardShown);
}

std::vector<std::string> read_labels(const std::string& path, std::int64_t num_segments)
{
    const auto text = naming_purpose("for --labels", [&] {
        const InputFile file(path, Accepts::files_and_streams);
        std::string all(file.bytes(), '\0');
        file.read(0, std::as_writable_bytes(std::span(all)));
        return all;
    });
    std::vector<std::string> labels;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        labels.push_back(text.substr(at, end - at));
        if (labels.back().ends_with('\r'))
            labels.back().pop_back();
        at = end + 1;
    }
    if (static_cast<std::int64_t>(labels.size()) != num_segments)
        throw InputError(fmt::format("{}: has {} for {}; one line for each is needed", path,
                                     count_text(static_cast<std::int64_t>(labels.size()), "line"),
                                     count_text(num_segments, "segment")));
    return labels;
}

void check_output(const std::string& path, const Workload& workload)
{
    const auto& op = workload.op;
    const std::filesystem::path file(path);
    const auto extension = file.extension();
    if (extension != ".npy" && extension != ".npz")
        throw InputError(
            fmt::format("--output '{}': the name must end in .npy for a single array, or in .npz", path));
    const auto returned = returned_fields(op);
    if (extension == ".npy" && returned.size() != 1) {
        std::string fields;
        for (const auto& field : returned)
            fields += (fields.empty() ? "" : ", ") + field.name;
        throw InputError(
            fmt::format("--output '{}': an .npy file holds one array, but operator {} has {} result fields "
                        "({}); write an .npz file",
                        path, op.name, returned.size(), fields));
    }
    std::error_code ignored;
    if (file.has_parent_path() && !std::filesystem::is_directory(file.parent_path(), ignored))
        throw InputError(
            fmt::format("--output '{}': there is no folder '{}'", path, file.parent_path().string()));
}

/// Returns the names of the outputs, such as "'y', 'z'".
std::string outputs_text(const Operator& op)
{
    std::string text;
    for (const auto& output : op.outputs)
        text += fmt::format("{}'{}'", text.empty() ? "" : ", ", output.name);
    return text;
}

const NamedArray& field_of(const Results& results, const std::string& name)
{
    return *std::ranges::find(results, name, &NamedArray::name);
}

}  // namespace

void warn_of_renamed_keys(const std::string& output, const Operator& op, std::string_view name)
{
    if (!name.empty() && name != "keys")
        write_error(
            fmt::format("warning: --output '{}': operator {} has a result field 'keys'; the keys of the "
                        "layout are written as '{}'",
                        visible(output), op.name, name));
}

ResultsView::ResultsView(const Arguments& arguments, const Workload& workload, bool saves, FirstPlaces first)
    : workload_(workload),
      lengths_(workload.segments.form == SegmentForm::groups ? lengths_of_groups(workload.segments)
                                                             : std::vector<std::int64_t>()),
      num_shown_(num_shown(arguments)),
      first_(first),
      sort_(arguments.value("sort").value_or("")),
      output_(saves ? arguments.value("output").value_or("") : "")
{
    for (const auto* flag : {"sort", "labels"})
        if (arguments.has(flag) && !workload.op.keeps_results)
            throw InputError(fmt::format(
                "--{}: operator {} keeps no results of segments, which the flag {}; it "
                "gives elements {}",
                flag, workload.op.name, std::string_view(flag) == "sort" ? "puts in order" : "names",
                outputs_text(workload.op)));
    const auto& fields = workload.op.results;
    if (arguments.has("sort") && std::ranges::find(fields, sort_, &ResultField::name) == fields.end()) {
        std::vector<std::string_view> names;
        for (const auto& field : fields)
            names.push_back(field.name);
        throw InputError(fmt::format("--sort: operator {} has no result field '{}'; it has {}{}",
                                     workload.op.name, sort_, fmt::join(names, ", "),
                                     did_you_mean(sort_, names)));
    }
    if (arguments.has("sort") && has_rows(workload.op))
        throw InputError(fmt::format("--sort: the results of operator {} are rows, which have no order",
                                     workload.op.name));
    if (saves && arguments.has("output"))
        check_output(output_, workload);
    if (const auto path = arguments.value("labels"))
        labels_ = read_labels(*path, workload.segments.num_segments);
}

const Array* ResultsView::keys_of(const Results& results) const
{
    if (results.keys)
        return &*results.keys;
    return workload_.segments.keys ? &*workload_.segments.keys : nullptr;
}

std::vector<std::int64_t> ResultsView::shown(const Results& results) const
{
    const auto num_segments = workload_.segments.num_segments;
    const auto count = std::min(num_shown_, num_segments);
    std::vector<std::int64_t> segments(static_cast<std::size_t>(sort_.empty() ? count : num_segments));
    std::iota(segments.begin(), segments.end(), 0);
    if (sort_.empty())
        return segments;
    const auto& array = field_of(results, sort_).array;
    std::vector<long double> values;
    for (const auto segment : segments) {
        Slot<long double> slot{};
        Machine<long double>::load(slot, array.type(), array.data(), segment);
        values.push_back(is_float(array.type())            ? slot.real
                         : is_signed_integer(array.type()) ? static_cast<std::int64_t>(slot.bits)
                                                           : static_cast<long double>(slot.bits));
    }
    // Sorts in descending order, with NaN last. Equal values keep the order of their segments.
    const auto before = [&](std::int64_t left, std::int64_t right) {
        const auto a = values[static_cast<std::size_t>(left)], b = values[static_cast<std::size_t>(right)];
        if (a > b || a < b)
            return a > b;
        return std::isnan(a) != std::isnan(b) ? std::isnan(b) : left < right;
    };
    std::partial_sort(segments.begin(), segments.begin() + count, segments.end(), before);
    segments.resize(static_cast<std::size_t>(count));
    return segments;
}

std::string ResultsView::print(const Results& results) const
{
    const auto& op = workload_.op;
    auto text = op.keeps_results ? print_segments(segment_results_of(op, results)) : "";
    const auto elements = !op.outputs.empty() ? print_elements(outputs_of(op, results)) : "";
    return text + (text.empty() || elements.empty() ? "" : "\n") + elements;
}

std::string ResultsView::text_of(const Array& array, std::int64_t place) const
{
    constexpr std::int64_t kShownFeatures = 6;
    if (!has_rows(workload_.op))
        return value_text(array, place);
    const auto num_features = workload_.num_features;
    std::string text = "[";
    for (std::int64_t k = 0; k < std::min(kShownFeatures, num_features); ++k)
        text += (k == 0 ? "" : ", ") + value_text(array, place * num_features + k);
    return text + (num_features > kShownFeatures ? ", ...]" : "]");
}

Json ResultsView::value_of(const Array& array, std::int64_t place) const
{
    if (!has_rows(workload_.op))
        return json_of(array, place);
    Json row = Json::array();
    for (std::int64_t k = 0; k < workload_.num_features; ++k)
        row.push_back(json_of(array, place * workload_.num_features + k));
    return row;
}

std::string ResultsView::print_elements(const Results& results) const
{
    const auto num_elements = workload_.segments.num_elements;
    const auto count = std::min(num_shown_, num_elements);
    if (count == 0)
        return "";
    using Align = TextTable::Align;
    std::vector<TextTable::Column> columns = {{"element", Align::right}};
    for (const auto& [name, array] : results)
        columns.push_back({name, Align::right});
    TextTable table(std::move(columns));
    for (std::int64_t i = 0; i < count; ++i) {
        std::vector<std::string> row = {std::to_string(first_.element + i)};
        for (const auto& [name, array] : results)
            row.push_back(text_of(array, i));
        table.add(std::move(row));
    }
    return table.print() + (count == num_elements
                                ? ""
                                : "... and " + count_text(num_elements - count, "more element") + "\n");
}

Json ResultsView::elements_json(const Results& results) const
{
    const auto outputs = outputs_of(workload_.op, results);
    Json list = Json::array();
    for (std::int64_t i = 0; i < std::min(num_shown_, workload_.segments.num_elements); ++i) {
        Json row = {{"element", first_.element + i}, {"outputs", Json::object()}};
        for (const auto& [name, array] : outputs)
            row["outputs"][name] = value_of(array, i);
        list.push_back(std::move(row));
    }
    return list;
}

std::string ResultsView::print_segments(const Results& results) const
{
    if (num_shown_ == 0 || workload_.segments.num_segments == 0)
        return "";
    using Align = TextTable::Align;
    std::vector<TextTable::Column> columns = {{"segment", Align::right}};
    if (!labels_.empty())
        columns.push_back({"label", Align::left});
    if (keys_of(results) != nullptr)
        columns.push_back({"key", Align::right});
    columns.push_back({"length", Align::right});
    for (const auto& [name, array] : results)
        columns.push_back({name, Align::right});
    TextTable table(std::move(columns));
    const auto segments = shown(results);
    for (const auto segment : segments) {
        std::vector<std::string> row = {std::to_string(first_.segment + segment)};
        if (!labels_.empty())
            row.push_back(labels_[static_cast<std::size_t>(segment)]);
        if (const auto* keys = keys_of(results))
            row.push_back(value_text(*keys, segment));
        row.push_back(std::to_string(length_of(segment)));
        for (const auto& [name, array] : results)
            row.push_back(text_of(array, segment));
        table.add(std::move(row));
    }
    auto text = table.print();
    if (const auto rest = workload_.segments.num_segments - static_cast<std::int64_t>(segments.size());
        rest > 0)
        text += "... and " + count_text(rest, "more segment") + "\n";
    return text;
}

Json ResultsView::json(const Results& returned) const
{
    const auto results = segment_results_of(workload_.op, returned);
    Json list = Json::array();
    for (const auto segment : shown(results)) {
        Json row = {{"segment", first_.segment + segment}};
        if (!labels_.empty())
            row["label"] = labels_[static_cast<std::size_t>(segment)];
        if (const auto* keys = keys_of(results))
            row["key"] = json_of(*keys, segment);
        row["length"] = length_of(segment);
        row["fields"] = Json::object();
        for (const auto& [name, array] : results)
            row["fields"][name] = value_of(array, segment);
        list.push_back(std::move(row));
    }
    return list;
}

std::string ResultsView::save(const Results& results) const
{
    if (output_.ends_with(".npy"))
        write_npy(output_, results.at(0).array);
    if (!output_.ends_with(".npz"))
        return output_;
    std::vector<NamedArray> arrays;
    for (const auto& [name, array] : results)
        arrays.push_back({name, array.copy()});
    if (const auto* keys = keys_of(results))
        arrays.push_back({keys_name(returned_fields(workload_.op)), keys->copy()});
    write_npz(output_, arrays);
    return output_;
}

}  // namespace segfold::cli
