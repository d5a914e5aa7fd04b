#pragma once
// How far a floating-point result may lie from the wide-precision one, measured for each segment.
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/judge/disturbed.h"
#include "runtime/judge/fold_order.h"
#include "runtime/judge/reference.h"

namespace segfold {

/// Findings on one segment; one entry for each result field.
struct SegmentVerdict {
    std::vector<long double>
        errors;  ///< distance from the wide result; inf where one is finite and one is not
    std::vector<long double> bounds;  ///< largest distance allowed; inf if only the kind of non-finite counts
    std::vector<bool> wrong;
    std::vector<bool> overflowed;  ///< not wrong, and not right either: see ValueVerdict
    std::vector<bool> unjudged;    ///< the same
    bool agrees = true;
    long double ratio = 0;  ///< largest error in units of its bound
};

/// Judges results of segments against their wide-precision results; one thread at a time.
///
/// A result within 4 ulp of the wide one agrees (cheap). Else the segment is folded again in several orders,
/// and
///
///     bound = 3 (spread + movement) + 4 ulp + the smallest positive value of the type
///     spread     how far the working-precision results of balanced, left and random trees lie from the wide
///                result
///     movement   how far wide results move when each rounding is replaced by an error of half a unit to one
///                unit roundoff, up or down, at random (disturbed.h), over trees of the same kinds: the
///                condition of data and operator
///
/// A commutative operator is folded in other orders of its elements too, as threads that load side by side
/// take them. Here "ulp" is of the result's type at the wide result. Folds are added while the result lies
/// outside of the bound, up to 24, or as many as come to 2^22 elements but at least three (balanced, balanced
/// and disturbed, left); in segments of 4096 elements and more, an error beyond a hundred bounds is refused
/// after six. Integer results of an
/// operator that rounds have no ulp: they must equal the wide ones unless the folds differ too.
///
/// Those folds rarely meet the brackets of a kernel: a lane folds a run of elements from left to right, runs
/// begin where lanes do, and lanes are joined as a tree. Where products cancel, one such cut can cost more
/// than all others; judge_by_runs() folds a segment along every such cut.
///
/// A bound of more than a quarter of the value would let too much pass. A result that no smaller bound
/// admits, and that this one does, is neither right nor wrong: it cannot be judged.
///
/// Non-finite results must be of the same kind (nan, inf, -inf) as the wide one rounded to its type, or as
/// one of the working-precision folds, which may overflow where long double does not. Where some order of
/// combining a segment's finite elements leaves the range of a type, NaN and either infinity are right too:
/// what becomes of an infinity depends on what it is combined with next, an identity among others.
class Tolerance {
public:
    /// The workload, its bytecode and its inputs must outlive this. Where the operator is not associative,
    /// all folds go from left to right.
    Tolerance(const Workload& workload, const Bytecode& bytecode, const OperatorInputs& inputs,
              std::uint64_t seed, bool is_associative);

    /// True if every field of `actual` is within the cheap bound of `wide`.
    [[nodiscard]] bool agrees_at_once(std::span<const WideValue> actual,
                                      std::span<const WideValue> wide) const;

    /// Judges a segment by folding it again; `threads` share out each fold. With `to_the_end`, no fold is
    /// saved: the bound is then the same for every actual result.
    [[nodiscard]] SegmentVerdict judge(std::int64_t segment, std::span<const WideValue> actual,
                                       std::span<const WideValue> wide, int threads, bool to_the_end = false);

    /// Judges a segment of at most kMostRunElements by runs of 4 to 64 elements that begin anywhere, besides
    /// the folds of judge(), unless the error is a hundred times what those allow. Takes some hundred folds:
    /// for the few segments that judge() refused.
    [[nodiscard]] SegmentVerdict judge_by_runs(std::int64_t segment, std::span<const WideValue> actual,
                                               std::span<const WideValue> wide);

    /// The results of a segment by `count` folds as judge() makes them, in working precision or disturbed;
    /// fewer where a fold says nothing.
    [[nodiscard]] std::vector<std::vector<WideValue>> sample_results(std::int64_t segment, int count,
                                                                     bool is_disturbed) const;

    static constexpr std::int64_t kMostRunElements = 4096;

private:
    struct Fold;
    struct Samples;

    /// False where the fold says nothing: rounded otherwise, a computed place lies outside of a table.
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

/// Findings on one value.
struct ValueVerdict {
    long double error = 0;  ///< distance from the wide value; inf where one is finite and one is not
    long double bound = 0;  ///< largest distance allowed; inf if only the kind of non-finite counts
    bool wrong = false;
    /// Of another kind (finite, inf, nan) than the wide value, as folds in working precision are too: values
    /// on the way leave the range of their type. Such a value cannot be judged.
    bool overflowed = false;
    /// Within a bound of more than a quarter of the value, and outside of all smaller bounds.
    bool unjudged = false;
    [[nodiscard]] long double ratio() const;
};

/// Decimal digits of a value that an error of `bound` leaves; 0 where it may be as large as the value.
[[nodiscard]] double digits_left(long double bound, long double value);

/// The cheap test: within 4 ulp of the wide value, or, if that is not finite, of the same kind.
[[nodiscard]] bool agrees_at_once(Type type, const WideValue& actual, const WideValue& wide);

/// Holds a value against the same value by folds in working precision and by disturbed ones, as Tolerance
/// says. `size`: what a bound must be small beside; at least the value's own.
[[nodiscard]] ValueVerdict weigh_value(Type type, const WideValue& actual, const WideValue& wide,
                                       std::span<const WideValue> working,
                                       std::span<const WideValue> disturbed, bool overflows = false,
                                       long double size = 0);

/// |value|; 0 if it is not finite.
[[nodiscard]] long double size_of(Type type, const WideValue& value);

/// Distance from |value| to the next greater value of a floating-point type; for a type that is not, 0.
[[nodiscard]] long double ulp(Type type, long double value);

/// Reads element `i` of each array as a wide value.
void read_wide(const Results& results, std::int64_t i, std::span<WideValue> values);

}  // namespace segfold
