#include "runtime/measure/bench/probe_answers.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <limits>

#include "dsl/error.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/random.h"

namespace segfold::bench {
namespace {

constexpr std::int64_t kFewestWords = 1 << 14;
constexpr int kLanes = 32;

std::uint64_t wide_word(std::uint64_t place)
{
    return probe_word(2 * place) | std::uint64_t{probe_word(2 * place + 1)} << 32;
}

ProbeAnswer shifted_copy(const FormulaNames& names)
{
    return [offset = names.at("offset"), count = names.at("num_elements")](std::int64_t place) {
        const bool is_copied = place >= offset && place < offset + count;
        return is_copied ? std::optional<std::uint64_t>(probe_word(static_cast<std::uint64_t>(place)))
                         : std::nullopt;
    };
}

ProbeAnswer strided_copy(const FormulaNames& names)
{
    return [stride = names.at("stride")](std::int64_t place) {
        return place % stride == 0
                   ? std::optional<std::uint64_t>(probe_word(static_cast<std::uint64_t>(place)))
                   : std::nullopt;
    };
}

ProbeAnswer divergence(const FormulaNames& names)
{
    return [rounds = names.at("rounds"), block = names.at("block_threads"),
            granularity = names.at("granularity")](std::int64_t place) -> std::optional<std::uint64_t> {
        auto x = probe_word(static_cast<std::uint64_t>(place));
        const bool is_first = place % block / granularity % 2 == 0;
        for (std::int64_t round = 0; round < rounds; ++round)
            x = is_first ? (x ^ x >> 15) * 2246822519U : (x ^ x >> 13) * 3266489917U;
        return x;
    };
}

/// Right results of the probe `bank_conflicts`. Threads with the same lane number have the same result.
ProbeAnswer bank_conflicts(const FormulaNames& names)
{
    const auto stride = names.at("stride");
    const bool is_wide = names.at("item_bytes") == 8;
    std::array<std::uint64_t, kLanes> totals = {};
    for (int lane = 0; lane < kLanes; ++lane) {
        std::uint64_t total = 0;
        for (std::int64_t round = 0; round < names.at("rounds"); ++round)
            for (std::int64_t read = 0; read < kLanes; ++read) {
                const auto row = read / stride * kLanes + (lane + round) % kLanes;
                const auto place = static_cast<std::uint64_t>(row * stride + read % stride);
                total = total * 5 + (is_wide ? wide_word(place) : probe_word(place));
            }
        totals[static_cast<std::size_t>(lane)] = is_wide ? total : total & 0xffffffffU;
    }
    return [totals](std::int64_t place) -> std::optional<std::uint64_t> {
        return totals[static_cast<std::size_t>(place % kLanes)];
    };
}

ProbeAnswer accumulators(const FormulaNames& names)
{
    return [rounds = names.at("rounds"), sums = names.at("sums")](std::int64_t place) {
        const auto x = probe_word(static_cast<std::uint64_t>(place));
        std::uint32_t total = 0;
        for (std::uint32_t k = 0; k < sums; ++k) {
            std::uint32_t sum = x + k;
            for (std::uint32_t round = 0; round < rounds; ++round)
                sum = sum * 5 + (round ^ x);
            total = total * 31 + sum;
        }
        return std::optional<std::uint64_t>(total);
    };
}

struct NamedAnswer {
    std::string_view probe;
    ProbeAnswer (*make)(const FormulaNames& names);
};

constexpr std::array kAnswers = {
    NamedAnswer{"accumulators", accumulators}, NamedAnswer{"bank_conflicts", bank_conflicts},
    NamedAnswer{"divergence", divergence}, NamedAnswer{"shifted_copy", shifted_copy},
    NamedAnswer{"strided_copy", strided_copy}};

std::uint64_t element_at(std::span<const std::byte> results, std::int64_t place, int element_bytes)
{
    std::uint64_t element = 0;
    std::memcpy(&element, results.data() + place * element_bytes, static_cast<std::size_t>(element_bytes));
    return element;
}

}  // namespace

std::uint32_t probe_word(std::uint64_t place)
{
    return static_cast<std::uint32_t>(RandomSequence(0).at(place) >> 32);
}

void fill_probe_input(std::span<std::uint32_t> words)
{
    parallel_for(static_cast<std::int64_t>(words.size()), kFewestWords,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (auto i = begin; i < end; ++i)
                         words[static_cast<std::size_t>(i)] = probe_word(static_cast<std::uint64_t>(i));
                 });
}

ProbeAnswer answer_of(const std::string& probe, const FormulaNames& names)
{
    for (const auto& answer : kAnswers)
        if (answer.probe == probe)
            return answer.make(names);
    throw InternalError(fmt::format("nobody has written down what probe {} computes", probe));
}

std::string judge_probe(const ProbeAnswer& answer, std::span<const std::byte> results, int element_bytes)
{
    const auto count = static_cast<std::int64_t>(results.size()) / element_bytes;
    std::uint64_t poison = 0;
    std::memset(&poison, kProbePoison, static_cast<std::size_t>(element_bytes));
    std::atomic<std::int64_t> first = std::numeric_limits<std::int64_t>::max();
    parallel_for(count, kFewestWords, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) {
            if (element_at(results, i, element_bytes) == answer(i).value_or(poison))
                continue;
            for (auto so_far = first.load(); i < so_far && !first.compare_exchange_weak(so_far, i);) {}
            return;
        }
    });
    if (first == std::numeric_limits<std::int64_t>::max())
        return {};
    return fmt::format("result {} is {:#x}; it has to be {:#x}", first.load(),
                       element_at(results, first, element_bytes), answer(first).value_or(poison));
}

}  // namespace segfold::bench
