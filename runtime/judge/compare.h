#pragma once
// Compares results with the reference. Tells which segments differ, by how much, and on which data.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/evaluation/bytecode.h"
#include "runtime/data/workload.h"
#include "runtime/judge/reference.h"

namespace segfold {

/// A result field of one segment. Each text is the shortest one that reads back as the same value of the
/// field's type.
struct ComparedField {
    std::string name;
    std::string actual;
    std::string expected;
    /// Value of the other results; empty if actual results are compared with the reference only.
    std::string other;
    std::optional<double> error;  ///< distance from the wide-precision result; absent for exact operators
    std::optional<double> bound;  ///< the largest error allowed
    bool wrong = false;
    /// True if the actual or the expected value overflows and the other one is finite, and if it cannot be
    /// decided whether this is wrong (tolerance.h).
    bool overflowed = false;
    /// Number of decimal digits that the data determine, if these are too few to judge the value
    /// (tolerance.h). Empty if the value can be judged.
    std::optional<double> digits_left = {};

    [[nodiscard]] bool unjudged() const { return digits_left.has_value(); }
};

/// The first and last elements of a column in a segment, at most eight of each.
struct ComparedElements {
    std::string column;
    std::vector<std::string> first;
    std::vector<std::string> last;  ///< empty if `first` holds all elements
};

/// A segment with its compared values. Its elements have the indices `begin` to `end` - 1.
struct ComparedSegment {
    std::int64_t segment = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    double ratio = 0;  ///< largest error divided by its bound; infinity if the bound is 0
    std::vector<ComparedField> fields;
    std::vector<ComparedElements> elements;
};

/// The outcome of comparing results.
struct Comparison {
    bool bit_for_bit = false;  ///< true: all bits must be equal; false: values must lie within bounds
    std::int64_t num_segments = 0;
    std::int64_t num_wrong = 0;
    std::string against;  ///< "the reference", or the name of the other results
    /// Name of the other results if these are wrong and the actual results are right. Empty otherwise.
    std::string culprit;
    std::optional<ComparedSegment> first_wrong;
    /// Segment with the largest ratio, right or wrong. Absent if results are compared bit for bit, or if all
    /// results are equal.
    std::optional<ComparedSegment> worst;

    /// Number of segments that cannot be judged because intermediate values overflow. Segments are counted
    /// for each feature, and for results and outputs; the largest of these counts is kept.
    std::int64_t num_overflowed = 0;
    std::optional<ComparedSegment> first_overflowed;

    /// Number of further segments without a wrong value that cannot be judged because a value's bound exceeds
    /// a quarter of the value. The largest of several counts, as for num_overflowed.
    std::int64_t num_unjudged = 0;
    std::optional<ComparedSegment> first_unjudged;

    /// True if no segment is wrong. Some segments may still be unjudged; see is_judged().
    [[nodiscard]] bool agrees() const { return num_wrong == 0; }
    [[nodiscard]] bool is_judged() const { return num_overflowed == 0 && num_unjudged == 0; }
    /// If `other` has more overflowed segments, takes their number and the first of them from `other`. Does
    /// the same for unjudged segments.
    void take_unsaid(Comparison& other);
};

/// Returns a report without a final line break. If all segments agree, the report has one line. Otherwise it
/// shows the number of wrong segments and the first wrong segment with its elements. It also shows the worst
/// segment if this is another one.
///
///     2 of 5000 segments are wrong, the first one:
///     segment 41 (elements 1203 to 1259, length 57): mean is 3.25, reference says 3.5, bound 2.1e-06
///         x: 1.5, 2, 3, 4, 5, 6, 7, 8, ..., 50, 51, 52, 53, 54, 55, 56, 57
std::string print(const Comparison& comparison);

/// Returns the report's sentence about overflowed segments; empty if there are none.
std::string print_overflow(const Comparison& comparison);

/// Returns the report's sentence about segments that cannot be judged; empty if there are none.
///
///     3 of 40 segments cannot be judged, the first one is segment 4 (elements 80 to 99, length 20): variance
///     is 1.25, reference says 1, bound 0.9: the data leave no digit
std::string print_unjudged(const Comparison& comparison);

/// Returns the number of segments that cannot be judged, overflowed ones included, such as "3 of 40 segments
/// cannot be judged". Empty if there are none.
std::string unsaid_in_brief(const Comparison& comparison);

struct JudgeOptions {
    int threads = 0;         ///< 0 means all cores
    std::uint64_t seed = 7;  ///< seed of the random folds that determine bounds
    /// If true, results must have the bits of the reference, even if the operator rounds.
    bool bit_for_bit = false;
    /// If false, only the fold from left to right is right, so other bracketings do not widen the bounds.
    bool is_associative = true;
};

class MappedJudge;

/// Holds the reference results of a workload, and compares any number of results with them.
///
/// Exact operators (is_exact) are compared bit for bit with the reference in working precision. Any two NaNs
/// count as equal; -0 and 0 differ. Other operators are compared with the reference in wide precision, within
/// bounds that are measured on each segment that needs them (runtime/judge/tolerance.h).
class Judge {
public:
    /// Computes the reference. The workload must outlive the judge. Throws InputError if the workload cannot
    /// be run.
    explicit Judge(const Workload& workload, JudgeOptions options = {});
    ~Judge();
    Judge(Judge&&) noexcept;

    [[nodiscard]] bool bit_for_bit() const;

    /// Returns the reference results, rounded to their types.
    [[nodiscard]] Results reference() const;

    /// Compares results with the reference. Throws InternalError if their fields, types or lengths do not fit
    /// the workload.
    [[nodiscard]] Comparison compare(const Results& actual) const;

    /// Compares results with `other`, the results of another back end, stage or plan. Messages call it
    /// `name`.
    ///
    /// For exact operators, both must have the same bits, and the reference is not used. For other operators,
    /// both must lie within bounds around the reference.
    [[nodiscard]] Comparison compare(const Results& actual, const Results& other,
                                     const std::string& name) const;

private:
    [[nodiscard]] Comparison compare_segments(const Results& actual) const;
    [[nodiscard]] Comparison compare_segments(const Results& actual, const Results& other,
                                              const std::string& name) const;

    struct Feature;
    /// Calls `compare` for each feature. Returns the comparison of the first wrong feature. If none is wrong,
    /// returns the comparison of the feature closest to its bounds.
    [[nodiscard]] Comparison over_features(
        const std::function<Comparison(const Judge& judge, std::int64_t feature)>& compare) const;

    /// One entry per feature if the operator has row parameters; the members below are then empty.
    std::vector<std::unique_ptr<const Feature>> features_;
    /// The workload without outputs; null if the operator has no outputs.
    std::unique_ptr<const Workload> fold_;
    std::unique_ptr<const MappedJudge> mapped_;
    const Operator& op_;
    const Workload& workload_;  ///< the workload whose results are judged
    JudgeOptions options_;
    Bytecode bytecode_;
    OperatorInputs inputs_;
    bool bit_for_bit_;
    Results exact_;     ///< set if bit_for_bit_ is true
    WideResults wide_;  ///< set if bit_for_bit_ is false
};

/// Returns the place and the elements of a segment. Leaves its result fields empty.
ComparedSegment describe_segment(const Workload& workload, std::int64_t segment);

/// True if element `i` of both arrays has the same bits. Any two NaNs count as the same.
bool same_bits(const Array& left, const Array& right, std::int64_t i);

/// Makes a judge and compares results with the reference once.
Comparison compare(const Workload& workload, const Results& actual, JudgeOptions options = {});

}  // namespace segfold
