#pragma once
// Every standard operator defined in C++, as briefly as in dsl/standard/*.seg.
#include <type_traits>

#include "dsl/cpp/define.h"

namespace segfold::in_cpp {

template <NumberType T>
Operator sum()
{
    return define("sum", Field<T>("sum", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(x);
        op.combine([](auto a, auto b) { return a + b; });
        op.commutative();
    });
}

template <NumberType T>
Operator product()
{
    return define("product", Field<T>("product", 1), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(x);
        op.combine([](auto a, auto b) { return a * b; });
        op.commutative();
    });
}

template <NumberType T>
Operator dot()
{
    return define("dot", Field<T>("sum", 0), [](auto& op) {
        Column<T> x(op, "x"), y(op, "y");
        op.lift(x * y);
        op.combine([](auto a, auto b) { return a + b; });
        op.commutative();
    });
}

template <ValueType T>
Operator count()
{
    return define("count", Field<std::int64_t>("n", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(1);
        op.combine([](auto a, auto b) { return a + b; });
        op.commutative();
    });
}

template <ValueType T>
Operator any()
{
    return define("any", Field<bool>("found", false), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(cast<bool>(x));
        op.combine([](auto a, auto b) { return a || b; });
        op.commutative().idempotent();
    });
}

template <ValueType T>
Operator all()
{
    return define("all", Field<bool>("holds", true), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(cast<bool>(x));
        op.combine([](auto a, auto b) { return a && b; });
        op.commutative().idempotent();
    });
}

template <ValueType T>
Operator keep_first()
{
    return define("keep_first", Field<T>("first"), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(x);
        op.combine([](auto a, auto) { return a; });
        op.idempotent();
    });
}

/// -inf, or the lowest integer.
template <NumberType T>
Value<T> below_all()
{
    if constexpr (RealType<T>)
        return -infinity<T>();
    else
        return lowest<T>();
}

/// inf, or the highest integer.
template <NumberType T>
Value<T> above_all()
{
    if constexpr (RealType<T>)
        return infinity<T>();
    else
        return highest<T>();
}

/// `x`, or `other` if x is NaN.
template <class T>
Value<T> unless_nan(const Value<T>& x, const Value<T>& other)
{
    if constexpr (RealType<T>)
        return select(isnan(x), other, x);
    else
        return x;
}

template <NumberType T>
Operator max()
{
    return define("max", Field<T>("greatest", below_all<T>()), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(unless_nan(x, below_all<T>()));
        op.combine([](auto a, auto b) { return segfold::max(a, b); });
        op.commutative().idempotent();
    });
}

template <NumberType T>
Operator min()
{
    return define("min", Field<T>("least", above_all<T>()), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(unless_nan(x, above_all<T>()));
        op.combine([](auto a, auto b) { return segfold::min(a, b); });
        op.commutative().idempotent();
    });
}

template <NumberType T>
struct Greatest : State {
    Field<T> value{"value", below_all<T>()};
    Field<std::int64_t> place{"place", highest<std::int64_t>()};
};

template <NumberType T>
struct Least : State {
    Field<T> value{"value", above_all<T>()};
    Field<std::int64_t> place{"place", highest<std::int64_t>()};
};

/// The value that `better(later, earlier)` prefers, and its index.
template <class S, NumberType T, class Better>
Operator argument_of(const char* name, const Value<T>& worst, Better better)
{
    return define<S>(name, [&](auto& op) {
        Column<T> x(op, "x");
        Result<T> value(op, "value");
        Result<std::int64_t> place(op, "index");
        op.lift([&](auto& s) {
            s.value = unless_nan(x, worst);
            if constexpr (RealType<T>)
                s.place = select(isnan(x), highest<std::int64_t>(), index());
            else
                s.place = index();
        });
        op.combine([&](auto a, auto b, auto& s) {
            auto later = let("later", better(b.value, a.value) || (b.value == a.value && b.place < a.place));
            s.value = select(later, b.value, a.value);
            s.place = select(later, b.place, a.place);
        });
        op.append([&](auto a, auto& s) {
            auto ties = x == a.value && a.place == highest<std::int64_t>();
            auto later = let("later", better(x, a.value) || ties);
            s.value = select(later, x, a.value);
            s.place = select(later, index(), a.place);
        });
        op.finish([&](auto s) {
            value = s.value;
            place = s.place;
        });
        op.commutative().idempotent();
    });
}

template <NumberType T>
Operator argmax()
{
    return argument_of<Greatest<T>>("argmax", below_all<T>(), [](auto b, auto a) { return b > a; });
}

template <NumberType T>
Operator argmin()
{
    return argument_of<Least<T>>("argmin", above_all<T>(), [](auto b, auto a) { return b < a; });
}

template <NumberType T>
struct Map : State {
    Field<T> scale{"scale", 1}, shift{"shift", 0};
};

template <NumberType T>
Operator affine()
{
    return define<Map<T>>("affine", [](auto& op) {
        Column<T> scale(op, "scale"), shift(op, "shift");
        op.lift([&](auto& s) {
            s.scale = scale;
            s.shift = shift;
        });
        op.combine([](auto a, auto b, auto& s) {
            s.scale = a.scale * b.scale;
            s.shift = a.shift * b.scale + b.shift;
        });
    });
}

template <NumberType T>
struct Mean : State {
    Field<T> sum{"sum", 0};
    Field<std::int64_t> n{"n", 0};
};

/// An integer as an i64; any other `x` unchanged.
template <class T>
auto widened(const Value<T>& x)
{
    if constexpr (RealType<T>)
        return x;
    else
        return cast<std::int64_t>(x);
}

template <NumberType T>
using Widened = std::conditional_t<RealType<T>, T, std::int64_t>;

/// `x` converted to the type in which many values are added up, if that is another type.
template <RealType T>
auto as_acc(const Value<T>& x)
{
    if constexpr (std::is_same_v<Acc<T>, T>)
        return x;
    else
        return cast<Acc<T>>(x);
}

/// `x`, which has the type in which many values are added up, converted to T.
template <RealType T>
auto from_acc(const Value<Acc<T>>& x)
{
    if constexpr (std::is_same_v<Acc<T>, T>)
        return x;
    else
        return cast<T>(x);
}

/// `x` converted to the type in which its mean is summed.
template <NumberType T>
auto for_mean(const Value<T>& x)
{
    if constexpr (RealType<T>)
        return as_acc(x);
    else if constexpr (sizeof(T) == 8)
        return cast<double>(x);
    else
        return cast<std::int64_t>(x);
}

template <NumberType T>
using SumForMean =
    std::conditional_t<RealType<T>, Acc<T>, std::conditional_t<sizeof(T) == 8, double, std::int64_t>>;

template <NumberType T>
Operator mean()
{
    return define<Mean<SumForMean<T>>>("mean", [](auto& op) {
        Column<T> x(op, "x");
        op.lift([&](auto& s) {
            s.sum = for_mean<T>(x);
            s.n = 1;
        });
        op.combine([](auto a, auto b, auto& s) {
            s.sum = a.sum + b.sum;
            s.n = a.n + b.n;
        });
        op.finish([](auto s) { return cast<double>(s.sum) / cast<double>(s.n); });
        op.empty(nan<double>());
        op.commutative();
    });
}

template <RealType T>
struct Moments : State {
    Field<std::int64_t> n{"n", 0};
    Field<Acc<T>> mean{"mean", 0}, m2{"m2", 0};
};

template <RealType T>
Operator welford_mean_variance()
{
    return define<Moments<T>>("welford_mean_variance", [](auto& op) {
        Column<T> x(op, "x");
        Result<T> mean(op, "mean"), variance(op, "variance");
        op.lift([&](auto& s) {
            s.n = 1;
            s.mean = as_acc<T>(x);
            s.m2 = 0;
        });
        op.combine([](auto a, auto b, auto& s) {
            auto total = let("total", a.n + b.n);
            auto delta = let("delta", b.mean - a.mean);
            auto share = let("share", cast<Acc<T>>(b.n) / cast<Acc<T>>(total));
            auto merged = a.m2 + b.m2 + delta * delta * cast<Acc<T>>(a.n) * share;
            s.n = total;
            s.mean = select(a.n == 0, b.mean, select(b.n == 0, a.mean, a.mean + delta * share));
            s.m2 = select(a.n == 0, b.m2, select(b.n == 0, a.m2, merged));
        });
        op.append([&](auto a, auto& s) {
            auto total = let("total", a.n + 1);
            auto delta = let("delta", as_acc<T>(x) - a.mean);
            auto step = let("step", delta * (1 / cast<Acc<T>>(total)));
            s.n = total;
            s.mean = a.mean + step;
            s.m2 = select(a.n == 0, 0.0, a.m2 + delta * (delta - step));
        });
        op.finish([&](auto s) {
            mean = from_acc<T>(select(isfinite(s.mean), s.mean, nan<Acc<T>>()));
            variance = from_acc<T>(select(isfinite(s.mean), s.m2 / cast<Acc<T>>(s.n), nan<Acc<T>>()));
        });
        op.empty([&] {
            mean = nan<T>();
            variance = nan<T>();
        });
        op.commutative();
    });
}

template <RealType T>
struct Exponentials : State {
    Field<Acc<T>> greatest{"greatest", -infinity<Acc<T>>()}, sum{"sum", 0};
};

template <RealType T>
Operator log_sum_exp()
{
    return define<Exponentials<T>>("log_sum_exp", [](auto& op) {
        Column<T> x(op, "x");
        op.lift([&](auto& s) {
            s.greatest = select(isnan(x), -infinity<Acc<T>>(), as_acc<T>(x));
            s.sum = select(isnan(x), nan<Acc<T>>(), 1);
        });
        op.combine([](auto a, auto b, auto& s) {
            auto top = let("top", segfold::max(a.greatest, b.greatest));
            auto left = let("left", select(a.greatest == top, a.sum, a.sum * exp(a.greatest - top)));
            auto right = let("right", select(b.greatest == top, b.sum, b.sum * exp(b.greatest - top)));
            s.greatest = top;
            s.sum = left + right;
        });
        op.finish([](auto s) { return from_acc<T>(s.greatest + log(s.sum)); });
        op.commutative();
    });
}

template <NumberType T>
struct Subarray : State {
    Field<T> total{"total", 0}, best{"best", 0}, prefix{"prefix", 0}, suffix{"suffix", 0};
};

template <NumberType T>
Operator max_subarray()
{
    return define<Subarray<Widened<T>>>("max_subarray", [](auto& op) {
        using segfold::max;
        Column<T> x(op, "x");
        op.lift([&](auto& s) {
            s.total = widened(x);
            s.best = max(widened(x), 0);
            s.prefix = max(widened(x), 0);
            s.suffix = max(widened(x), 0);
        });
        op.combine([](auto a, auto b, auto& s) {
            s.total = a.total + b.total;
            s.best = max(max(a.best, b.best), a.suffix + b.prefix);
            s.prefix = max(a.prefix, a.total + b.prefix);
            s.suffix = max(b.suffix, a.suffix + b.total);
        });
        op.finish([](auto s) { return s.best; });
    });
}

struct Hash : State {
    Field<std::uint64_t> hash{"hash", 0}, power{"power", 1};
};

template <IntegerType T>
Operator trace()
{
    return define<Hash>("trace", [](auto& op) {
        Column<T> x(op, "x");
        op.lift([&](auto& s) {
            s.hash = (cast<std::uint64_t>(x) ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
            s.power = 0xd1342543de82ef95u;
        });
        op.combine([](auto a, auto b, auto& s) {
            s.hash = a.hash * b.power + b.hash;
            s.power = a.power * b.power;
        });
    });
}

}  // namespace segfold::in_cpp
