#pragma once
// Whether stages and peers give the same results.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/judge/compare.h"
#include "runtime/measure/bench/record.h"

namespace segfold::bench {

/// Most elements of a workload, or numbers of its rows, whose results are compared with the reference, on the
/// host.
inline constexpr std::int64_t kMostJudged = std::int64_t{1} << 20;

/// How far a floating-point result may be from another one, over the larger of both and 1.
///
/// Wide enough for any order of association over the values that a bench generates, narrow enough that an
/// element too many or too few shows in all but the longest segments; is_exact operators, and sums of small
/// integers while they are exact, must agree in every bit and are seen to do so.
[[nodiscard]] double tolerance(Type type);

/// Most segments of a large workload that are judged one by one, and most of their elements together, but for
/// the first one.
inline constexpr std::size_t kMostDoubtful = 1024;
inline constexpr std::int64_t kMostDoubtfulElements = std::int64_t{1} << 24;

/// Compares what is in a placed workload's result arrays.
///
/// Small workloads are held against the reference. Large ones stay where they are and are held against the
/// first results that were given, bit for bit, and where bits differ in a field of an operator that rounds,
/// within `tolerance`. What two orders of association make of one segment may lie further apart, where its
/// elements nearly cancel or where partial results are much larger than the last one: such segments are held
/// against the reference, the first results as well: at most kMostDoubtful of them, evenly spread.
class Agreements {
public:
    /// `workload` has its arrays where it is small enough to be judged; `columns` are those of a large one on
    /// the host, one for each parameter, or none. All and `placed` must outlive this object. Where the
    /// operator is not associative, the reference's order alone is right.
    Agreements(const Workload& workload, PlacedWorkload& placed, std::vector<const std::byte*> columns = {},
               bool is_associative = true);
    ~Agreements();

    /// Judges what `name` has left in the result arrays.
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
