#pragma once
// Checks whether stages and peers give equal results.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/judge/compare.h"
#include "runtime/measure/bench/record.h"

namespace segfold::bench {

/// Largest workload, in elements, whose results are compared with the reference on the host. If elements are
/// rows, their numbers are counted.
inline constexpr std::int64_t kMostJudged = std::int64_t{1} << 20;

/// Returns the largest difference between two floating-point results that counts as agreement. It is relative
/// to the larger magnitude, or absolute if both magnitudes are below 1.
///
/// The tolerance covers all association orders for the values that a bench generates. It reveals a missing or
/// repeated element, except in the longest segments. It does not apply to exact operators (is_exact()), whose
/// results must have the same bits.
[[nodiscard]] double tolerance(Type type);

/// Limits on the segments of a large workload that are compared with the reference: their number, and the sum
/// of their lengths. The first of them may have any length.
inline constexpr std::size_t kMostDoubtful = 1024;
inline constexpr std::int64_t kMostDoubtfulElements = std::int64_t{1} << 24;

/// Checks the results that a plan or peer has written to a placed workload's arrays.
///
/// Results of small workloads are compared with the reference.
///
/// Results of large workloads stay where they are and are compared bit for bit with the results of the first
/// plan. In fields of an operator that rounds, differences up to tolerance() are allowed. Differences may be
/// larger if a segment's elements nearly cancel, or if partial results are much larger than the final one. At
/// most kMostDoubtful such segments, evenly spaced, are compared with the reference; so are the first plan's
/// results for them.
class Agreements {
public:
    /// A small `workload` must have its arrays. For a large one, `columns` holds its columns in host memory,
    /// one per parameter, or is empty. All of these and `placed` must outlive this object. If
    /// `is_associative` is false, only the reference's order of combination is right.
    Agreements(const Workload& workload, PlacedWorkload& placed, std::vector<const std::byte*> columns = {},
               bool is_associative = true);
    ~Agreements();

    /// Judges the results in the arrays after a run of the plan or peer `name`.
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
    std::unique_ptr<Workload> sorted_;  ///< of groups in any order: for the judge, elements sorted by group
    std::unique_ptr<Judge> judge_;
    bool is_exact_;
    std::string first_name_;
};

}  // namespace segfold::bench
