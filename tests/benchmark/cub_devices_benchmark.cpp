// What a user of CUB reaches on several GPUs: its algorithms on each GPU's part of an array, and the segment
// that a cut has cut added up by hand on the host. A peer of devices_benchmark.
//
//     cub_devices_benchmark [ELEMENTS [ROUNDS [LAYOUT ...]]]      2^32 elements, 15 rounds, the layouts of
//     below
//
// Sums of f32 that are small integers. A time is that of the host's clock from the call until all results are
// there, the join included: the median and the quartiles of one GPU's rounds, which holds all of it, and of
// all GPUs'. What CUB does not do here: operators that do not commute (its reductions ask for that), a
// segment that lies on more than two GPUs, states of more than one number; ReduceByKey also loses empty
// segments, and reads a key for each element beside it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "dsl/layout.h"
#include "runtime/data/resolve.h"
#include "runtime/support/processes/parallel.h"
#include "tests/benchmark/cub_devices.h"

namespace {

using namespace segfold;
using benchmark::CubPart;
using benchmark::CubPieces;
using benchmark::CubWay;
using Clock = std::chrono::steady_clock;

struct Quartiles {
    double low = 0, median = 0, high = 0;
};

Quartiles quartiles(std::vector<double> values)
{
    std::ranges::sort(values);
    const auto at = [&](double part) {
        return values[static_cast<std::size_t>(part * static_cast<double>(std::size(values) - 1))];
    };
    return {at(0.25), at(0.5), at(0.75)};
}

/// The last segment that begins at an element or before it.
std::int64_t segment_of(const Segments& segments, std::int64_t element)
{
    std::int64_t first = 0, last = segments.num_segments;
    while (last - first > 1) {
        const auto middle = (first + last) / 2;
        (segments.begin(middle) <= element ? first : last) = middle;
    }
    return first;
}

/// The pieces of segments from element `begin` to `end`.
CubPieces pieces_of(const Segments& segments, std::int64_t begin, std::int64_t end)
{
    CubPieces pieces;
    if (segments.form == SegmentForm::whole) {
        pieces.count = 1;
        pieces.uniform_length = end - begin;
        return pieces;
    }
    if (const auto length = segments.uniform_length;
        segments.form == SegmentForm::uniform && begin % length == 0 && end % length == 0) {
        pieces.count = (end - begin) / length;
        pieces.uniform_length = length;
        return pieces;
    }
    pieces.offsets.push_back(0);
    for (auto s = segment_of(segments, begin); s < segments.num_segments && segments.begin(s) < end; ++s)
        pieces.offsets.push_back(std::min(segments.end(s), end) - begin);
    pieces.count = std::ssize(pieces.offsets) - 1;
    return pieces;
}

/// Whether an element begins no segment.
bool is_inside(const Segments& segments, std::int64_t element)
{
    return segments.begin(segment_of(segments, element)) < element;
}

/// A run of all GPUs: parts, and before which of them a segment is cut.
class Fold {
public:
    Fold(std::span<const float> values, const Segments& segments, int num_devices, CubWay way)
    {
        const auto n = std::ssize(values);
        for (int device = 0; device < num_devices; ++device) {
            const auto begin = n * device / num_devices, end = n * (device + 1) / num_devices;
            const auto pieces = pieces_of(segments, begin, end);
            counts_.push_back(pieces.count);
            is_cut_.push_back(device > 0 && is_inside(segments, begin));
            parts_.emplace_back(
                device,
                values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                pieces, way);
        }
    }

    void run()
    {
        for (auto& part : parts_)
            part.queue();
        for (auto& part : parts_)
            part.wait();
        // By hand: what the cut has cut belongs to where it ends.
        for (std::size_t i = 1; i < parts_.size(); ++i)
            if (is_cut_[i])
                parts_[i].set_result(0, parts_[i - 1].result(counts_[i - 1] - 1) + parts_[i].result(0));
    }

    /// Of all segments.
    std::vector<float> results()
    {
        std::vector<float> all;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (is_cut_[i])
                all.pop_back();
            const auto own = parts_[i].results();
            all.insert(all.end(), own.begin(), own.end());
        }
        return all;
    }

private:
    std::vector<CubPart> parts_;
    std::vector<std::int64_t> counts_;
    std::vector<bool> is_cut_;
};

Quartiles measure(Fold& fold, int rounds)
{
    std::vector<double> seconds;
    for (int round = -3; round < rounds; ++round) {
        const auto begin = Clock::now();
        fold.run();
        if (round >= 0)
            seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return quartiles(seconds);
}

void compare(std::span<const float> values, const Segments& segments, const std::string& layout, CubWay way,
             int num_devices, int rounds)
{
    constexpr const char* kNames[] = {"DeviceReduce", "DeviceSegmentedReduce", "ReduceByKey"};
    Quartiles one, many;
    std::vector<float> alone, shared;
    {
        Fold fold(values, segments, 1, way);
        one = measure(fold, rounds);
        alone = fold.results();
    }
    {
        Fold fold(values, segments, num_devices, way);
        many = measure(fold, rounds);
        shared = fold.results();
    }
    std::printf("%-26s %-22s %8.3f (%.3f - %.3f) %8.3f (%.3f - %.3f) %6.3f %s\n", layout.c_str(),
                kNames[static_cast<int>(way)], one.median * 1e3, one.low * 1e3, one.high * 1e3,
                many.median * 1e3, many.low * 1e3, many.high * 1e3, one.median / many.median,
                way == CubWay::reduce_by_key ? "not compared"
                : alone == shared            ? "equal"
                                             : "DIFFERENT");
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv)
{
    const std::int64_t num_elements = argc > 1 ? std::atoll(argv[1]) : std::int64_t{1} << 32;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
    std::vector<std::string> layouts(argv + std::min(argc, 3), argv + argc);
    if (layouts.empty())
        layouts = {"whole", "uniform=32", "uniform=1024", "geometric:mean=32"};
    const int num_devices = benchmark::num_cuda_devices();
    if (num_devices == 0 || num_elements < 2 || rounds < 1) {
        std::printf("there are %d GPUs, %lld elements and %d rounds; give a GPU, 2 elements and a round\n",
                    num_devices, static_cast<long long>(num_elements), rounds);
        return num_devices == 0 ? 77 : 2;
    }
    std::vector<float> values(static_cast<std::size_t>(num_elements));
    parallel_for(num_elements, 1 << 20, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i)
            values[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 % 5 - 2);
    });
    std::printf(
        "CUB by hand, sums alone: %lld elements of f32, %d rounds, %d GPUs\n%-26s %-22s %26s %26s %6s\n",
        static_cast<long long>(num_elements), rounds, num_devices, "layout", "algorithm", "one GPU, ms",
        "all, ms", "times");
    for (const auto& layout : layouts) {
        const auto segments = resolve(parse_layout(layout), num_elements).segments;
        const bool is_whole = segments.form == SegmentForm::whole;
        for (const auto way : {is_whole ? CubWay::reduce : CubWay::segmented_reduce, CubWay::reduce_by_key}) {
            if (is_whole && way == CubWay::reduce_by_key)
                continue;
            try {
                compare(values, segments, layout, way, num_devices, rounds);
            } catch (const std::exception& error) {
                std::printf("%s: %s\n", layout.c_str(), error.what());
                return 1;
            }
        }
    }
}
