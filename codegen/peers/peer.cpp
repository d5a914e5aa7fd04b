#include "codegen/peers/peer.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"

namespace segfold {
namespace {

using enum SegmentForm;

constexpr std::string_view kOmpHeader = "thrust/system/omp/execution_policy.h";
constexpr std::string_view kTbbHeader = "thrust/system/tbb/execution_policy.h";

/// Returns a peer that scans. `system` is Peer::system.
Peer scan_peer(std::string_view name, std::string_view call, std::string_view library, bool is_by_key,
               std::string_view header, std::string_view system = {})
{
    Peer peer{name, call, library, {whole}, is_by_key, false, header, "", system};
    if (is_by_key)
        peer.forms = {whole, uniform, offsets, flags, keys};
    peer.scans = true;
    return peer;
}

/// Returns the reason why a peer that scans cannot serve the operator; nothing if it can.
std::optional<std::string> unmet_by_scan(const Operator& op)
{
    if (!op.scan)
        return fmt::format("gives running results alone, and operator {} has no scan", op.name);
    if (op.map || op.keeps_results)
        return fmt::format("gives running results alone, and operator {} gives {} too", op.name,
                           op.map ? "outputs of a map" : "results of segments");
    if (reads_before(op) && !op.has_identity())
        return fmt::format("begins with the identity, and operator {} has none", op.name);
    return std::nullopt;
}

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
         kOmpHeader,
         "",
         "omp"},
        {"thrust_tbb",
         "thrust::reduce_by_key",
         "thrust",
         {whole, uniform, offsets, flags, keys, groups},
         true,
         false,
         kTbbHeader,
         "",
         "tbb"},
        scan_peer("cub_scan", "cub::DeviceScan::InclusiveScan", "cub", false, kTabulateHeader),
        scan_peer("cub_scan_by_key", "cub::DeviceScan::InclusiveScanByKey", "cub", true, kTabulateHeader),
        scan_peer("thrust_scan", "thrust::inclusive_scan", "thrust", false, kTabulateHeader),
        scan_peer("thrust_scan_by_key", "thrust::inclusive_scan_by_key", "thrust", true, kTabulateHeader),
        scan_peer("thrust_omp_scan", "thrust::inclusive_scan", "thrust", false, kOmpHeader, "omp"),
        scan_peer("thrust_omp_scan_by_key", "thrust::inclusive_scan_by_key", "thrust", true, kOmpHeader,
                  "omp"),
        scan_peer("thrust_tbb_scan", "thrust::inclusive_scan", "thrust", false, kTbbHeader, "tbb"),
        scan_peer("thrust_tbb_scan_by_key", "thrust::inclusive_scan_by_key", "thrust", true, kTbbHeader,
                  "tbb")};
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
    if (peer.scans)
        if (auto why = unmet_by_scan(problem.op))
            return why;
    if (!peer.scans && !problem.op.outputs.empty())
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
    const auto uses_place = [](const Block& block) {
        return uses_name(block, "position") || uses_name(block, "segment");
    };
    const auto& op = problem.op;
    if (problem.form == ranges && uses_place(op.lift))
        return "does not tell an element its place in a segment, where ranges may overlap";
    const bool is_found = problem.form == flags || problem.form == keys || problem.form == groups;
    if (is_found && (uses_place(op.lift) || (op.scan && uses_place(op.scan->block)) ||
                     (op.finish && (uses_name(*op.finish, "length") ||
                                    (problem.form == groups && uses_name(*op.finish, "segment"))))))
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
