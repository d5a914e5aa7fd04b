#include "runtime/cli/verbs/run_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <sstream>
#include <thread>

#include "dsl/error.h"
#include "runtime/cli/arguments/backend_argument.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/arguments/plan.h"
#include "runtime/cli/arguments/warnings.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/cli/failure.h"
#include "runtime/cli/verbs/judge_ranks.h"
#include "runtime/cli/verbs/run_stream.h"
#include "runtime/cli/verbs/stream_input.h"
#include "runtime/cli/views/results_view.h"
#include "runtime/cli/views/stream_report.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/scale/ranks/rank_cores.h"
#include "runtime/scale/ranks/ranks.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kMemory = std::int64_t{1} << 30;  // size in bytes of a rank's buffers without --memory

void refuse_flags_of_one_process(const Arguments& arguments)
{
    refuse_spreading_flags(arguments);
    arguments.refuse("measure", "measures stages on all data at once; run it without MPI");
    arguments.refuse("resume", "goes on with a run of one process, and ranks of MPI begin anew");
    arguments.refuse("check", "needs all data in the memory of one process; run it without MPI");
    for (const auto flag : {"sort", "labels"})
        arguments.refuse(flag, "needs all results in the memory of one process; run it without MPI");
    arguments.refuse("index-bits", "is about data in one piece, and ranks of MPI have a part each");
}

/// The data and objects that each rank prepares before folding.
struct PreparedRank {
    PreparedRank(const Arguments& arguments, const Communicator& ranks)
        : op(operator_argument(arguments)),
          request(workload_request(arguments, op, true)),
          most_shown(most_shown_of(arguments)),
          session(backend_argument(arguments, false, device_of_rank(arguments, ranks)),
                  session_options(arguments, op))
    {
        refuse_flags_of_one_process(arguments);
        request.standard_elements = kElementsOfStreams;
        auto input = stream_input(op, request);
        origins = std::move(input.origins);
        if (request.layout.kind == LayoutKind::keys)
            key_type = input.input.segments.array->type();
        options.plan = plan_request(arguments);
        options.memory_bytes = arguments.has("memory") ? memory_bound(arguments) : kMemory;
        options.progress = [this](const StreamProgress& at) {
            if (progress)
                progress->show(progress_text(at));
        };
        if (ranks.rank() == 0)
            progress.emplace();
        stream.emplace(session, op, std::move(input.input), options);
        if (const auto path = arguments.value("output"); path && ranks.rank() == 0) {
            output.emplace(op, *path, key_type, stream->fingerprint(), Unfinished::removed);
            refuse_to_overwrite_what_is_read(arguments, op, output->files());
            warn_of_renamed_keys(*path, op, output->keys());
        }
    }

    Operator op;
    WorkloadRequest request;
    std::int64_t most_shown;
    Session session;
    std::vector<std::string> origins;
    std::optional<Type> key_type;
    StreamOptions options;
    std::optional<Progress> progress;
    std::optional<Stream> stream;
    std::optional<StreamOutput> output;
};

/// Rank 0 reports the failure of the lowest rank that failed, and every rank returns that failure's exit
/// code. Returns nothing if no rank failed. All ranks must call this function.
std::optional<int> agree(Communicator& ranks, const Words& words, const std::optional<Failure>& failure)
{
    std::string mine;
    if (failure)
        mine = fmt::format("{} {} {}", failure->kind, failure->exit_code, failure->message);
    const auto all = ranks.all_gather(std::as_bytes(std::span(mine)));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].empty())
            continue;
        const std::string text(reinterpret_cast<const char*>(all[rank].data()), all[rank].size());
        std::istringstream parts(text);
        Failure first;
        parts >> first.kind >> first.exit_code;
        first.message = text.substr(static_cast<std::size_t>(parts.tellg()) + 1);
        if (rank != 0)
            first.message = fmt::format("rank {} of {}: {}", rank, all.size(), first.message);
        if (ranks.rank() == 0)
            (void)report(words, first);
        return first.exit_code;
    }
    return std::nullopt;
}

/// Makes rank 0 write the warnings of all ranks' streams, without the first `num_told` of each stream. Equal
/// warnings are written once. All ranks must call this function.
void write_later_warnings(const Arguments& arguments, Communicator& ranks,
                          const std::vector<std::string>& warnings, std::size_t num_told)
{
    std::string mine;
    for (auto i = num_told; i < warnings.size(); ++i)
        mine += warnings[i] + '\0';
    std::vector<std::string> all;
    for (const auto& bytes : ranks.all_gather(std::as_bytes(std::span(mine)))) {
        std::istringstream texts(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        for (std::string text; std::getline(texts, text, '\0');)
            if (std::ranges::find(all, text) == all.end())
                all.push_back(std::move(text));
    }
    if (ranks.rank() == 0)
        write_warnings(arguments, all);
}

void fold_and_write(const Arguments& arguments, Communicator& ranks, PreparedRank& prepared)
{
    auto& stream = *prepared.stream;
    const auto most_shown = prepared.most_shown;
    const auto num_told = stream.warnings().size();
    if (ranks.rank() == 0)
        write_warnings(arguments, stream.warnings());
    const bool writes = arguments.has("output");
    const auto most_kept = writes ? std::numeric_limits<std::int64_t>::max() : most_shown;
    auto mine = fold_share(ranks, stream, {most_kept, most_shown, most_kept});
    if (prepared.progress)
        prepared.progress->clear();
    write_later_warnings(arguments, ranks, stream.warnings(), num_told);
    FirstSegments first(prepared.op, most_shown);
    std::int64_t num_segments = 0;
    gather_at_first(ranks, prepared.op, std::move(mine), [&](RankResults&& results) {
        first.take(results.results, results.lengths, results.running);
        num_segments += results.num_segments;
        if (prepared.output)
            prepared.output->append(results.results, results.num_kept, results.running, results.num_elements);
    });
    if (ranks.rank() != 0)
        return;
    prepared.progress->clear();
    if (prepared.output)
        prepared.output->commit();
    write_report({arguments, prepared.request, prepared.origins, core(prepared.session).backend(), stream,
                  prepared.output ? &*prepared.output : nullptr, num_segments, prepared.options.memory_bytes,
                  ranks.size()},
                 first);
}

}  // namespace

int run_ranks(const Words& words, const Arguments& arguments, Communicator& ranks)
{
    share_cores(ranks);
    std::optional<PreparedRank> prepared;
    std::optional<Failure> failure;
    try {
        prepared.emplace(arguments, ranks);
    } catch (const std::exception& error) {
        failure = failure_of(error);
    }
    if (const auto exit_code = agree(ranks, words, failure))
        return *exit_code;
    try {
        fold_and_write(arguments, ranks, *prepared);
    } catch (const std::exception& error) {
        auto own = failure_of(error);
        own.message = fmt::format("rank {} of {}: {}", ranks.rank(), ranks.size(), own.message);
        // Higher ranks sleep longer. If several ranks fail at once, the lowest one reports first and stops
        // the others.
        std::this_thread::sleep_for(std::chrono::milliseconds(std::min(ranks.rank(), 50) * 20));
        const int exit_code = report(words, own);
        prepared->output.reset();
        ranks.abort(exit_code);
    }
    return 0;
}

}  // namespace segfold::cli
