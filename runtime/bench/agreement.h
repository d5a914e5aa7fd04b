#pragma once
// Whether stages and peers give the same results.
#include <memory>
#include <optional>
#include <string>

#include "runtime/backends/cuda/module.h"
#include "runtime/bench/record.h"
#include "runtime/bench/segment_keys.h"
#include "runtime/judge/compare.h"

namespace segfold::bench {

/// Most elements of a workload whose results are compared with the reference, on the host.
inline constexpr std::int64_t kMostJudged = std::int64_t{1} << 20;

/// How far a floating-point result may be from another one, over the larger of both and 1.
///
/// Wide enough for any order of association over the values that a bench generates, narrow enough that an
/// element too many or too few shows in all but the longest segments; is_exact operators, and sums of small
/// integers while they are exact, must agree in every bit and are seen to do so.
[[nodiscard]] double tolerance(Type type);

/// Which places of the result arrays a plan or peer fills.
struct Filled {
    bool is_by_key = false;     ///< segments with an element alone
    bool is_compacted = false;  ///< the i-th of them at place i
};

/// Compares what is in a resident workload's result arrays.
///
/// Small workloads are held against the reference. Large ones stay on the GPU and are held against the first
/// results that were given, bit for bit, and where bits differ in a field of an operator that rounds, within
/// `tolerance`.
class Agreements {
public:
    /// `workload` has its arrays where it is small enough to be judged; it and `resident` must outlive this
    /// object.
    Agreements(const cuda::Context& context, cuda::Stream& stream, const Workload& workload,
               const cuda::ResidentWorkload& resident);
    ~Agreements();

    /// Judges what `name` has left in the result arrays; `keys` is needed for peers by key.
    [[nodiscard]] Agreement check(const std::string& name, Filled filled, const SegmentKeys* keys);

private:
    [[nodiscard]] Agreement against_reference(Filled filled, const SegmentKeys* keys);
    [[nodiscard]] Agreement against_first(Filled filled, const SegmentKeys* keys);

    cuda::Context context_;
    cuda::Stream& stream_;
    const Workload& workload_;
    const cuda::ResidentWorkload& resident_;
    std::unique_ptr<Judge> judge_;
    bool is_exact_;
    std::string first_name_;
    std::vector<cuda::DeviceBuffer> first_;
    std::optional<cuda::Module> module_;
};

}  // namespace segfold::bench
