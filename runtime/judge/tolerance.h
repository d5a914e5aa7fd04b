#pragma once
// The distance that a floating-point result may have from the wide-precision result, measured for each
// segment.
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/judge/disturbed.h"
#include "runtime/judge/fold_order.h"
#include "runtime/judge/reference.h"

namespace segfold {

/// The verdict on one segment; each vector has one entry per result field.
struct SegmentVerdict {
    /// Distance from the wide result; inf if only one of the two is finite.
    std::vector<long double> errors;
    /// The largest distance allowed; inf if only the kind of a non-finite value is compared.
    std::vector<long double> bounds;
    std::vector<bool> wrong;
    std::vector<bool> overflowed;  ///< neither wrong nor right; see ValueVerdict::overflowed
    std::vector<bool> unjudged;    ///< neither wrong nor right; see ValueVerdict::unjudged
    bool agrees = true;
    long double ratio = 0;  ///< largest error divided by its bound
};

/// Judges results of segments by their wide-precision results. Only one thread at a time may use this object.
///
/// A result within 4 ulp of the wide result agrees at once, which is cheap. Otherwise the segment is folded
/// again in several orders, and
///
///     bound = 3 (spread + movement) + 4 ulp + the smallest positive value of the type
///     spread     largest distance from the wide result to a working-precision result of a balanced, left or
///                random tree
///     movement   largest change of the wide result when each rounding becomes a random error of half a unit
///                to one unit roundoff, up or down (disturbed.h), over trees of the same kinds; this is the
///                condition of the data and the operator
///
/// "ulp" is the unit in the last place of the result's type at the wide result. If the operator is
/// commutative, the folds also take the elements in other orders, as threads that load side by side do.
///
/// Folds are added while the result lies outside of the bound: up to 24 folds and up to 2^24 elements in all,
/// but at least three folds (balanced, balanced and disturbed, left). In segments of 4096 and more elements,
/// an error above a hundred bounds is refused after six folds. Integer results of an operator that rounds
/// must equal the wide results, unless other folds give other integers.
///
/// A kernel combines the elements in another way: each lane folds a run of elements from left to right, and a
/// tree joins the lanes. If products cancel, a single border between two runs can cost more than all others.
/// judge_by_runs() therefore folds a segment with runs that begin at every place.
///
/// A bound above a quarter of the value would let too much pass. A result within such a bound, but within no
/// smaller one, is neither right nor wrong: it cannot be judged.
///
/// A non-finite result must be of the same kind (nan, inf, -inf) as the wide result rounded to its type, or
/// as the result of a working-precision fold, which may overflow where long double does not. If some order of
/// combining a segment's finite elements overflows, NaN and both infinities are right: the infinity that
/// arises may meet any other value, such as an identity.
class Tolerance {
public:
    /// The workload, its bytecode and its inputs must outlive this object. If the operator is not
    /// associative, all folds go from left to right.
    Tolerance(const Workload& workload, const Bytecode& bytecode, const OperatorInputs& inputs,
              std::uint64_t seed, bool is_associative);

    /// True if every field of `actual` is within 4 ulp of `wide`.
    [[nodiscard]] bool agrees_at_once(std::span<const WideValue> actual,
                                      std::span<const WideValue> wide) const;

    /// Judges a segment by folding it again. `threads` threads share each fold. If `to_the_end` is true,
    /// makes all folds even if fewer suffice, so the bound is the same for every actual result.
    [[nodiscard]] SegmentVerdict judge(std::int64_t segment, std::span<const WideValue> actual,
                                       std::span<const WideValue> wide, int threads, bool to_the_end = false);

    /// Like judge(), with further folds by runs of 4 to 64 elements that begin anywhere. The segment may have
    /// at most kMostRunElements elements. If the error is above a hundred bounds, the folds by runs are left
    /// out. Takes several hundred folds, so call it only for the few segments that judge() refused.
    [[nodiscard]] SegmentVerdict judge_by_runs(std::int64_t segment, std::span<const WideValue> actual,
                                               std::span<const WideValue> wide);

    /// Folds a segment `count` times, in orders that judge() uses, and returns the results. The folds are
    /// disturbed if `is_disturbed` is true, and in working precision if it is false. Leaves out folds that
    /// fail.
    [[nodiscard]] std::vector<std::vector<WideValue>> sample_results(std::int64_t segment, int count,
                                                                     bool is_disturbed) const;

    static constexpr std::int64_t kMostRunElements = 4096;

private:
    struct Fold;
    struct Samples;

    /// Adds a fold to `samples`. Returns false if the fold fails, because other rounding may move an index
    /// outside of a table.
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
    long double bound = 0;  ///< largest distance allowed; inf if only the kind of a non-finite value counts
    bool wrong = false;
    /// The value is of another kind than the wide value, because intermediate values overflow in some folds
    /// of working precision. It is neither right nor wrong.
    bool overflowed = false;
    /// The value is within its bound, but the bound exceeds a quarter of the value. It is neither right nor
    /// wrong.
    bool unjudged = false;
    [[nodiscard]] long double ratio() const;
};

/// Returns the number of decimal digits of a value that an error of `bound` leaves correct; 0 if the bound
/// exceeds the value.
[[nodiscard]] double digits_left(long double bound, long double value);

/// The cheap test of a value: true if `actual` is within 4 ulp of `wide`, or of the same kind if `wide` is
/// not finite.
[[nodiscard]] bool agrees_at_once(Type type, const WideValue& actual, const WideValue& wide);

/// Judges a value by the values of other folds, in working precision and disturbed, as described at
/// Tolerance. A bound is too wide if it exceeds a quarter of `size` and of the wide value.
[[nodiscard]] ValueVerdict weigh_value(Type type, const WideValue& actual, const WideValue& wide,
                                       std::span<const WideValue> working,
                                       std::span<const WideValue> disturbed, bool overflows = false,
                                       long double size = 0);

/// Returns |value|; 0 if it is not finite.
[[nodiscard]] long double size_of(Type type, const WideValue& value);

/// Returns the distance from |value| to the next greater value of a floating-point type; 0 for other types.
[[nodiscard]] long double ulp(Type type, long double value);

/// Reads element `i` of each array into `values` as a wide value.
void read_wide(const Results& results, std::int64_t i, std::span<WideValue> values);

}  // namespace segfold
