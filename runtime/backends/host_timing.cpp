#include "runtime/backends/host_timing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "dsl/error.h"
#include "runtime/backends/backend_table.h"
#include "runtime/judge/disturbed.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/statistics.h"

namespace segfold {
namespace {

constexpr int kHostCeilingRepeats = 9;
// The read ceiling is measured on this many bytes, or on four times the last-level cache if that is larger.
constexpr std::int64_t kMostRead = std::int64_t{1} << 28;
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kFewestRead = 4096;  // least number of words per thread

/// Memory for measuring the read rate. The words are added up, so the compiler cannot drop the reads.
class ReadBuffer {
public:
    /// Makes the buffer at least `bytes` long. Each thread touches the part that it reads first. On a NUMA
    /// machine this part is then in memory near the thread.
    void provide(std::int64_t bytes)
    {
        const auto words = (bytes + 7) / 8;
        if (size_ >= words)
            return;
        words_.reset(new std::uint64_t[static_cast<std::size_t>(words)]);
        size_ = words;
        parallel_for(words, kFewestRead, [&](std::int64_t begin, std::int64_t end) {
            std::fill(&words_[begin], &words_[end], 1);
        });
    }

    void read(std::int64_t bytes)
    {
        const auto words = std::min(size_, (bytes + 7) / 8);
        parallel_for(words, kFewestRead, [&](std::int64_t begin, std::int64_t end) {
            constexpr std::int64_t kSums = 32;  // independent sums, so that only memory limits the speed
            std::array<std::uint64_t, kSums> sums = {};
            std::int64_t i = begin;
            for (; i + kSums <= end; i += kSums)
                for (std::int64_t k = 0; k < kSums; ++k)
                    sums[static_cast<std::size_t>(k)] += words_[i + k];
            std::uint64_t sum = 0;
            for (; i < end; ++i)
                sum += words_[i];
            for (const auto part : sums)
                sum += part;
            sink_.fetch_add(sum, std::memory_order_relaxed);
        });
    }

private:
    std::unique_ptr<std::uint64_t[]> words_;
    std::int64_t size_ = 0;
    std::atomic<std::uint64_t> sink_ = 0;
};

/// Arrays in host memory: the caller's own, or copies.
struct HostArrays : LoadedArrays {
    std::vector<Array> arrays;

    [[nodiscard]] std::size_t bytes() const override
    {
        std::size_t all = 0;
        for (const auto& array : arrays)
            all += array.bytes();
        return all;
    }
};

bool is_same_value(const Array& one, std::int64_t i, const Array& other, std::int64_t k)
{
    const auto width = size_bytes(one.type());
    return std::memcmp(one.data() + static_cast<std::size_t>(i) * width,
                       other.data() + static_cast<std::size_t>(k) * width, width) == 0;
}

/// True if the values differ by at most `tolerance` times the largest of both magnitudes and 1. NaN equals
/// NaN. The GPU's kernels compare in the same way.
bool is_near(double actual, double expected, double tolerance)
{
    if (std::isnan(actual) || std::isnan(expected))
        return std::isnan(actual) && std::isnan(expected);
    if (std::isinf(actual) || std::isinf(expected))
        return actual == expected;
    const double scale = std::max({1.0, std::fabs(actual), std::fabs(expected)});
    return std::fabs(actual - expected) <= tolerance * scale;
}

class HostPlaced : public PlacedWorkload {
public:
    HostPlaced(const Workload& workload, std::shared_ptr<const LoadedArrays> arrays)
        : workload_(workload), arrays_(std::move(arrays))
    {
        own_.op = workload.op;
        own_.num_features = workload.num_features;
        own_.segments = workload.segments.lend();
        const auto& held = dynamic_cast<const HostArrays&>(*arrays_).arrays;
        for (std::size_t i = 0; i < held.size(); ++i) {
            const auto& parameter = workload.op.parameters[i];
            const auto wanted = static_cast<std::size_t>(workload.segments.num_elements *
                                                         (parameter.row ? workload.num_features : 1));
            const auto length = parameter.table ? held[i].length() : std::min(held[i].length(), wanted);
            own_.arrays.push_back(Array::borrow(held[i].type(), held[i].data(), length));
        }
        results_ = allocate_results(own_);
    }

    [[nodiscard]] const Workload& workload() const override { return workload_; }
    [[nodiscard]] const Workload& own() const { return own_; }
    [[nodiscard]] Results& own_results() { return results_; }

    void poison_results(std::uint8_t poison) override
    {
        for (auto& [field, array] : results_)
            if (array.bytes() != 0)
                std::memset(array.data(), array.type() == Type::boolean ? 0 : poison, array.bytes());
    }

    [[nodiscard]] Results results() const override { return copy(results_); }
    void keep_results() override { kept_ = copy(results_); }
    [[nodiscard]] Results kept_results() const override { return copy(kept_); }

    [[nodiscard]] Difference difference(std::size_t field, double tolerance, const Filled& filled) override
    {
        const auto& actual = results_[field].array;
        const auto& expected = kept_.at(field).array;
        const bool has_places = filled.is_by_key && filled.places != 0;
        const auto* places = reinterpret_cast<const std::int32_t*>(filled.places);
        const auto& op = workload_.op;
        const bool is_output = field + op.outputs.size() >= returned_fields(op).size();
        const auto& segments = workload_.segments;
        const auto count = filled.is_by_key ? filled.num_runs
                                            : workload_.num_features *
                                                  (is_output ? segments.num_elements : segments.num_segments);
        const bool is_rounded = is_float(actual.type());
        Difference all;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t segment = has_places ? places[i] : i;
            const auto at = has_places && filled.is_compacted ? i : segment;
            if (is_same_value(actual, at, expected, segment))
                continue;
            ++all.bits;
            if (is_rounded && is_near(value_at(actual, at), value_at(expected, segment), tolerance))
                continue;
            ++all.beyond;
            all.first = std::min(all.first, static_cast<unsigned long long>(segment));
        }
        return all;
    }

private:
    static Results copy(const Results& results)
    {
        Results copies;
        for (const auto& [field, array] : results)
            copies.push_back({field, array.copy()});
        if (results.keys)
            copies.keys = results.keys->copy();
        return copies;
    }

    static double value_at(const Array& array, std::int64_t i)
    {
        WideValue value{};
        Machine<long double>::load(value, array.type(), array.data(), i);
        return static_cast<double>(value.real);
    }

    const Workload& workload_;
    std::shared_ptr<const LoadedArrays> arrays_;
    Workload own_;  ///< borrows the arrays, cut to the workload's length
    Results results_;
    Results kept_;
};

class HostTiming : public Timing {
public:
    explicit HostTiming(HostPlans plans) : plans_(std::move(plans)) {}

    [[nodiscard]] TimingFacts facts() const override { return {"", plans_.compiler}; }
    [[nodiscard]] std::int64_t memory_bytes() const override
    {
        return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    }
    [[nodiscard]] std::int64_t free_bytes() const override
    {
        return static_cast<std::int64_t>(memory_at_hand());
    }

    [[nodiscard]] std::shared_ptr<const LoadedArrays> load(std::vector<Array> arrays) override
    {
        auto held = std::make_shared<HostArrays>();
        held->arrays = std::move(arrays);
        return held;
    }
    [[nodiscard]] std::shared_ptr<const LoadedArrays> copy(const LoadedArrays& arrays) override
    {
        auto copies = std::make_shared<HostArrays>();
        for (const auto& array : dynamic_cast<const HostArrays&>(arrays).arrays)
            copies->arrays.push_back(array.copy());
        return copies;
    }
    [[nodiscard]] std::unique_ptr<PlacedWorkload> place(const Workload& workload,
                                                        std::shared_ptr<const LoadedArrays> arrays) override
    {
        return std::make_unique<HostPlaced>(workload, std::move(arrays));
    }

    double compile(const Emitted& text) override { return plans_.compile ? plans_.compile(text) : 0; }
    void compile_each(std::span<const Emitted> texts) override
    {
        if (plans_.compile)
            compile_on_all_cores(texts, plans_.compile);
    }
    [[nodiscard]] TimedPlan prepare(PlacedWorkload& placed, const Emitted& text) override
    {
        const double seconds = compile(text);
        auto& own = dynamic_cast<HostPlaced&>(placed);
        return {plans_.prepare(own.own(), text, own.own_results()), seconds};
    }

    [[nodiscard]] ReadCeiling read_ceiling() override
    {
        const auto at_hand = static_cast<std::int64_t>(memory_at_hand() / 4);
        const auto bytes =
            std::max(kMebibyte,
                     std::min(std::max(kMostRead, 4 * last_cache_bytes()), at_hand) / kMebibyte * kMebibyte);
        ReadBuffer buffer;
        buffer.provide(bytes);
        const auto times = time([&] { buffer.read(bytes); }, kWarmups, kHostCeilingRepeats, false);
        return {static_cast<double>(bytes) / (quartiles(times).median * 1e-3),
                fmt::format("{}, {} MiB", host_threads_text(), bytes / kMebibyte)};
    }
    [[nodiscard]] bool fits_cache(std::int64_t bytes) const override
    {
        return bytes < 4 * last_cache_bytes();
    }
    void read(std::size_t bytes) override
    {
        unread_.provide(static_cast<std::int64_t>(bytes));
        unread_.read(static_cast<std::int64_t>(bytes));
    }

    [[nodiscard]] std::vector<double> time(const TimedLaunch& launch, int warmups, int repeats,
                                           bool flush) override
    {
        return wall_milliseconds(launch, warmups, repeats, flush);
    }
    [[nodiscard]] std::vector<std::vector<double>> time_by_turns(std::span<const TimedLaunch> launches,
                                                                 int dropped, int samples) override
    {
        std::vector<std::vector<double>> times(launches.size());
        for (int i = -dropped; i < samples; ++i)
            for (std::size_t k = 0; k < launches.size(); ++k)
                for (const double one : wall_milliseconds(launches[k], 0, 1, false))
                    if (i >= 0)
                        times[k].push_back(one);
        return times;
    }

    void wait() override {}
    void synchronize() override {}
    [[nodiscard]] bool is_asynchronous() const override { return false; }

private:
    void fill_cache() override
    {
        const auto bytes = 2 * last_cache_bytes();
        other_.provide(bytes);
        other_.read(bytes);
    }

    HostPlans plans_;
    ReadBuffer other_;   ///< fills the cache
    ReadBuffer unread_;  ///< memory for read()
};

}  // namespace

void compile_on_all_cores(std::span<const Emitted> texts,
                          const std::function<double(const Emitted& text)>& compile)
{
    parallel_for(std::ssize(texts), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i)
            try {
                (void)compile(texts[static_cast<std::size_t>(i)]);
            } catch (const Error&) {
                // running the text reports the error
            }
    });
}

std::unique_ptr<Timing> make_host_timing(HostPlans plans)
{
    return std::make_unique<HostTiming>(std::move(plans));
}

HostWorkload host_workload_of(PlacedWorkload& placed)
{
    auto* own = dynamic_cast<HostPlaced*>(&placed);
    if (own == nullptr)
        throw InternalError("a workload that is not in the host's memory");
    return {own->own(), own->own_results()};
}

std::int64_t last_cache_bytes()
{
    constexpr std::int64_t kUsual = 32 * kMebibyte;
    if (const char* said = std::getenv("SEGFOLD_LAST_CACHE_BYTES"))
        if (const auto bytes = std::atoll(said); bytes > 0)
            return bytes;
    for (const auto level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
        if (const auto bytes = sysconf(level); bytes > 0)
            return bytes;
    return kUsual;
}

}  // namespace segfold
