#pragma once
// Checks whether stages and peers give the same results.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/judge/compare.h"
#include "runtime/measure/bench/record.h"

namespace segfold::bench {

/// Largest size of a workload whose results are compared with the reference on the host. The size is the
/// number of elements, or of numbers if elements are rows.
inline constexpr std::int64_t kMostJudged = std::int64_t{1} << 20;

/// Returns the largest difference of two floating-point results that agree. The difference is divided by the
/// larger magnitude, or by 1 if both magnitudes are smaller.
///
/// The tolerance allows any order of association over the values that a bench generates. It shows an element
/// too many or too few in all but the longest segments. It does not apply to operators that are exact
/// (is_exact()): their results must agree in every bit.
[[nodiscard]] double tolerance(Type type);

/// Of a large workload, at most `kMostDoubtful` segments are compared with the reference. Together they have
/// at most `kMostDoubtfulElements` elements, but the first of them may have any length.
inline constexpr std::size_t kMostDoubtful = 1024;
inline constexpr std::int64_t kMostDoubtfulElements = std::int64_t{1} << 24;

/// Checks the contents of a placed workload's result arrays.
///
/// Small workloads are compared with the reference.
///
/// Results of large workloads stay in place and are compared bit for bit with the first results seen. If bits
/// differ in a field of an operator that rounds, tolerance() applies. Two orders of association may differ by
/// more if a segment's elements nearly cancel or partial results are much larger than the final result. Such
/// segments, at most kMostDoubtful and evenly spread, are compared with the reference, and so are the first
/// results.
class Agreements {
public:
    /// `workload` must have its arrays if it is small enough for the reference. For a large workload,
    /// `columns` are its columns in host memory, one per parameter, or none. All of these and `placed` must
    /// outlive this object. If `is_associative` is false, only results in the reference's order are right.
    Agreements(const Workload& workload, PlacedWorkload& placed, std::vector<const std::byte*> columns = {},
               bool is_associative = true);
    ~Agreements();

    /// Judges the contents of the result arrays after a run of the plan or peer `name`.
    [[nodiscard]] Agreement check(const std::string& name, const Filled& filled);

private:
    [[nodiscard]] Agreement against_reference(const Filled& filled);
    [[nodiscard]] Agreement against_first(const Filled& filled);
    [[nodiscard]] bool can_judge_segments() const;
    [[nodiscard]] std::optional<Agreement> judge_doubtful() const;
    [[nodiscard]] Workload only(const std::vector<std::int64_t>& chosen) const;

    const Workload& workload_;
    PlacedWorkload& placed_;
    std::vector<const std::byte*> columns_;
    JudgeOptions options_;
    std::unique_ptr<Judge> judge_;
    bool is_exact_;
    std::string first_name_;
};

}  // namespace segfold::bench
