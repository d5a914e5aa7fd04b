#include "runtime/cli/verbs/run_stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <ranges>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/warnings.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/interrupt_guard.h"
#include "runtime/cli/verbs/stream_input.h"
#include "runtime/cli/views/results_view.h"
#include "runtime/cli/views/stream_report.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/scale/stream_output.h"
#include "runtime/session/core.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

void refuse_flags(const Arguments& arguments)
{
    for (const auto flag : {"slices", "devices"})
        arguments.refuse(flag, "cuts data that are in memory, and --memory cuts by its bound");
    arguments.refuse("check", "needs all data in memory, and --memory says that there is no room");
    for (const auto flag : {"sort", "labels"})
        arguments.refuse(flag, "needs all results in memory; leave --memory out");
    arguments.refuse("index-bits",
                     "is about data in one piece; with --memory slices say how wide indices are");
}

/// Thrown if a signal arrives while a stream is read. The files of --output are then complete up to
/// `num_elements`.
struct Interrupted {
    std::int64_t num_elements;
};

}  // namespace

std::int64_t memory_bound(const Arguments& arguments)
{
    const auto given = arguments.value("memory").value_or("");
    std::string_view text = given;
    const auto ends_with = [&](std::string_view letters) {
        const auto found = text.empty() ? letters.npos : letters.find(text.back());
        if (found != letters.npos)
            text.remove_suffix(1);
        return found == letters.npos ? 0 : static_cast<int>(found) + 1;
    };
    if (ends_with("B") != 0)
        ends_with("i");
    const auto unit = std::int64_t{1} << 10 * ends_with("KMGT");
    std::int64_t bytes = 0;
    if (const auto number = parse_integer(text)) {
        if (!__builtin_mul_overflow(*number, unit, &bytes) && bytes > 0)
            return bytes;
    } else if (unit > 1 && text.find_first_not_of("0123456789.") == text.npos) {  // a fraction, as in 1.5G
        double part = 0;
        const auto [end, fault] = std::from_chars(text.begin(), text.end(), part, std::chars_format::fixed);
        const auto exact = part * static_cast<double>(unit);
        if (fault == std::errc() && end == text.end() && exact >= 1 && exact < 0x1p63)
            return static_cast<std::int64_t>(exact);
    }
    throw InputError(
        fmt::format("--memory '{}' is no number of bytes; write one such as 2G, 1.5G, 512M or 65536", given));
}

int run_stream(const Arguments& arguments, const Operator& op)
{
    refuse_flags(arguments);
    auto request = workload_request(arguments, op, true);
    require_streams(op, request.sorts_keys ? LayoutKind::groups : request.layout.kind);
    if (arguments.has("resume") && !arguments.has("output"))
        throw InputError("--resume goes on with the files of --output, which is missing");
    const bool is_reverse = op.scan && op.scan->reverse;
    if (is_reverse)
        arguments.refuse("resume", "goes on with later elements, and operator " + op.name +
                                       " scans segments from their end; leave --resume out");
    if (op.map)
        arguments.refuse("resume", "goes on with later elements, and operator " + op.name +
                                       " maps elements when all have been read; leave --resume out");
    const bool goes_on = !is_reverse && !op.map;
    request.standard_elements = kElementsOfStreams;
    const auto most_shown = most_shown_of(arguments);
    Session session(backend_argument(arguments), session_options(arguments, op));
    auto prepared = stream_input(op, request);
    const auto& marks = prepared.input.segments.array;
    const auto key_type =
        request.layout.kind == LayoutKind::keys ? std::optional(marks->type()) : std::nullopt;
    Progress progress;
    StreamOptions options;
    options.plan = plan_request(arguments);
    options.memory_bytes = memory_bound(arguments);
    options.keeps_states = arguments.has("output") && goes_on;
    options.progress = [&](const StreamProgress& at) { progress.show(progress_text(at)); };
    Stream stream(session, op, std::move(prepared.input), options);
    std::size_t num_told = 0;
    const auto tell_warnings = [&] {
        const auto& all = stream.warnings();
        write_warnings(arguments, {all.begin() + static_cast<std::ptrdiff_t>(num_told), all.end()});
        num_told = all.size();
    };
    tell_warnings();
    std::optional<StreamOutput> output;
    std::string resumed;
    if (const auto path = arguments.value("output")) {
        output.emplace(op, *path, key_type, stream.fingerprint(),
                       goes_on ? Unfinished::kept : Unfinished::removed);
        refuse_to_overwrite_what_is_read(arguments, op, output->files());
        warn_of_renamed_keys(*path, op, output->keys());
        if (arguments.has("resume")) {
            resumed = fmt::format("begun anew, as there was no {}.resume to go on with", *path);
            if (const auto state = output->resume()) {
                stream.go_to(*state);
                const auto before = output->num_segments();
                resumed = fmt::format("from element {} on; {} {} written before", state->place.element,
                                      count_text(before, "segment"), before == 1 ? "was" : "were");
            }
        }
    }
    FirstSegments first(op, most_shown);
    const auto first_segment = output ? output->num_segments() : 0;
    std::optional<std::int64_t> first_element;
    auto num_segments = first_segment;
    std::optional<InterruptGuard> guard;
    if (output && goes_on)
        guard.emplace();
    // For a stream that is read backwards: the slices with the first elements, ordered from the last such
    // slice to the first.
    std::vector<std::pair<StreamResults, std::vector<std::int64_t>>> first_slices;
    const auto left_behind = [&](const Error& error) {
        const auto what =
            output ? output->left_behind("once the cause is gone, if no file that is read has to change")
                   : "";
        return what.empty() ? std::string(error.what()) : fmt::format("{}\n{}", error.what(), what);
    };
    try {
        stream.run([&](StreamResults&& results, const StreamState& state) {
            if (is_reverse) {
                num_segments += results.num_segments;
                if (output)
                    output->put(results);
                if (results.first_element < most_shown || state.is_end)
                    first_slices.emplace_back(std::move(results), results.window->lengths());
                return;
            }
            first_element = first_element.value_or(results.first_element);
            if ((!op.outputs.empty() && results.first_element - *first_element < most_shown) ||
                (results.first_segment == num_segments && num_segments - first_segment < most_shown))
                first.take(results.results, results.window->lengths(), results.running);
            num_segments += results.num_segments;
            if (output && !goes_on)
                output->append(results.results, results.num_segments, results.running, results.num_elements);
            else if (output) {
                output->take(results, state);
                if (InterruptGuard::signal() != 0)
                    throw Interrupted{state.place.element};
            }
        });
        for (const auto& [results, lengths] : first_slices | std::views::reverse)
            first.take(results.results, lengths, results.running);
        progress.clear();
        tell_warnings();
        if (output)
            output->commit();
    } catch (const Interrupted& at) {
        progress.clear();
        write_error(fmt::format("stopped after {} by a signal; {}", count_text(at.num_elements, "element"),
                                output->left_behind("with the same flags")));
        return 128 + InterruptGuard::signal();
    } catch (const InputError& error) {
        throw InputError(left_behind(error));
    } catch (const DeviceError& error) {
        throw DeviceError(left_behind(error));
    }
    const EndedStream ended{arguments,
                            request,
                            prepared.origins,
                            core(session).backend(),
                            stream,
                            output ? &*output : nullptr,
                            num_segments,
                            options.memory_bytes,
                            0,
                            resumed,
                            first_segment,
                            first_element.value_or(0)};
    write_report(ended, first);
    return 0;
}

}  // namespace segfold::cli
