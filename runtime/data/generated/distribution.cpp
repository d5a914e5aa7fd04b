#include "runtime/data/generated/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/geometric_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dsl/error.h"
#include "runtime/data/generated/lot.h"
#include "runtime/data/generated/zipf.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/random.h"

namespace segfold {
namespace {

// Lengths are drawn in blocks. Each block has its own random sequence, so the lengths do not depend on the
// number of threads.
constexpr std::size_t kBlockLengths = std::size_t{1} << 14;
constexpr std::int64_t kFewestOffsets = std::int64_t{1} << 16;  // least number of offsets per thread
constexpr double kLeastMean = 0.25;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

using SegmentLengths = std::vector<std::int64_t>;
/// A function that fills a block with lengths, each from 0 to the number of elements.
using DrawBlock = std::function<void(RandomSequence& sequence, std::span<std::int64_t> lengths)>;

/// Makes a DrawBlock from `draw`, which returns one length per call. The call is inlined into the loop.
template <class Draw>
DrawBlock by_blocks(std::int64_t num_elements, Draw draw)
{
    return [num_elements, draw](RandomSequence& sequence, std::span<std::int64_t> lengths) {
        Draw own = draw;
        for (std::int64_t& length : lengths)
            length = std::clamp<std::int64_t>(own(sequence), 0, num_elements);
    };
}

/// Makes a DrawBlock from `draw`, which returns one real length per call. Lengths are rounded down.
template <class Draw>
DrawBlock by_rounded_blocks(std::int64_t num_elements, Draw draw)
{
    return by_blocks(num_elements,
                     [draw, limit = static_cast<double>(num_elements)](RandomSequence& sequence) mutable {
                         return static_cast<std::int64_t>(std::min(draw(sequence), limit));
                     });
}

auto geometric(double mean)
{
    return [log_failure = std::log1p(-1.0 / (1.0 + mean))](RandomSequence& sequence) {
        boost::random::uniform_01<double> uniform;
        return std::floor(std::log1p(-uniform(sequence)) / log_failure);
    };
}

DrawBlock half_empty(const Layout& layout, std::int64_t num_elements)
{
    const double mean = parameter(layout, "mean");
    const auto longer = geometric(std::max(2.0 * mean - 1.0, 0.0));
    return by_rounded_blocks(num_elements, [longer](RandomSequence& sequence) {
        return (sequence() >> 63) != 0 ? 0.0 : 1.0 + longer(sequence);
    });
}

DrawBlock bimodal(const Layout& layout, std::int64_t num_elements)
{
    const double shorter = parameter(layout, "short"), longer = parameter(layout, "long");
    const double share = parameter(layout, "share");
    const double mean = shorter * (1.0 - share) + longer * share;
    if (mean < kLeastMean)
        throw InputError(fmt::format("layout '{}': the mean length is {}; it must be at least {}",
                                     print(layout), mean, kLeastMean));
    return by_rounded_blocks(num_elements, [=](RandomSequence& sequence) {
        boost::random::uniform_01<double> uniform;
        return uniform(sequence) < share ? longer : shorter;
    });
}

DrawBlock choose_draw(const Layout& layout, std::int64_t num_elements)
{
    const std::string& name = layout.distribution;
    if (name == "geometric")
        return by_rounded_blocks(num_elements, geometric(parameter(layout, "mean")));
    if (name == "poisson")
        return by_blocks(num_elements, boost::random::poisson_distribution<std::int64_t, double>(
                                           parameter(layout, "mean")));
    if (name == "zipf")
        return by_blocks(num_elements, ZipfDistribution(parameter(layout, "exponent"),
                                                        std::max<std::int64_t>(num_elements / 8, 1)));
    if (name == "lognormal")
        return by_rounded_blocks(
            num_elements, [normal = boost::random::normal_distribution<double>(parameter(layout, "mean"),
                                                                               parameter(layout, "sigma"))](
                              RandomSequence& sequence) mutable { return std::exp(normal(sequence)); });
    if (name == "half_empty")
        return half_empty(layout, num_elements);
    if (name == "bimodal")
        return bimodal(layout, num_elements);
    throw InternalError(fmt::format("no rule draws the lengths of '{}'", name));
}

/// Draws blocks of lengths until they add up to `num_elements`, and cuts the last block to fit.
std::vector<SegmentLengths> draw_blocks(const DrawBlock& draw, std::uint64_t seed, std::int64_t num_elements)
{
    const auto largest_wave = std::max<std::size_t>(std::thread::hardware_concurrency(), 1) * 4;
    std::size_t wave = 1;
    std::vector<SegmentLengths> blocks;
    std::int64_t total = 0;
    while (total < num_elements) {
        const std::size_t first = blocks.size();
        blocks.resize(first + wave);
        parallel_for(static_cast<std::int64_t>(wave), 1, [&](std::int64_t begin, std::int64_t end) {
            for (auto block = first + static_cast<std::size_t>(begin);
                 block < first + static_cast<std::size_t>(end); ++block) {
                RandomSequence sequence(RandomSequence::derive_seed(seed, block));
                blocks[block].resize(kBlockLengths);
                draw(sequence, blocks[block]);
            }
        });
        for (std::size_t block = first; block < blocks.size() && total < num_elements; ++block) {
            std::size_t used = 0;
            for (; used < kBlockLengths && total < num_elements; ++used) {
                std::int64_t& length = blocks[block][used];
                length = std::min(length, num_elements - total);
                total += length;
            }
            if (total == num_elements) {
                blocks[block].resize(used);
                blocks.resize(block + 1);
            }
        }
        wave = std::min(2 * wave, largest_wave);
    }
    return blocks;
}

/// Computes offsets from blocks of lengths, in parallel.
template <class Index>
void fill_offsets(const std::vector<SegmentLengths>& blocks, std::span<Index> offsets)
{
    std::vector<std::size_t> segment(blocks.size() + 1);
    std::vector<std::int64_t> element(blocks.size() + 1);
    for (std::size_t i = 0; i < blocks.size(); ++i)
        segment[i + 1] = segment[i] + blocks[i].size();
    const auto count = static_cast<std::int64_t>(blocks.size());
    const auto for_blocks = [&](auto work) {
        parallel_for(count, 4, [&](std::int64_t begin, std::int64_t end) {
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
                work(i);
        });
    };
    for_blocks([&](std::size_t i) {
        for (const std::int64_t length : blocks[i])
            element[i + 1] += length;
    });
    for (std::size_t i = 0; i < blocks.size(); ++i)
        element[i + 1] += element[i];
    offsets[0] = 0;
    for_blocks([&](std::size_t i) {
        std::int64_t end = element[i];
        Index* place = offsets.data() + segment[i] + 1;
        for (const std::int64_t length : blocks[i])
            *place++ = static_cast<Index>(end += length);
    });
}

/// Makes segments of equal length; the last segment may be shorter.
Segments constant_segments(std::int64_t length, std::int64_t num_elements)
{
    Segments segments;
    segments.form = SegmentForm::offsets;
    segments.num_elements = num_elements;
    segments.num_segments = num_elements / length + (num_elements % length != 0 ? 1 : 0);
    segments.has_wide_indices = index_bits_for({num_elements, segments.num_segments}) == 64;
    segments.offsets = Array(segments.index_type(), static_cast<std::size_t>(segments.num_segments) + 1);
    const auto fill = [&](auto offsets) {
        using Index = typename decltype(offsets)::value_type;
        parallel_for(segments.num_segments + 1, kFewestOffsets, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t s = begin; s < end; ++s)
                offsets[static_cast<std::size_t>(s)] =
                    static_cast<Index>(s < segments.num_segments ? s * length : num_elements);
        });
    };
    if (segments.has_wide_indices)
        fill(segments.offsets.as<std::int64_t>());
    else
        fill(segments.offsets.as<std::int32_t>());
    return segments;
}

/// Makes one segment with half of the elements, and others of length `rest`.
std::vector<SegmentLengths> giant_blocks(const Layout& layout, std::int64_t num_elements)
{
    const auto rest = static_cast<std::int64_t>(parameter(layout, "rest"));
    const std::int64_t others = num_elements - num_elements / 2;
    // The giant segment starts at a multiple of `rest`, so that only the last segment may have to be cut.
    const auto before =
        static_cast<std::int64_t>(parameter(layout, "place") * static_cast<double>(others)) / rest;
    SegmentLengths lengths(static_cast<std::size_t>(before), rest);
    if (num_elements / 2 > 0)
        lengths.push_back(num_elements / 2);
    const std::int64_t left = others - before * rest;
    lengths.insert(lengths.end(), static_cast<std::size_t>(left / rest), rest);
    if (left % rest != 0)
        lengths.push_back(left % rest);
    std::vector<SegmentLengths> blocks;
    blocks.push_back(std::move(lengths));
    return blocks;
}

}  // namespace

Segments generate_segments(const Layout& layout, std::int64_t num_elements)
{
    if (num_elements < 0)
        throw InputError(fmt::format("the number of elements is {}; it must not be negative", num_elements));
    if (num_elements > kMostElements)
        throw InputError(fmt::format("layout '{}': {} elements; generated layouts have at most {}",
                                     print(layout), num_elements, kMostElements));
    if (layout.distribution == "constant")
        return constant_segments(static_cast<std::int64_t>(parameter(layout, "length")), num_elements);
    std::vector<SegmentLengths> blocks;
    if (layout.distribution == "giant")
        blocks = giant_blocks(layout, num_elements);
    else if (layout.distribution == "lot")
        blocks = {lot_lengths(static_cast<std::uint64_t>(parameter(layout, "seed")), num_elements)};
    else
        blocks = draw_blocks(choose_draw(layout, num_elements),
                             static_cast<std::uint64_t>(parameter(layout, "seed")), num_elements);

    Segments segments;
    segments.form = SegmentForm::offsets;
    segments.num_elements = num_elements;
    for (const SegmentLengths& block : blocks)
        segments.num_segments += static_cast<std::int64_t>(block.size());
    segments.has_wide_indices = index_bits_for({num_elements, segments.num_segments}) == 64;
    segments.offsets = Array(segments.index_type(), static_cast<std::size_t>(segments.num_segments) + 1);
    if (segments.has_wide_indices)
        fill_offsets(blocks, segments.offsets.as<std::int64_t>());
    else
        fill_offsets(blocks, segments.offsets.as<std::int32_t>());
    return segments;
}

}  // namespace segfold
