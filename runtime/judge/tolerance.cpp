#include "runtime/judge/tolerance.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace segfold {
namespace {

constexpr long double kInfiniteError = std::numeric_limits<long double>::infinity();
constexpr long double kMargin = 3;
constexpr long double kUlps = 4;
/// A value whose bound exceeds this share of it cannot be judged.
constexpr long double kMostOfValue = 0.25L;
constexpr int kMaxFolds = 24;
constexpr int kMinFolds = 3;
constexpr int kFoldsOfGrossError = 6;
constexpr long double kGrossError = 100;
constexpr std::int64_t kManyElements = 4096;
constexpr std::int64_t kFoldedElements = std::int64_t{1} << 24;

enum class Kind { finite, nan, positive, negative };

Kind kind_of(long double value)
{
    if (std::isnan(value))
        return Kind::nan;
    if (std::isfinite(value))
        return Kind::finite;
    return value > 0 ? Kind::positive : Kind::negative;
}

/// Returns a value of any type as a number. This is exact, because long double has a significand of 64 bits.
long double number(const WideValue& value, Type type)
{
    if (is_float(type))
        return value.real;
    return is_signed_integer(type) ? static_cast<long double>(static_cast<std::int64_t>(value.bits))
                                   : static_cast<long double>(value.bits);
}

long double smallest_positive(Type type)
{
    return type == Type::f16    ? 0x1p-24L
           : type == Type::bf16 ? 0x1p-133L
           : type == Type::f32  ? 0x1p-149L
           : type == Type::f64  ? 0x1p-1074L
                                : 0;
}

/// Records whether elements or totals of a fold were not finite.
struct Overflow {
    std::atomic<bool> in_elements = false;
    std::atomic<bool> in_totals = false;
};

/// Adapts the working-precision evaluator to TreeFold.
struct WorkingFolder {
    using Value = Slot<double>;

    Evaluator<double> evaluator;
    const OperatorInputs* inputs;
    std::int64_t begin, segment;
    const std::vector<Type>* types;
    Overflow* overflow;

    [[nodiscard]] std::size_t state_fields() const { return evaluator.state_fields(); }
    void lift(std::int64_t index, Value* state)
    {
        evaluator.lift(inputs->columns, index, index - begin, segment, state);
        look_at(state, overflow->in_elements);
    }
    void combine(const Value* earlier, const Value* later, std::int64_t, Value* out)
    {
        evaluator.combine(earlier, later, out);
        look_at(out, overflow->in_totals);
    }
    void look_at(const Value* state, std::atomic<bool>& seen) const
    {
        for (std::size_t i = 0; i < types->size(); ++i)
            if (is_float((*types)[i]) && !std::isfinite(Machine<double>::get_real(state[i], (*types)[i])))
                seen.store(true, std::memory_order_relaxed);
    }
};

struct DisturbedFolder {
    using Value = WideValue;

    DisturbedEvaluator evaluator;
    std::int64_t begin, segment;

    [[nodiscard]] std::size_t state_fields() const { return evaluator.state_fields(); }
    void lift(std::int64_t index, Value* state) { evaluator.lift(index, index - begin, segment, state); }
    void combine(const Value* earlier, const Value* later, std::int64_t node, Value* out)
    {
        evaluator.combine(earlier, later, node, out);
    }
};

}  // namespace

long double ulp(Type type, long double value)
{
    if (!is_float(type) || !std::isfinite(value))
        return 0;
    const long double smallest = smallest_positive(type);
    if (value == 0)
        return smallest;
    const int digits = type == Type::f16 ? 10 : type == Type::bf16 ? 7 : type == Type::f32 ? 23 : 52;
    return std::max(smallest, std::ldexp(1.0L, std::ilogb(value) - digits));
}

long double ValueVerdict::ratio() const
{
    return error == 0 ? 0 : !(bound > 0) || std::isinf(bound) ? kInfiniteError : error / bound;
}

bool agrees_at_once(Type type, const WideValue& actual, const WideValue& wide)
{
    const long double value = number(actual, type);
    const long double expected = number(wide, type);
    const Kind kind = kind_of(expected);
    return kind != Kind::finite ? kind_of(value) == kind
                                : std::fabs(value - expected) <= kUlps * ulp(type, expected);
}

double digits_left(long double bound, long double value)
{
    return bound > 0 && bound < value ? static_cast<double>(std::log10(value / bound)) : 0;
}

long double size_of(Type type, const WideValue& value)
{
    const long double size = std::fabs(number(value, type));
    return std::isfinite(size) ? size : 0;
}

namespace {

/// Judges a value only by its kind (finite, nan, inf, -inf). Used if the value or the expected value is not
/// finite.
ValueVerdict weigh_kinds(Type type, long double value, long double expected,
                         std::span<const WideValue> working, bool overflows)
{
    const Kind kind = kind_of(value);
    bool seen = kind == kind_of(round_to(type, expected)) || (kind != Kind::finite && overflows);
    for (const auto& sample : working) {
        const long double other = number(sample, type);
        if (kind_of(other) == kind)
            seen = seen || kind != Kind::finite || std::fabs(value - other) <= kUlps * ulp(type, other);
    }
    ValueVerdict verdict;
    verdict.error = seen ? 0 : kInfiniteError;
    verdict.bound = kInfiniteError;
    verdict.wrong = !seen;
    verdict.overflowed = seen && kind != kind_of(round_to(type, expected));
    return verdict;
}

/// Computes a bound from the distances between samples and a finite expected value.
class Widening {
public:
    Widening(Type type, long double expected) : type_(type), expected_(expected) {}

    void add_working(const WideValue& sample) { widen(spread_, sample); }
    void add_disturbed(const WideValue& sample) { widen(movement_, sample); }
    [[nodiscard]] long double bound() const
    {
        return is_float(type_) ? kMargin * (spread_ + movement_) + kUlps * ulp(type_, expected_) +
                                     smallest_positive(type_)
                               : std::max(spread_, movement_);
    }

private:
    void widen(long double& distance, const WideValue& sample) const
    {
        if (const long double other = number(sample, type_); std::isfinite(other))
            distance = std::max(distance, std::fabs(other - expected_));
    }

    Type type_;
    long double expected_, spread_ = 0, movement_ = 0;
};

}  // namespace

ValueVerdict weigh_value(Type type, const WideValue& actual, const WideValue& wide,
                         std::span<const WideValue> working, std::span<const WideValue> disturbed,
                         bool overflows, long double size)
{
    const long double value = number(actual, type);
    const long double expected = number(wide, type);
    if (kind_of(value) != Kind::finite || !std::isfinite(expected))
        return weigh_kinds(type, value, expected, working, overflows);
    // Each sample can only widen the bound. `judging` is the largest bound so far that is narrow enough to
    // judge by.
    const long double most = kMostOfValue * std::max(size, std::fabs(expected));
    Widening widening(type, expected);
    long double judging = kUlps * ulp(type, expected);
    for (std::size_t i = 0; i < std::max(working.size(), disturbed.size()); ++i) {
        if (i < working.size())
            widening.add_working(working[i]);
        if (widening.bound() <= most)
            judging = widening.bound();
        if (i < disturbed.size())
            widening.add_disturbed(disturbed[i]);
        if (widening.bound() <= most)
            judging = widening.bound();
    }
    ValueVerdict verdict;
    verdict.error = std::fabs(value - expected);
    verdict.bound = verdict.error <= judging ? judging : widening.bound();
    verdict.wrong = verdict.error > verdict.bound;
    verdict.unjudged = !verdict.wrong && verdict.error > judging;
    return verdict;
}

void read_wide(const Results& results, std::int64_t i, std::span<WideValue> values)
{
    for (std::size_t f = 0; f < results.size(); ++f)
        Machine<long double>::load(values[f], results[f].array.type(), results[f].array.data(), i);
}

/// The bracketing and element order of one fold.
struct Tolerance::Fold {
    FoldOrder order;
    std::int64_t stripe_width;  ///< 1 keeps the elements in order
    std::uint64_t seed;
    Runs runs = {};
};

/// The results of all folds of one segment so far.
struct Tolerance::Samples {
    std::vector<std::vector<WideValue>> working;  ///< results of folds in working precision: [fold][field]
    std::vector<std::vector<WideValue>> disturbed;
    /// True if a working-precision fold of finite elements had a state that is not finite.
    bool overflow = false;
};

Tolerance::Tolerance(const Workload& workload, const Bytecode& bytecode, const OperatorInputs& inputs,
                     std::uint64_t seed, bool is_associative)
    : workload_(workload), bytecode_(bytecode), inputs_(inputs), seed_(seed), is_associative_(is_associative)
{}

bool Tolerance::agrees_at_once(std::span<const WideValue> actual, std::span<const WideValue> wide) const
{
    for (std::size_t f = 0; f < actual.size(); ++f)
        if (!segfold::agrees_at_once(bytecode_.results[f], actual[f], wide[f]))
            return false;
    return true;
}

std::vector<WideValue> Tolerance::working_result(std::int64_t segment, const Fold& fold, int threads,
                                                 bool& overflows) const
{
    const std::int64_t begin = workload_.segments.begin(segment);
    const std::int64_t end = workload_.segments.end(segment);
    Evaluator<double> evaluator(bytecode_, inputs_.tables);
    std::vector<Slot<double>> state(evaluator.state_fields());
    std::vector<Slot<double>> result(evaluator.result_fields());
    Overflow overflow;
    if (begin == end) {
        evaluator.empty(segment, result.data());
    } else {
        const Stripes stripes{begin, end - begin, fold.stripe_width};
        if (fold.order == FoldOrder::left && fold.stripe_width <= 1)
            evaluator.fold(inputs_.columns, begin, end, 0, segment, state.data());
        else
            TreeFold(WorkingFolder{evaluator, &inputs_, begin, segment, &bytecode_.state, &overflow},
                     fold.order, stripes, fold.seed, fold.runs)
                .fold(threads, state.data());
        overflows = overflows || (overflow.in_totals && !overflow.in_elements);
        evaluator.finish(state.data(), segment, end - begin, result.data());
    }
    std::vector<WideValue> wide(result.size());
    for (std::size_t f = 0; f < result.size(); ++f)
        if (is_float(bytecode_.results[f]))
            wide[f].real = Machine<double>::get_real(result[f], bytecode_.results[f]);
        else
            wide[f].bits = result[f].bits;
    return wide;
}

std::vector<WideValue> Tolerance::disturbed_result(std::int64_t segment, const Fold& fold, int threads) const
{
    const std::int64_t begin = workload_.segments.begin(segment);
    const std::int64_t end = workload_.segments.end(segment);
    DisturbedEvaluator evaluator(bytecode_, inputs_, fold.seed);
    std::vector<WideValue> state(evaluator.state_fields());
    std::vector<WideValue> result(bytecode_.results.size());
    if (begin == end) {
        evaluator.empty(segment, result.data());
        return result;
    }
    const Stripes stripes{begin, end - begin, fold.stripe_width};
    TreeFold(DisturbedFolder{evaluator, begin, segment}, fold.order, stripes, fold.seed, fold.runs)
        .fold(threads, state.data());
    evaluator.finish(state.data(), segment, end - begin, result.data());
    return result;
}

SegmentVerdict Tolerance::weigh(const Samples& samples, std::span<const WideValue> actual,
                                std::span<const WideValue> wide) const
{
    SegmentVerdict verdict;
    const auto of_field = [](const std::vector<std::vector<WideValue>>& folds, std::size_t f) {
        std::vector<WideValue> values;
        for (const auto& fold : folds)
            values.push_back(fold[f]);
        return values;
    };
    for (std::size_t f = 0; f < actual.size(); ++f) {
        const auto found = weigh_value(bytecode_.results[f], actual[f], wide[f], of_field(samples.working, f),
                                       of_field(samples.disturbed, f), samples.overflow);
        verdict.errors.push_back(found.error);
        verdict.bounds.push_back(found.bound);
        verdict.wrong.push_back(found.wrong);
        verdict.overflowed.push_back(found.overflowed);
        verdict.unjudged.push_back(found.unjudged);
        verdict.agrees = verdict.agrees && !found.wrong;
        verdict.ratio = std::max(verdict.ratio, found.ratio());
    }
    return verdict;
}

/// Chooses the order of fold `number`. Even folds run in working precision, odd folds with random errors.
/// Folds 2k and 2k + 1 have the same bracketing: balanced, left and random in turn.
///
/// If the operator is commutative, folds 0, 2 and 3 take the elements in order, and all others in stripes.
/// Otherwise all folds take the elements in order, and folds 4, 6, ... have a random bracketing.
Tolerance::Fold Tolerance::choose_fold(std::int64_t segment, std::int64_t length, int number) const
{
    constexpr FoldOrder kOrders[] = {FoldOrder::balanced, FoldOrder::left, FoldOrder::random};
    constexpr std::int64_t kWidths[] = {32, 2, 256, 1024, 3, 128, 8, 4096};
    const auto seed =
        mix_bits(seed_ ^ mix_bits(static_cast<std::uint64_t>(segment))) + static_cast<std::uint64_t>(number);
    if (!is_associative_)
        return {FoldOrder::left, 1, seed};
    const int pair = number / 2;
    Fold fold{kOrders[pair % 3], 1, seed};
    const bool in_order = number % 2 == 0 ? pair < 2 : pair == 1;
    if (workload_.op.laws.commutative) {
        if (!in_order)
            fold.stripe_width = kWidths[static_cast<std::size_t>(pair) % std::size(kWidths)];
        if (fold.stripe_width >= length)  // uses another width, because this one would keep the order
            fold.stripe_width =
                length <= 2
                    ? 1
                    : 2 + static_cast<std::int64_t>(mix_bits(seed) % static_cast<std::uint64_t>(length - 2));
    } else if (!in_order && number % 2 == 0) {
        fold.order = FoldOrder::random;  // the two other bracketings have been used
    }
    return fold;
}

std::vector<std::vector<WideValue>> Tolerance::sample_results(std::int64_t segment, int count,
                                                              bool is_disturbed) const
{
    const std::int64_t length = std::max<std::int64_t>(1, workload_.segments.length(segment));
    Samples samples;
    for (int i = 0; i < count; ++i)
        (void)add(samples, segment, choose_fold(segment, length, 2 * i + (is_disturbed ? 1 : 0)),
                  is_disturbed, 1);
    return is_disturbed ? samples.disturbed : samples.working;
}

bool Tolerance::add(Samples& samples, std::int64_t segment, const Fold& fold, bool is_disturbed,
                    int threads) const
{
    try {
        if (is_disturbed)
            samples.disturbed.push_back(disturbed_result(segment, fold, threads));
        else
            samples.working.push_back(working_result(segment, fold, threads, samples.overflow));
        return true;
    } catch (const InputError&) {
        return false;
    }
}

/// Looks for an order in which combining the segment's finite elements overflows. Returns true if it finds
/// one.
///
/// Tries only one order. Combines elements as long as the total grows. An element that would make the total
/// smaller starts a new total or, if the operator is commutative, is skipped.
bool Tolerance::overflows_in_some_order(std::int64_t segment) const
{
    const auto& types = bytecode_.state;
    const auto size = [&](const std::vector<Slot<double>>& state) {
        double largest = 0;
        for (std::size_t i = 0; i < types.size(); ++i)
            if (is_float(types[i])) {
                const double value = std::fabs(Machine<double>::get_real(state[i], types[i]));
                largest =
                    std::isfinite(value) ? std::max(largest, value) : static_cast<double>(kInfiniteError);
            }
        return largest;
    };
    const std::int64_t begin = workload_.segments.begin(segment);
    const std::int64_t end = workload_.segments.end(segment);
    Evaluator<double> evaluator(bytecode_, inputs_.tables);
    std::vector<Slot<double>> total(types.size()), lifted(types.size()), next(types.size());
    bool overflows = false;
    for (std::int64_t i = begin; i < end; ++i) {
        evaluator.lift(inputs_.columns, i, i - begin, segment, lifted.data());
        if (!std::isfinite(size(lifted)))
            return false;
        if (i == begin) {
            total = lifted;
            continue;
        }
        evaluator.combine(total.data(), lifted.data(), next.data());
        overflows = overflows || !std::isfinite(size(next));
        if (overflows)
            continue;
        if (size(next) >= size(total))
            total = next;
        else if (!workload_.op.laws.commutative)
            total = lifted;
    }
    return overflows;
}

SegmentVerdict Tolerance::judge(std::int64_t segment, std::span<const WideValue> actual,
                                std::span<const WideValue> wide, int threads, bool to_the_end)
{
    const std::int64_t length = std::max<std::int64_t>(1, workload_.segments.length(segment));
    const int folds =
        static_cast<int>(std::clamp<std::int64_t>(kFoldedElements / length, kMinFolds, kMaxFolds));
    // Does not refuse a short segment early, because its first folds may round nothing although other orders
    // would.
    const bool refuses_early = length >= kManyElements;
    Samples samples;
    const auto is_finite = [&](std::size_t f) {
        return std::isfinite(number(actual[f], bytecode_.results[f]));
    };
    for (std::size_t f = 0; f < actual.size() && !samples.overflow; ++f)
        samples.overflow = is_associative_ && !is_finite(f) && overflows_in_some_order(segment);
    SegmentVerdict verdict;
    for (int i = 0; i < folds; ++i) {
        if (!add(samples, segment, choose_fold(segment, length, i), i % 2 != 0, threads))
            continue;
        verdict = weigh(samples, actual, wide);
        if (to_the_end)
            continue;
        if (verdict.agrees || (refuses_early && i + 1 >= kFoldsOfGrossError && verdict.ratio > kGrossError))
            break;
    }
    return verdict.errors.empty() ? weigh(samples, actual, wide) : verdict;
}

SegmentVerdict Tolerance::judge_by_runs(std::int64_t segment, std::span<const WideValue> actual,
                                        std::span<const WideValue> wide)
{
    const std::int64_t length = std::max<std::int64_t>(1, workload_.segments.length(segment));
    Samples samples;
    for (int i = 0; i < kMaxFolds; ++i)
        (void)add(samples, segment, choose_fold(segment, length, i), i % 2 != 0, 1);
    if (const auto verdict = weigh(samples, actual, wide);
        !is_associative_ || (verdict.ratio > kGrossError && std::isfinite(verdict.ratio)))
        return verdict;
    for (const std::int64_t width : {16, 8, 32, 4, 64})
        for (std::int64_t first = 1; first <= std::min(width, length); ++first) {
            const auto seed = seed_ + static_cast<std::uint64_t>(width * kMostRunElements + first);
            const Fold fold{FoldOrder::runs, 1, mix_bits(seed), {width, first}};
            (void)add(samples, segment, fold, false, 1);
            (void)add(samples, segment, fold, true, 1);
            const auto verdict = weigh(samples, actual, wide);
            if (verdict.agrees)
                return verdict;
        }
    return weigh(samples, actual, wide);
}

}  // namespace segfold
