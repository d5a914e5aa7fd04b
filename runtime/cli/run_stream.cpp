#include "runtime/cli/run_stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "dsl/visible.h"
#include "runtime/cli/backend_argument.h"
#include "runtime/cli/json.h"
#include "runtime/cli/operator_argument.h"
#include "runtime/cli/plan.h"
#include "runtime/cli/results_view.h"
#include "runtime/cli/stream_input.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workload_argument.h"
#include "runtime/session/scale/stream_output.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kElementsOfStreams = std::int64_t{1} << 16;
constexpr std::int64_t kFirstShown = 8;
constexpr std::int64_t kMostFirst = std::int64_t{1} << 20;

void refuse_flags(const Arguments& arguments)
{
    for (const auto flag : {"slices", "devices"})
        arguments.refuse(flag, "cuts data that are in memory, and --memory cuts by its bound");
    arguments.refuse("check", "needs all data in memory, and --memory says that there is no room");
    arguments.refuse("explain", "is about one plan over all elements; leave --memory out");
    for (const auto flag : {"sort", "labels"})
        arguments.refuse(flag, "needs all results in memory; leave --memory out");
    arguments.refuse("index-bits",
                     "is about data in one piece; with --memory slices say how wide indices are");
}

/// The first segments of a stream, which are shown.
class First {
public:
    First(const Operator& op, std::int64_t most) : op_(op), most_(most) {}

    void take(const StreamResults& next)
    {
        const auto& window = *next.window;
        for (std::int64_t s = 0; s < next.num_segments && std::ssize(lengths_) < most_; ++s) {
            const auto i = static_cast<std::size_t>(s);
            lengths_.push_back(window.ends[i] - (s == 0 ? window.from.open_begin : window.ends[i - 1]));
            for (std::size_t f = 0; f < op_.results.size(); ++f)
                append(f, next.results[f].array, s);
            if (next.results.keys)
                append(op_.results.size(), *next.results.keys, s);
        }
    }

    /// As a workload with nothing but segments, and its results.
    [[nodiscard]] std::pair<Workload, Results> shown() const
    {
        const auto count = lengths_.size();
        std::int64_t sum = 0;
        for (const auto length : lengths_)
            sum += length;
        Workload workload{op_, {}, segments_from_lengths(Array::of<std::int64_t>(Type::i64, lengths_), sum)};
        Results results;
        for (std::size_t f = 0; f < op_.results.size(); ++f)
            results.push_back({op_.results[f].name, array_of(f, op_.results[f].type, count)});
        if (key_type_)
            results.keys = array_of(op_.results.size(), *key_type_, count);
        return {std::move(workload), std::move(results)};
    }

private:
    void append(std::size_t column, const Array& array, std::int64_t s)
    {
        if (column == op_.results.size())
            key_type_ = array.type();
        if (bytes_.size() <= column)
            bytes_.resize(column + 1);
        const auto width = size_bytes(array.type());
        const auto* from = array.data() + static_cast<std::size_t>(s) * width;
        bytes_[column].insert(bytes_[column].end(), from, from + width);
    }

    [[nodiscard]] Array array_of(std::size_t column, Type type, std::size_t count) const
    {
        Array array(type, count);
        if (count != 0)
            std::memcpy(array.data(), bytes_[column].data(), array.bytes());
        return array;
    }

    const Operator& op_;
    std::int64_t most_;
    std::vector<std::int64_t> lengths_;
    std::vector<std::vector<std::byte>> bytes_;
    std::optional<Type> key_type_;
};

/// "3.2e+08 of 1e+09 elements, 1.2e+09 a second, about 12 s left"
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

/// What is said of a stream that has ended.
struct Ended {
    const Arguments& arguments;
    const WorkloadRequest& request;
    const std::vector<std::string>& origins;
    Backend& backend;
    const Stream& stream;
    const StreamOutput* output;
    std::int64_t num_segments;
    std::int64_t memory;
};

std::string report_text(const Ended& ended, const Workload& shown, const Results& results)
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
    if (const auto* plan = ended.stream.plan())
        facts.emplace_back(
            "stage", fmt::format("{} {} ({})", plan->stage->name, segfold::print(plan->emitted.configuration),
                                 plan->chosen_by()));
    auto text = print_facts(facts);
    if (const auto table = ResultsView(ended.arguments, shown).print(results); !table.empty())
        text += "\n" + table;
    if (ended.num_segments > shown.segments.num_segments)
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

Json report_document(const Ended& ended, const Workload& shown, const Results& results)
{
    const auto& op = ended.stream.op();
    Json document = {{"operator", json_of(op)},
                     {"layout", print(ended.request.layout)},
                     {"num_elements", ended.stream.num_elements().value_or(0)},
                     {"num_segments", ended.num_segments},
                     {"index_bits", ended.stream.slice_elements() > kMaxNarrowIndex ? 64 : 32}};
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        document["inputs"][op.parameters[i].name] = ended.origins[i];
    document["backend"] = ended.backend.name();
    document["device"] = ended.backend.description();
    if (const auto* plan = ended.stream.plan()) {
        document["stage"] = plan->stage->name;
        document["chosen_by"] = plan->chosen_by();
        document["configuration"] = json_of(plan->emitted.configuration);
    }
    auto rows = ResultsView(ended.arguments, shown).json(results);
    document["num_shown"] = rows.size();
    document["truncated"] = std::ssize(rows) < ended.num_segments;
    document["results"] = std::move(rows);
    document["slice_elements"] = ended.stream.slice_elements();
    document["memory"] = ended.memory;
    if (ended.output != nullptr)
        document["outputs"] = ended.output->files();
    document["seconds"]["run"] = ended.stream.times().seconds;
    return document;
}

}  // namespace

std::int64_t memory_bound(const Arguments& arguments)
{
    auto text = arguments.value("memory").value_or("");
    const auto refuse = [&] {
        throw InputError(
            fmt::format("--memory '{}' is no number of bytes; write one such as 2G, 512M or 65536",
                        arguments.value("memory").value_or("")));
    };
    int bits = 0;
    if (!text.empty()) {
        constexpr std::string_view kUnits = "KMGT";
        if (const auto unit = kUnits.find(text.back()); unit != std::string_view::npos) {
            bits = 10 * (static_cast<int>(unit) + 1);
            text.pop_back();
        }
    }
    const auto number = parse_integer(text);
    std::int64_t bytes = 0;
    if (!number || *number < 1 || __builtin_mul_overflow(*number, std::int64_t{1} << bits, &bytes))
        refuse();
    return bytes;
}

int run_stream(const Arguments& arguments, const Operator& op)
{
    refuse_flags(arguments);
    if (arguments.has("resume") && !arguments.has("output"))
        throw InputError("--resume goes on with the files of --output, which is missing");
    auto request = workload_request(arguments, op, true);
    request.standard_elements = kElementsOfStreams;
    const auto most_shown = arguments.value("show") == "all"
                                ? kMostFirst
                                : arguments.integer("show", 0, kMostFirst).value_or(kFirstShown);
    Session session(backend_argument(arguments), session_options(arguments, op));
    auto prepared = stream_input(op, request);
    const auto& marks = prepared.input.segments.array;
    const auto key_type =
        request.layout.kind == LayoutKind::keys ? std::optional(marks->type()) : std::nullopt;
    Progress progress;
    StreamOptions options;
    options.plan = plan_request(arguments);
    options.memory_bytes = memory_bound(arguments);
    options.progress = [&](const StreamProgress& at) { progress.show(progress_text(at)); };
    Stream stream(session, op, std::move(prepared.input), options);
    for (const auto& warning : stream.warnings())
        write_error("warning: " + warning);
    std::optional<StreamOutput> output;
    if (const auto path = arguments.value("output")) {
        output.emplace(op, *path, key_type, stream.fingerprint());
        if (arguments.has("resume"))
            if (const auto state = output->resume())
                stream.go_to(*state);
    }
    First first(op, most_shown);
    std::int64_t num_segments = output ? output->num_segments() : 0;
    stream.run([&](StreamResults&& results, const StreamState& state) {
        if (results.first_segment == num_segments && num_segments < most_shown)
            first.take(results);
        num_segments += results.num_segments;
        if (output)
            output->take(results, state);
    });
    progress.clear();
    if (output)
        output->commit();
    const Ended ended{arguments,        request,
                      prepared.origins, session.backend(),
                      stream,           output ? &*output : nullptr,
                      num_segments,     options.memory_bytes};
    const auto [shown, results] = first.shown();
    if (arguments.json())
        write_json("run", report_document(ended, shown, results));
    else
        write_output(report_text(ended, shown, results));
    return 0;
}

}  // namespace segfold::cli
