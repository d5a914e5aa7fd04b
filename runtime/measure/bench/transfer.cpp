#include "runtime/measure/bench/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/backends/cuda/program.h"
#include "runtime/support/processes/parallel.h"

namespace segfold::bench {
namespace {

constexpr double kMostMilliseconds = 2000;
constexpr int kFewestTransfers = 3;
constexpr std::int64_t kFewestCopiedBytes = std::int64_t{1} << 20;
constexpr std::size_t kCheckedAtOnce = std::size_t{1} << 26;

void copy_on_host(std::span<const std::byte> from, std::span<std::byte> to)
{
    parallel_for(static_cast<std::int64_t>(from.size()), kFewestCopiedBytes,
                 [&](std::int64_t begin, std::int64_t end) {
                     std::memcpy(to.data() + begin, from.data() + begin,
                                 static_cast<std::size_t>(end - begin));
                 });
}

bool is_copy(const cuda::DeviceBuffer& buffer, std::span<const std::byte> values)
{
    std::vector<std::byte> part(std::min(kCheckedAtOnce, values.size()));
    for (std::size_t begin = 0; begin < values.size(); begin += part.size()) {
        const std::span here(part.data(), std::min(part.size(), values.size() - begin));
        buffer.copy_out(here, begin);
        if (std::memcmp(here.data(), values.data() + begin, here.size()) != 0)
            return false;
    }
    return true;
}

/// A buffer for one segment on the GPU, and a plan that folds it.
class Fold {
public:
    Fold(cuda::CudaTiming& timing, const Problem& problem, const Stage& stage,
         const std::map<std::string, int>& chosen, std::int64_t num_elements, const Catalogue& catalogue)
        : workload_{problem.op, {}, whole_segments(num_elements)},
          inputs_(std::make_shared<cuda::ResidentArrays>())
    {
        const auto bytes = static_cast<std::size_t>(num_elements) * size_bytes(problem.op.parameters[0].type);
        inputs_->add(cuda::DeviceBuffer(timing.context(), bytes));
        resident_ = std::make_unique<cuda::ResidentWorkload>(timing.context(), workload_, inputs_);
        Problem own = problem;
        own.index_bits = workload_.segments.index_bits();
        const auto facts = plan_facts(own, {num_elements, 1, num_elements});
        const auto emitted = emit(own, stage, configure(stage, chosen, facts), catalogue);
        program_.emplace(timing.context(), *resident_, emitted, &timing.programs());
    }

    [[nodiscard]] cuda::DeviceBuffer& elements() { return inputs_->buffers.front(); }
    [[nodiscard]] const cuda::DeviceBuffer& result() const
    {
        return resident_->result_arrays().buffers.front();
    }
    void launch(const cuda::Stream& stream) { program_->launch(stream.handle()); }
    void poison() { resident_->poison_results(); }

private:
    Workload workload_;
    std::shared_ptr<cuda::ResidentArrays> inputs_;
    std::unique_ptr<cuda::ResidentWorkload> resident_;
    std::optional<cuda::Program> program_;
};

}  // namespace

bool can_fold_chunks(const Operator& op)
{
    return is_exact(op) && op.parameters.size() == 1 && !op.parameters.front().table &&
           op.state.size() == 1 && !op.finish && op.lift.lets.empty() &&
           op.results.front().type == op.parameters.front().type &&
           print(op.lift.assignments.front().value) == op.parameters.front().name;
}

Transfers::Transfers(Bench& bench, const Problem& problem, std::span<const std::byte> values,
                     const Catalogue& catalogue)
    : timing_(cuda::cuda_timing(*bench.timing, "transfers")),
      problem_(problem),
      values_(values),
      catalogue_(catalogue)
{
    if (!can_fold_chunks(problem.op))
        throw InputError(
            fmt::format("operator {}: a transfer folds the results of chunks as elements, and compares "
                        "bits; it takes exact operators such as a sum of integers",
                        problem.op.name));
}

std::span<const std::byte> Transfers::source(bool is_pinned)
{
    if (!is_pinned)
        return values_;
    if (pinned_.bytes().empty()) {
        pinned_ = cuda::PinnedBuffer(timing_.context(), values_.size());
        copy_on_host(values_, pinned_.bytes());
    }
    return pinned_.bytes();
}

const std::vector<std::byte>& Transfers::expected()
{
    if (expected_.empty()) {
        const auto& op = problem_.op;
        const auto length = static_cast<std::int64_t>(values_.size() / size_bytes(op.parameters[0].type));
        const std::byte* column = values_.data();
        const auto fold = cpu::fold_sequentially(op, whole_segments(length), {&column, 1}, 0);
        const auto& result = fold.results.front().array;
        expected_.assign(result.data(), result.data() + result.bytes());
    }
    return expected_;
}

/// Times `work`. All GPU work that it starts must be complete when `stream` is.
template <class Work>
void Transfers::time(Entry& entry, cuda::Stream& stream, int repeats, Work work)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> events, wall;
    int runs = repeats;
    for (int run = -1; run < runs; ++run) {
        cuda::Event start(timing_.context()), stop(timing_.context());
        timing_.context().synchronize();
        const auto before = Clock::now();
        start.record(stream);
        work(start);
        stop.record(stream);
        stream.synchronize();
        const std::chrono::duration<double, std::milli> spent = Clock::now() - before;
        if (run < 0) {  // the first run loads code and touches pages, so it is not counted
            runs = std::clamp(static_cast<int>(kMostMilliseconds / std::max(spent.count(), 1e-3)),
                              std::min(kFewestTransfers, repeats), repeats);
            continue;
        }
        events.push_back(cuda::elapsed_milliseconds(start, stop));
        wall.push_back(spent.count());
    }
    entry.milliseconds = quartiles(events);
    entry.wall_milliseconds = quartiles(wall);
    entry.runs = runs;
    entry.bytes_per_second = static_cast<double>(values_.size()) / (entry.milliseconds.median * 1e-3);
}

void Transfers::copy(Entry& entry, const TransferMethod& method, int repeats)
{
    auto& stream = timing_.stream();
    cuda::DeviceBuffer buffer(timing_.context(), values_.size());
    bool is_right = false;
    if (method.to_host) {
        buffer.copy_in(values_);
        cuda::PinnedBuffer pinned(timing_.context(), method.is_pinned ? values_.size() : 0);
        std::vector<std::byte> pageable(method.is_pinned ? 0 : values_.size());
        const auto target = method.is_pinned ? pinned.bytes() : std::span<std::byte>(pageable);
        time(entry, stream, repeats, [&](const cuda::Event&) {
            if (method.is_pinned)
                buffer.copy_out(target, 0, stream);
            else
                buffer.copy_out(target);
        });
        is_right = std::memcmp(target.data(), values_.data(), values_.size()) == 0;
    } else {
        buffer.zero();
        const auto from = source(method.is_pinned);
        time(entry, stream, repeats, [&](const cuda::Event&) {
            if (method.is_pinned)
                buffer.copy_in(from, 0, stream);
            else
                buffer.copy_in(from);
        });
        is_right = is_copy(buffer, values_);
    }
    entry.agreement = {true, is_right, is_right ? "what was sent" : "what arrived is not what was sent"};
}

void Transfers::copy_and_fold(Entry& entry, const TransferMethod& method, const TransferFold& fold,
                              int repeats)
{
    const auto& op = problem_.op;
    const auto element_bytes = static_cast<std::size_t>(size_bytes(op.parameters[0].type));
    const auto length = static_cast<std::int64_t>(values_.size() / element_bytes);
    if (length % method.chunks != 0)
        throw InputError(fmt::format("{}: {} elements cannot be cut into {} equal chunks", entry.name, length,
                                     method.chunks));
    const auto chunk = length / method.chunks;
    const auto chunk_bytes = static_cast<std::size_t>(chunk) * element_bytes;
    const auto num_streams = static_cast<std::size_t>(std::min(method.streams, method.chunks));
    std::vector<cuda::Stream> streams;
    std::deque<Fold> folds;  // a deque, because elements must keep their addresses
    for (std::size_t i = 0; i < num_streams; ++i) {
        streams.emplace_back(timing_.context());
        folds.emplace_back(timing_, problem_, *fold.stage, fold.chosen, chunk, catalogue_);
    }
    // The results of the chunks, in order, are folded once more.
    Fold last(timing_, problem_, *fold.stage, fold.chosen, method.chunks, catalogue_);
    last.elements().fill_with(std::uint8_t{0xcd});
    last.poison();
    const auto from = source(method.is_pinned);
    time(entry, streams.front(), repeats, [&](const cuda::Event& start) {
        for (std::size_t i = 1; i < num_streams; ++i)
            streams[i].wait(start);
        for (int k = 0; k < method.chunks; ++k) {
            const auto own = static_cast<std::size_t>(k) % num_streams;
            const auto place = static_cast<std::size_t>(k);
            auto& stream = streams[own];
            folds[own].elements().copy_in(from.subspan(place * chunk_bytes, chunk_bytes), 0, stream);
            folds[own].launch(stream);
            last.elements().copy_part_from(folds[own].result(), place * element_bytes, stream);
        }
        for (std::size_t i = 1; i < num_streams; ++i) {
            cuda::Event done(timing_.context());
            done.record(streams[i]);
            streams.front().wait(done);
        }
        last.launch(streams.front());
    });
    std::vector<std::byte> result(last.result().bytes());
    last.result().copy_out(result);
    const bool is_right = result == expected();
    entry.agreement = {
        true, is_right,
        is_right ? "one thread of the host" : "the fold differs from that of one thread of the host"};
}

Entry Transfers::measure(const std::string& row, const TransferMethod& method, const TransferFold& fold,
                         int repeats)
{
    Entry entry;
    entry.name = row;
    if (fold.stage != nullptr)
        copy_and_fold(entry, method, fold, repeats);
    else
        copy(entry, method, repeats);
    if (!entry.agreement.agrees) {
        entry.outcome = Outcome::failed;
        entry.milliseconds = {};
        entry.wall_milliseconds.reset();
    }
    return entry;
}

}  // namespace segfold::bench
