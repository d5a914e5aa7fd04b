#include "runtime/cli/views/stream_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dsl/integer_text.h"
#include "dsl/message/visible.h"
#include "runtime/backends/backend.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/results_view.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kFirstShown = 8;
constexpr std::int64_t kMostFirst = std::int64_t{1} << 20;

/// Returns the number of elements that a scan processed after the shown ones; 0 without a scan.
std::int64_t num_elements_behind(const EndedStream& ended, const Workload& shown)
{
    return shown.op.outputs.empty()
               ? 0
               : ended.stream.num_elements().value_or(0) - ended.first_element - shown.segments.num_elements;
}

std::string report_text(const EndedStream& ended, const Workload& shown, const Results& results)
{
    const auto& op = ended.stream.op();
    std::string inputs;
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        inputs +=
            fmt::format("{}{}: {}", i == 0 ? "" : "; ", op.parameters[i].name, visible(ended.origins[i]));
    std::vector<std::pair<std::string, std::string>> facts = {
        {"operator", signature(op)},
        {"data",
         fmt::format("{} in {} ({})", count_text(ended.stream.num_elements().value_or(0), "element"),
                     count_text(ended.num_segments, "segment"), visible(print(ended.request.layout)))},
        {"inputs", inputs},
        {"back end", fmt::format("{}: {}", ended.backend.name(), ended.backend.description())},
        {"slices", fmt::format("of {}, within {} bytes", count_text(ended.stream.slice_elements(), "element"),
                               ended.memory)}};
    if (ended.num_ranks != 0)
        facts.emplace_back("ranks",
                           fmt::format("{}, each with an equal part of the elements", ended.num_ranks));
    if (!ended.resumed.empty())
        facts.emplace_back("resumed", visible(ended.resumed));
    if (const auto plan = ended.stream.plan_text(); !plan.empty())
        facts.emplace_back("stage", plan);
    auto text = print_facts(facts);
    if (const auto table =
            ResultsView(ended.arguments, shown, false, {ended.first_segment, ended.first_element})
                .print(results);
        !table.empty())
        text += "\n" + table;
    if (const auto rest = num_elements_behind(ended, shown); rest > 0)
        text += fmt::format("... and {}\n", count_text(rest, "more element"));
    if (op.keeps_results && ended.num_segments > shown.segments.num_segments)
        text += fmt::format("... and {}\n",
                            count_text(ended.num_segments - shown.segments.num_segments, "more segment"));
    if (ended.output != nullptr) {
        facts.clear();
        for (const auto& file : ended.output->files())
            facts.emplace_back("written", visible(file));
        text += "\n" + print_facts(facts);
    }
    return text;
}

/// Adds the stage, its configuration and the source of the choice, of which `plan` is the text of
/// Folded::plan().
void add_plan(Json& document, const std::string& plan)
{
    const auto source = plan.find(" (");
    document["chosen_by"] = plan.substr(source + 2, plan.size() - source - 3);
    std::istringstream words(plan.substr(0, source));
    std::string word;
    words >> word;
    document["stage"] = word;
    document["configuration"] = Json::object();
    while (words >> word) {
        const auto sign = word.find('=');
        document["configuration"][word.substr(0, sign)] = *parse_integer(word.substr(sign + 1));
    }
}

Json report_document(const EndedStream& ended, const Workload& shown, const Results& results)
{
    const auto& op = ended.stream.op();
    Json document = {{"operator", json_of(op)},
                     {"layout", print(ended.request.layout)},
                     {"num_elements", ended.stream.num_elements().value_or(0)},
                     {"num_segments", ended.num_segments},
                     {"index_bits", ended.stream.index_bits()}};
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        document["inputs"][op.parameters[i].name] = ended.origins[i];
    document["backend"] = ended.backend.name();
    document["device"] = ended.backend.description();
    if (const auto text = ended.stream.plan_text(); !text.empty())
        add_plan(document, text);
    const ResultsView view(ended.arguments, shown, false, {ended.first_segment, ended.first_element});
    auto rows = view.json(results);
    document["num_shown"] = rows.size();
    document["truncated"] = std::ssize(rows) < ended.num_segments;
    document["results"] = std::move(rows);
    if (!op.outputs.empty())
        document["elements"] = view.elements_json(results);
    document["slice_elements"] = ended.stream.slice_elements();
    document["memory"] = ended.memory;
    if (!ended.resumed.empty())
        document["resumed"] = ended.resumed;
    if (ended.num_ranks != 0)
        document["num_ranks"] = ended.num_ranks;
    if (ended.output != nullptr)
        document["outputs"] = ended.output->files();
    document["seconds"]["run"] = ended.stream.times().seconds;
    return document;
}

}  // namespace

std::int64_t most_shown_of(const Arguments& arguments)
{
    return arguments.value("show") == "all" ? kMostFirst
                                            : arguments.integer("show", 0, kMostFirst).value_or(kFirstShown);
}

void FirstSegments::take(const Results& results, std::span<const std::int64_t> lengths,
                         const Results& running)
{
    const auto num_results = num_fields_ - op_.outputs.size();
    for (std::int64_t s = 0; s < std::ssize(lengths) && std::ssize(lengths_) < most_; ++s) {
        lengths_.push_back(lengths[static_cast<std::size_t>(s)]);
        for (std::size_t f = 0; f < num_results; ++f)
            append(f, results[f].array, s, 1);
        if (results.keys)
            append(num_fields_, *results.keys, s, 1);
    }
    if (running.empty())
        return;
    const auto count =
        std::min(static_cast<std::int64_t>(running.front().array.length()), most_ - num_elements_);
    for (std::size_t f = 0; f < running.size(); ++f)
        append(num_results + f, running[f].array, 0, count);
    num_elements_ += count;
}

std::pair<Workload, Results> FirstSegments::shown() const
{
    const auto count = lengths_.size();
    std::int64_t sum = 0;
    for (const auto length : lengths_)
        sum += length;
    Workload workload{op_, {}, segments_from_lengths(Array::of<std::int64_t>(Type::i64, lengths_), sum)};
    workload.segments.num_elements = num_elements_;
    const auto fields = returned_fields(op_);
    const auto num_results = fields.size() - op_.outputs.size();
    Results results;
    for (std::size_t f = 0; f < fields.size(); ++f)
        results.push_back(
            {fields[f].name,
             array_of(f, fields[f].type, f < num_results ? count : static_cast<std::size_t>(num_elements_))});
    if (key_type_)
        results.keys = array_of(num_fields_, *key_type_, count);
    return {std::move(workload), std::move(results)};
}

void FirstSegments::append(std::size_t column, const Array& array, std::int64_t begin, std::int64_t count)
{
    if (column == num_fields_)
        key_type_ = array.type();
    if (bytes_.size() <= column)
        bytes_.resize(column + 1);
    const auto width = size_bytes(array.type());
    const auto* from = array.data() + static_cast<std::size_t>(begin) * width;
    bytes_[column].insert(bytes_[column].end(), from, from + static_cast<std::size_t>(count) * width);
}

Array FirstSegments::array_of(std::size_t column, Type type, std::size_t count) const
{
    Array array(type, count);
    if (count != 0)
        std::memcpy(array.data(), bytes_[column].data(), array.bytes());
    return array;
}

std::string progress_text(const StreamProgress& progress)
{
    const auto rate = static_cast<double>(progress.elements) / std::max(progress.seconds, 1e-9);
    auto text = fmt::format("{:.3g}", static_cast<double>(progress.elements));
    if (progress.all_elements)
        text += fmt::format(" of {:.3g}", static_cast<double>(*progress.all_elements));
    text += fmt::format(" elements, {:.3g} a second", rate);
    if (progress.all_elements && progress.seconds > 1)
        text += fmt::format(", about {:.0f} s left",
                            static_cast<double>(*progress.all_elements - progress.elements) / rate);
    return text;
}

void write_report(const EndedStream& ended, const FirstSegments& first)
{
    const auto [shown, results] = first.shown();
    if (ended.arguments.json())
        write_json("run", report_document(ended, shown, results));
    else
        write_output(report_text(ended, shown, results));
}

}  // namespace segfold::cli
