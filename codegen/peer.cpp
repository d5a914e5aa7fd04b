#include "codegen/peer.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

using enum SegmentForm;

}  // namespace

std::span<const Peer> peers()
{
    static const std::vector<Peer> all = {
        {"cub_segmented",
         "cub::DeviceSegmentedReduce::Reduce",
         "cub",
         {whole, uniform, offsets, ranges},
         false,
         true,
         kTabulateHeader,
         ""},
        {"cub_segmented_hint",
         "cub::detail::segmented_reduce::dispatch",
         "cub",
         {uniform, offsets, ranges},
         false,
         true,
         "cub/device/dispatch/dispatch_segmented_reduce.cuh",
         "size_t max_segment_size,"},
        {"cub_fixed_size",
         "cub::DeviceSegmentedReduce::Reduce",
         "cub",
         {uniform},
         false,
         true,
         kSegmentedHeader,
         "int segment_size,",
         {},
         std::numeric_limits<int>::max()},
        {"cub_reduce", "cub::DeviceReduce::Reduce", "cub", {whole}, false, true, kTabulateHeader, ""},
        {"cub_reduce_by_key",
         "cub::DeviceReduce::ReduceByKey",
         "cub",
         {whole, uniform, offsets, flags, keys},
         true,
         false,
         kTabulateHeader,
         ""},
        {"thrust_reduce_by_key",
         "thrust::reduce_by_key",
         "thrust",
         {whole, uniform, offsets, flags, keys},
         true,
         false,
         kTabulateHeader,
         ""},
        {"thrust_omp",
         "thrust::reduce_by_key",
         "thrust",
         {whole, uniform, offsets, flags, keys, groups},
         true,
         false,
         "thrust/system/omp/execution_policy.h",
         "",
         "omp"},
        {"thrust_tbb",
         "thrust::reduce_by_key",
         "thrust",
         {whole, uniform, offsets, flags, keys, groups},
         true,
         false,
         "thrust/system/tbb/execution_policy.h",
         "",
         "tbb"}};
    return all;
}

const Peer& peer(std::string_view name)
{
    std::vector<std::string_view> names;
    for (const auto& peer : peers()) {
        if (peer.name == name)
            return peer;
        names.push_back(peer.name);
    }
    throw InputError(fmt::format("unknown peer '{}'; the peers are {}{}", name, fmt::join(names, ", "),
                                 did_you_mean(name, names)));
}

std::optional<std::string> unmet(const Peer& peer, const Problem& problem)
{
    if (std::ranges::find(peer.forms, problem.form) == peer.forms.end()) {
        std::vector<std::string_view> forms;
        for (const auto form : peer.forms)
            forms.push_back(name(form));
        return fmt::format("takes segments given as {}, not as {}", fmt::join(forms, ", "),
                           name(problem.form));
    }
    if (has_rows(problem.op))
        return "folds columns of numbers, and the operator has rows";
    if (!problem.op.outputs.empty())
        return fmt::format("gives results of segments alone, and the operator has a {}",
                           problem.op.map ? "map" : "scan");
    if (!problem.laws.associative)
        return fmt::format("needs an associative operator, and combine of operator {} is refuted",
                           problem.op.name);
    if (peer.needs_commutative && !problem.laws.commutative)
        return fmt::format(
            "{} does not keep the order of the elements, which operator {} may need, as it is not known to "
            "be "
            "commutative",
            peer.call, problem.op.name);
    const auto& lift = problem.op.lift;
    if (problem.form == ranges && (uses_name(lift, "position") || uses_name(lift, "segment")))
        return "does not tell an element its place in a segment, where ranges may overlap";
    const auto& finish = problem.op.finish;
    const bool is_found = problem.form == flags || problem.form == keys || problem.form == groups;
    if (is_found && (uses_name(lift, "position") || uses_name(lift, "segment") ||
                     (finish && (uses_name(*finish, "length") ||
                                 (problem.form == groups && uses_name(*finish, "segment"))))))
        return fmt::format(
            "knows neither places nor lengths of segments given as {}, and operator {} asks for them",
            name(problem.form), problem.op.name);
    return std::nullopt;
}

std::optional<std::string> too_long(const Peer& peer, std::int64_t longest)
{
    if (longest <= peer.most_length)
        return std::nullopt;
    return fmt::format("takes lengths up to {}, and the longest segment has {} elements", peer.most_length,
                       longest);
}

}  // namespace segfold
