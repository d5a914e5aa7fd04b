// Slices and streams on a GPU: results, the bound on memory, and rates beside that of the link.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/backends/cuda/driver/pinned_buffer.h"
#include "runtime/data/formats/npy.h"
#include "runtime/scale/stream.h"
#include "runtime/session/core.h"
#include "runtime/support/processes/parallel.h"
#include "tests/cli/cli_program.h"
#include "tests/gpu/session_on_gpu.h"
#include "tests/scale/stream_cases.h"

namespace segfold::test::scale_gpu_test {
namespace {

constexpr std::int64_t kMi = std::int64_t{1} << 20;

double seconds_of(const std::function<void()>& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class ScaleOnGpu : public testing::Test {
protected:
    void SetUp() override
    {
        if (cuda::devices().empty())
            GTEST_SKIP() << cuda::no_device_reason();
        session_.emplace(options_of(0));
    }
    static SessionOptions options_of(int device)
    {
        SessionOptions options;
        options.backend = "cuda";
        options.device = device;
        return options;
    }
    [[nodiscard]] const cuda::Context& context() { return *core(*session_).backend().context(); }

    std::optional<Session> session_;
};

/// Equal results, bit for bit; the operators are exact.
void expect_equal(const Results& results, const Results& right, const std::string& what)
{
    for (std::size_t f = 0; f < right.size(); ++f) {
        ASSERT_EQ(results.at(f).array.bytes(), right[f].array.bytes()) << what;
        EXPECT_EQ(std::memcmp(results[f].array.data(), right[f].array.data(), right[f].array.bytes()), 0)
            << what << ", " << right[f].name;
    }
}

/// Every operator over every form of layout: many slices inside one segment, and many segments in one slice.
void for_each_large_case(const std::function<void(const std::string& name, const Workload& workload)>& visit)
{
    std::size_t turn = 0;
    for (const auto& op : slice_operators()) {
        ++turn;  // each operator has every other form
        for (const auto form : {SegmentForm::offsets, SegmentForm::flags, SegmentForm::ranges,
                                SegmentForm::keys, SegmentForm::uniform, SegmentForm::whole}) {
            if (turn++ % 2 != 0)
                continue;
            std::vector<std::int64_t> lengths = {0, 70000, 0, 1, 33, 0};
            for (std::int64_t s = 0; s < 3000; ++s)
                lengths.push_back(s % 7 == 0 ? 0 : s % 41);
            lengths.push_back(0);
            if (!op.allows_empty() || form == SegmentForm::flags || form == SegmentForm::keys)
                std::erase(lengths, 0);
            const auto n = total(lengths) / 20 * 20;
            const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
            visit(op.name + " over " + std::string(name(form)),
                  slice_workload(op, form == SegmentForm::offsets   ? offsets.copy()
                                     : form == SegmentForm::uniform ? uniform_segments(n, 20)
                                     : form == SegmentForm::whole   ? whole_segments(n)
                                     : form == SegmentForm::ranges  ? overlapping_ranges(lengths)
                                                                    : given_as(form, offsets)));
        }
    }
}

TEST_F(ScaleOnGpu, SlicesAndStreamsGiveWhatTheReferenceGives)
{
    for_each_large_case([&](const std::string& name, const Workload& workload) {
        const auto right = reduce_sequentially(workload);
        for (const std::int64_t slices : {2, 9}) {
            FoldWishes options{1};
            options.num_slices = slices;
            expect_equal(core(*session_).fold(workload, options).results, right,
                         name + " in " + std::to_string(slices) + " slices");
        }
        if (workload.segments.form == SegmentForm::ranges)
            return;
        StreamOptions options;
        options.memory_bytes = kMi;
        Stream stream(*session_, workload.op, input_of(workload), options);
        std::vector<std::vector<std::byte>> fields;
        stream.run([&](StreamResults&& results, const StreamState&) {
            if (results.results.keys)
                results.results.push_back({"keys", results.results.keys->copy()});
            fields.resize(results.results.size());
            for (std::size_t f = 0; f < fields.size(); ++f) {
                const auto& array = results.results[f].array;
                fields[f].insert(fields[f].end(), array.data(), array.data() + array.bytes());
            }
        });
        EXPECT_EQ(fields, wanted(workload)) << name << " as a stream";
    });
}

TEST_F(ScaleOnGpu, ReproducibleBitsAreThoseOfTheCpu)
{
    SessionOptions cpu_options;
    cpu_options.backend = "simt";
    Session cpu(cpu_options);
    const std::vector<std::int64_t> lengths = {5, 4096, 4097, 0, 300, 40000, 1, 8192, 31, 2, 20000};
    for (const auto* name : {"sum_f32", "mean_variance_f32", "log_sum_exp_f32"}) {
        const auto workload = slice_workload(
            standard_operator(name), segments_from_offsets(index_array(offsets_of(lengths)), total(lengths)),
            ValueRange::uniform);
        FoldWishes options{1};
        options.plan.is_reproducible = true;
        const auto once = core(*session_).fold(workload, options).results;
        for (const std::int64_t slices : {3, 7}) {
            options.num_slices = slices;
            expect_equal(core(*session_).fold(workload, options).results, once, name);
            Session second(options_of(cuda::devices().size() > 1 ? 1 : 0));
            const std::vector<SessionCore*> devices = {&core(*session_), &core(second)};
            expect_equal(fold_in_slices(devices, workload, options).results, once,
                         std::string(name) + " on two devices");
        }
        // exp and log of the two are different functions.
        if (std::string(name) != "log_sum_exp_f32")
            expect_equal(core(cpu).fold(workload, options).results, once, std::string(name) + " on simt");
    }
}

TEST_F(ScaleOnGpu, SeveralGpusShareSlices)
{
    const ProgramFolder folder;
    const auto run = [&](const std::string& devices) {
        return folder.run({"run", "trace_u64", "--devices", devices, "--slices", "7", "--elements", "2^20",
                           "--layout", "zipf:exponent=1.9", "--check", "--json"});
    };
    const auto all = run("all");
    EXPECT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_EQ(nlohmann::json::parse(all.output).at("agrees"), true);
    EXPECT_EQ(run("0,99").exit_code, 3) << run("0,99").errors;
    // Where there is one GPU alone, two sessions share it: what deals slices does not know.
    const bool has_two = cuda::devices().size() > 1;
    Session second(options_of(has_two ? 1 : 0));
    const std::vector<SessionCore*> devices = {&core(*session_), &core(second)};
    for_each_large_case([&](const std::string& name, const Workload& workload) {
        FoldWishes options{1};
        options.num_slices = 9;
        expect_equal(fold_in_slices(devices, workload, options).results, reduce_sequentially(workload), name);
    });
    if (!has_two)
        GTEST_SKIP() << "there is one GPU alone, which two sessions have shared";
}

/// Bytes a second, the best of three.
double best_rate(double bytes, const std::function<void()>& work)
{
    double best = 0;
    for (int i = 0; i < 3; ++i)
        best = std::max(best, bytes / seconds_of(work));
    return best;
}

/// Bytes of the host's memory that this process has now.
std::size_t resident_bytes()
{
    std::istringstream text(read_text("/proc/self/statm"));
    std::size_t all = 0, resident = 0;
    text >> all >> resident;
    return resident * 4096;
}

/// A stream's times, and the most that it took of the memory of the GPU and of the host.
struct StreamRun {
    double making = 0;  ///< seconds of its constructor
    StreamTimeline timeline;
    std::size_t device_bytes = 0, host_bytes = 0;
};

/// With `is_watched` the memory is watched, which takes time.
StreamRun run_stream(
    Session& session, const Operator& op, std::unique_ptr<ArraySource> x, SegmentSource segments,
    std::int64_t memory, bool is_watched,
    const std::function<void(StreamResults&&)>& take = [](StreamResults&&) {})
{
    const auto& context = *core(session).backend().context();
    const auto free_before = context.memory().free_bytes;
    const auto resident_before = resident_bytes();
    StreamRun done;
    StreamInput input;
    input.parameters.push_back(std::move(x));
    input.segments = std::move(segments);
    StreamOptions options;
    options.memory_bytes = memory;
    std::jthread watcher;
    if (is_watched)
        watcher = std::jthread([&](const std::stop_token& stop) {
            for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
                const auto free = context.memory().free_bytes;
                done.device_bytes = std::max(done.device_bytes, free_before - std::min(free_before, free));
                const auto resident = resident_bytes();
                done.host_bytes = std::max(done.host_bytes, resident - std::min(resident_before, resident));
            }
        });
    std::optional<Stream> stream;
    done.making = seconds_of([&] { stream.emplace(session, op, std::move(input), options); });
    stream->run([&](StreamResults&& results, const StreamState&) { take(std::move(results)); });
    done.timeline = stream->timeline();
    return done;
}

/// Prints a table of medians of five runs; rates are of the bytes that travel to the GPU, the column's and
/// those of offsets.
TEST_F(ScaleOnGpu, StreamsRunAtTheRateOfTheLink)
{
    constexpr std::int64_t kElements = 1024 * kMi, kMean = 32;  // 4 GiB of f32
    constexpr auto kBytes = static_cast<double>(kElements) * 4;
    cuda::PinnedBuffer pinned(context(), static_cast<std::size_t>(kBytes));
    const auto x = Array::borrow(Type::f32, pinned.bytes().data(), kElements);
    auto values = pinned.bytes();
    parallel_for(kElements, kMi, [&](std::int64_t begin, std::int64_t end) {
        auto* const floats = reinterpret_cast<float*>(values.data());
        for (auto i = begin; i < end; ++i)
            floats[i] = static_cast<float>(i % 17 - 8);
    });
    double link = 0;
    {
        cuda::DeviceBuffer device(context(), std::size_t{1} << 30);
        link = best_rate(0x1p30, [&] { device.copy_in(pinned.bytes().first(std::size_t{1} << 30)); });
    }
    const ProgramFolder folder;
    const auto path = folder.file("x.npy");
    write_npy(path, x);
    const auto source = npy_source(path);
    // Every thread reads on in a buffer of its own, which stays in its caches: nothing reads faster.
    constexpr std::int64_t kPiece = kMi / 8;
    const auto read = best_rate(kBytes, [&] {
        parallel_for(kElements / kPiece, 1, [&](std::int64_t begin, std::int64_t end) {
            Array into(Type::f32, kPiece);
            for (auto piece = begin; piece < end; ++piece)
                (void)source->read(piece * kPiece, into);
        });
    });
    std::printf("link %.1f GB/s, read alone %.1f GB/s\n", link / 1e9, read / 1e9);

    const auto op = standard_operator("sum_f32");
    Array offsets(Type::i32, kElements / kMean + 1);
    for (std::int64_t s = 0; s <= kElements / kMean; ++s)
        offsets.as<std::int32_t>()[static_cast<std::size_t>(s)] =
            static_cast<std::int32_t>(s == kElements / kMean ? kElements : s * kMean + s % 3);
    const auto layouts = [&](int which) -> SegmentSource {
        if (which == 0)
            return {LayoutKind::whole, 0, nullptr};
        if (which == 1)
            return {LayoutKind::uniform, 1024, nullptr};
        return {LayoutKind::offsets, 0, memory_source(offsets)};
    };
    constexpr const char* kNames[] = {"whole", "uniform=1024", "offsets, mean 32"};
    std::printf("%-16s %-7s %6s %6s %6s %6s %6s %7s %7s | %6s %6s %6s %6s %6s %6s %6s %6s %6s | %5s %5s\n",
                "layout", "from", "bound", "slices", "GB/s", "least", "most", "of link", "of read", "all ms",
                "making", "read", "prep", "room", "wait", "take", "copy", "fold", "GPU", "host");
    for (int which = 0; which < 3; ++which)
        for (const bool is_file : {false, true})
            for (const std::int64_t memory : {256 * kMi, 1024 * kMi}) {
                const auto bytes = kBytes + (which == 2 ? static_cast<double>(offsets.bytes()) : 0);
                const auto run = [&](bool is_watched) {
                    return run_stream(*session_, op, is_file ? npy_source(path) : memory_source(x),
                                      layouts(which), memory, is_watched);
                };
                const auto watched = run(true);  // compiles too
                std::vector<StreamRun> runs;
                for (int i = 0; i < 5; ++i)
                    runs.push_back(run(false));
                std::ranges::sort(runs, {}, [](const StreamRun& one) { return one.timeline.all; });
                const auto& middle = runs[2];
                const auto& times = middle.timeline;
                const auto rate = bytes / times.all;
                std::printf(
                    "%-16s %-7s %5lldM %6lld %6.1f %6.1f %6.1f %7.3f %7.3f | %6.1f %6.1f %6.1f %6.1f %6.1f "
                    "%6.1f %6.1f %6.1f %6.1f | %5.2f %5.2f\n",
                    kNames[which], is_file ? "file" : "pinned", static_cast<long long>(memory / kMi),
                    static_cast<long long>(times.slices), rate / 1e9, bytes / runs[4].timeline.all / 1e9,
                    bytes / runs[0].timeline.all / 1e9, rate / link, rate / read, times.all * 1e3,
                    middle.making * 1e3, times.reading * 1e3, times.preparing * 1e3,
                    times.reader_waited * 1e3, times.waiting * 1e3, times.taking * 1e3, times.copying * 1e3,
                    times.folding * 1e3, static_cast<double>(watched.device_bytes) / 0x1p30,
                    static_cast<double>(watched.host_bytes) / 0x1p30);
                EXPECT_LE(static_cast<double>(watched.device_bytes), 1.05 * static_cast<double>(memory))
                    << kNames[which];
                EXPECT_LE(static_cast<double>(watched.host_bytes), 1.05 * static_cast<double>(memory))
                    << kNames[which];
                // With offsets one thread of the host has as much to do as the link, and may come behind.
                const auto wanted = which == 2 ? 0.8 : is_file ? 0.9 : 0.95;
                EXPECT_GT(rate, wanted * (is_file ? std::min(read, link) : link))
                    << kNames[which] << (is_file ? " of a file" : " of page-locked memory") << " within "
                    << memory / kMi << " MiB";
            }
}

std::uint32_t mixed(std::int64_t i)
{
    const auto bits = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U;
    return static_cast<std::uint32_t>(bits >> 29) ^ static_cast<std::uint32_t>(bits);
}

/// A hash of which every element and its place are part, over more than 2^33 elements that are made as the
/// stream asks for them.
TEST_F(ScaleOnGpu, OrderIsExactBeyond2To33WithinABound)
{
    constexpr std::uint64_t kPower = 0x9E3779B97F4A7C15U;
    const auto op = parse_operator("order", R"(operator order(x: u32) -> u64 {
        state { hash: u64 = 0; power: u64 = 1 }
        lift { hash = u64(x) + 1; power = 0x9E3779B97F4A7C15 }
        combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        finish hash
    })");
    constexpr std::int64_t kLength = 3 * kMi, kSegments = 2731, kElements = kLength * kSegments;
    constexpr std::int64_t kMemory = 8192 * kMi;
    static_assert(kElements > std::int64_t{1} << 33);
    std::vector<std::uint64_t> hashes(kSegments);
    parallel_for(kSegments, 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto s = begin; s < end; ++s) {
            std::uint64_t hash = 0;
            for (auto i = s * kLength; i < (s + 1) * kLength; ++i)
                hash = hash * kPower + mixed(i) + 1;
            hashes[static_cast<std::size_t>(s)] = hash;
        }
    });
    std::uint64_t power = 1, whole = 0;
    for (std::int64_t i = 0; i < kLength; ++i)
        power *= kPower;
    for (const auto hash : hashes)
        whole = whole * power + hash;
    Array offsets(Type::i64, kSegments + 1);
    for (std::int64_t s = 0; s <= kSegments; ++s)
        offsets.as<std::int64_t>()[static_cast<std::size_t>(s)] = s * kLength;
    for (const auto kind : {LayoutKind::whole, LayoutKind::uniform, LayoutKind::offsets}) {
        std::int64_t made = 0;
        auto x = generated_source(
            Type::u32,
            [&](Array& into) {
                const auto values = into.as<std::uint32_t>();
                parallel_for(std::ssize(values), kMi / 4, [&](std::int64_t begin, std::int64_t end) {
                    for (auto i = begin; i < end; ++i)
                        values[static_cast<std::size_t>(i)] = mixed(made + i);
                });
                made += std::ssize(values);
                return std::ssize(values);
            },
            kElements);
        SegmentSource segments{kind, kind == LayoutKind::uniform ? kLength : 0,
                               kind == LayoutKind::offsets ? memory_source(offsets) : nullptr};
        std::vector<std::uint64_t> found;
        const auto run = run_stream(*session_, op, std::move(x), std::move(segments), kMemory, true,
                                    [&](StreamResults&& results) {
                                        for (const auto value : results.results[0].array.as<std::uint64_t>())
                                            found.push_back(value);
                                    });
        std::printf("%lld elements, %s: %.2f s, %lld slices, %.2f GiB of the GPU\n",
                    static_cast<long long>(kElements), std::string(name(kind)).c_str(), run.timeline.all,
                    static_cast<long long>(run.timeline.slices),
                    static_cast<double>(run.device_bytes) / 0x1p30);
        EXPECT_EQ(found, kind == LayoutKind::whole ? std::vector{whole} : hashes);
        EXPECT_LE(static_cast<double>(run.device_bytes), 1.05 * static_cast<double>(kMemory));
        EXPECT_LE(static_cast<double>(run.host_bytes), 1.05 * static_cast<double>(kMemory));
    }
}

}  // namespace
}  // namespace segfold::test::scale_gpu_test
