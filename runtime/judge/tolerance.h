#pragma once
// Measures, for each segment, how far a floating-point result may lie from the wide-precision result.
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/judge/disturbed.h"
#include "runtime/judge/fold_order.h"
#include "runtime/judge/reference.h"

namespace segfold {

/// The verdict on one segment. Each vector has one entry per result field.
struct SegmentVerdict {
    /// Distance from the wide-precision result; inf if only one of the two is finite.
    std::vector<long double> errors;
    /// The largest distance allowed; inf if only the kinds of the values are compared.
    std::vector<long double> bounds;
    std::vector<bool> wrong;
    std::vector<bool> overflowed;  ///< cannot be decided; see ValueVerdict::overflowed
    std::vector<bool> unjudged;    ///< cannot be decided; see ValueVerdict::unjudged
    bool agrees = true;
    long double ratio = 0;  ///< largest error divided by its bound
};

/// Judges the results of segments against wide-precision results. Not safe for use by several threads at
/// once.
///
/// A result within 4 ulp of the wide result agrees at once, which is cheap to test. Otherwise the segment is
/// folded again in several orders, and
///
///     bound = 3 (spread + movement) + 4 ulp + the smallest positive value of the type
///     spread     largest distance from the wide result to the result of a working-precision fold in a
///                balanced, left or random tree
///     movement   largest change of the wide result when a random error of half a unit to one unit roundoff
///                replaces each rounding (disturbed.h), in trees of the same kinds
///
/// The movement measures the condition of the data and the operator.
/// An ulp is the unit in the last place of the result's type at the wide result. If the operator is
/// commutative, some folds also reorder the elements, as threads do that load neighbouring elements.
///
/// While the result lies outside of the bound, folds are added: at least three (balanced, balanced with
/// random errors, left), at most 24, and over at most 2^24 elements in total. In segments of 4096 and more
/// elements, an error above a hundred bounds is refused after six folds. If an operator that rounds has an
/// integer result, this must equal the wide result, unless other folds give other integers.
///
/// A kernel combines the elements in yet another way: each lane folds a run of elements from left to right,
/// and a tree combines the lanes. If products cancel, the place of a single border between two runs can
/// outweigh all other rounding. judge_by_runs() therefore folds a segment with runs that begin at every
/// place.
///
/// A bound above a quarter of the value would accept wrong results. A result that lies within such a bound,
/// but within no narrower one, cannot be judged.
///
/// A non-finite result must have the same kind (nan, inf, -inf) as the wide result rounded to its type, or as
/// the result of a working-precision fold, which may overflow where long double does not. If some order of
/// combining the segment's finite elements overflows, NaN and both infinities are accepted, because the
/// infinity may be combined with any other value.
class Tolerance {
public:
    /// The workload, its bytecode and its inputs must outlive this object. If the operator is not
    /// associative, all folds go from left to right.
    Tolerance(const Workload& workload, const Bytecode& bytecode, const OperatorInputs& inputs,
              std::uint64_t seed, bool is_associative);

    /// True if every field of `actual` is within 4 ulp of `wide`.
    [[nodiscard]] bool agrees_at_once(std::span<const WideValue> actual,
                                      std::span<const WideValue> wide) const;

    /// Judges a segment by folding it again. Each fold is shared by `threads` threads. If `to_the_end` is
    /// true, makes all folds even if fewer suffice, so that the bound does not depend on the actual result.
    [[nodiscard]] SegmentVerdict judge(std::int64_t segment, std::span<const WideValue> actual,
                                       std::span<const WideValue> wide, int threads, bool to_the_end = false);

    /// Like judge(), but also folds runs of 4 to 64 elements that begin at every place. If the error is above
    /// a hundred bounds, omits these folds. The segment may have at most kMostRunElements elements. Makes
    /// several hundred folds, so call it only for the few segments that judge() has refused.
    [[nodiscard]] SegmentVerdict judge_by_runs(std::int64_t segment, std::span<const WideValue> actual,
                                               std::span<const WideValue> wide);

    /// Folds a segment `count` times, in orders that judge() uses, and returns the results. Folds have random
    /// errors if `is_disturbed` is true; otherwise they run in working precision. Omits folds that fail.
    [[nodiscard]] std::vector<std::vector<WideValue>> sample_results(std::int64_t segment, int count,
                                                                     bool is_disturbed) const;

    static constexpr std::int64_t kMostRunElements = 4096;

private:
    struct Fold;
    struct Samples;

    /// Adds a fold to `samples`. Returns false if the fold fails: a differently rounded index may lie outside
    /// of a table.
    bool add(Samples& samples, std::int64_t segment, const Fold& fold, bool is_disturbed, int threads) const;
    [[nodiscard]] bool overflows_in_some_order(std::int64_t segment) const;
    [[nodiscard]] Fold choose_fold(std::int64_t segment, std::int64_t length, int number) const;
    [[nodiscard]] std::vector<WideValue> working_result(std::int64_t segment, const Fold& fold, int threads,
                                                        bool& overflows) const;
    [[nodiscard]] std::vector<WideValue> disturbed_result(std::int64_t segment, const Fold& fold,
                                                          int threads) const;
    [[nodiscard]] SegmentVerdict weigh(const Samples& samples, std::span<const WideValue> actual,
                                       std::span<const WideValue> wide) const;

    const Workload& workload_;
    const Bytecode& bytecode_;
    const OperatorInputs& inputs_;
    std::uint64_t seed_;
    bool is_associative_;
};

/// The verdict on one value.
struct ValueVerdict {
    long double error = 0;  ///< distance from the wide value; inf if only one of the two is finite
    long double bound = 0;  ///< largest distance allowed; inf if only the kinds of the values are compared
    bool wrong = false;
    /// True if the value's kind differs from the wide value's because intermediate values overflow in some
    /// working-precision folds. The value cannot be judged.
    bool overflowed = false;
    /// True if the value is within its bound, but the bound exceeds a quarter of the value. The value cannot
    /// be judged.
    bool unjudged = false;
    [[nodiscard]] long double ratio() const;
};

/// Returns the number of correct decimal digits of a value that may be off by `bound`; 0 if the bound exceeds
/// the value.
[[nodiscard]] double digits_left(long double bound, long double value);

/// A cheap test. Returns true if `actual` is within 4 ulp of `wide`, or if `wide` is not finite and both have
/// the same kind.
[[nodiscard]] bool agrees_at_once(Type type, const WideValue& actual, const WideValue& wide);

/// Judges a value by the values of other folds, in working precision and with random errors, as described at
/// Tolerance. Cannot judge by a bound that exceeds a quarter of both `size` and the wide value.
[[nodiscard]] ValueVerdict weigh_value(Type type, const WideValue& actual, const WideValue& wide,
                                       std::span<const WideValue> working,
                                       std::span<const WideValue> disturbed, bool overflows = false,
                                       long double size = 0);

/// Returns |value|; 0 if it is not finite.
[[nodiscard]] long double size_of(Type type, const WideValue& value);

/// Returns the distance from |value| to the next greater value of a floating-point type; 0 for other types.
[[nodiscard]] long double ulp(Type type, long double value);

/// Reads element `i` of each array into `values`.
void read_wide(const Results& results, std::int64_t i, std::span<WideValue> values);

}  // namespace segfold
