#pragma once
// The standard operators that write back, defined in C++.
#include "dsl/cpp/define.h"
#include "tests/dsl/cpp/standard_in_cpp.h"

namespace segfold::in_cpp {

template <RealType T>
auto join_exponentials()
{
    return [](auto a, auto b, auto& s) {
        auto ahead = let("ahead", b.greatest - a.greatest);
        auto scale = let("scale", exp(segfold::min(select(ahead > 0, -ahead, ahead), 0)));
        s.greatest = segfold::max(a.greatest, b.greatest);
        s.sum = select(ahead > 0, a.sum * scale + b.sum, a.sum + b.sum * scale);
    };
}

template <RealType T>
Operator softmax()
{
    return define<Exponentials<T>>("softmax", [](auto& op) {
        Column<T> x(op, "x");
        op.lift([&](auto& s) {
            s.greatest = select(isnan(x), -infinity<T>(), x);
            s.sum = select(isnan(x), nan<T>(), 1);
        });
        op.combine(join_exponentials<T>());
        op.map([&](Exponentials<T> s) {
            auto share = let("share", 1 / s.sum);
            return exp(x - s.greatest) * share;
        });
        op.commutative();
    });
}

template <RealType T>
Operator log_softmax()
{
    return define<Exponentials<T>>("log_softmax", [](auto& op) {
        Column<T> x(op, "x");
        op.lift([&](auto& s) {
            s.greatest = select(isnan(x), -infinity<T>(), x);
            s.sum = select(isnan(x), nan<T>(), 1);
        });
        op.combine(join_exponentials<T>());
        op.map([&](Exponentials<T> s) {
            auto share = let("share", log(s.sum));
            return x - s.greatest - share;
        });
        op.commutative();
    });
}

template <RealType T>
Operator softmax_backward()
{
    return define("softmax_backward", Field<T>("total", 0), [](auto& op) {
        Column<T> y(op, "y"), gradient(op, "gradient");
        op.lift(y * gradient);
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto total) { return y * (gradient - total); });
        op.commutative();
    });
}

template <RealType T>
Operator centre()
{
    return define("centre", Field<T>("sum", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(x);
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto sum) { return x - sum / cast<T>(length()); });
        op.commutative();
    });
}

template <RealType T>
Operator standardise()
{
    return define<Moments<T>>("standardise", [](auto& op) {
        Column<T> x(op, "x");
        Result<T> mean(op, "mean"), scale(op, "scale");
        Each<T> result(op, "result");
        op.lift([&](auto& s) {
            s.n = 1;
            s.mean = x;
            s.m2 = 0;
        });
        op.combine([](auto a, auto b, auto& s) {
            auto total = let("total", a.n + b.n);
            auto delta = let("delta", b.mean - a.mean);
            auto share = let("share", cast<T>(b.n) / cast<T>(total));
            s.n = total;
            s.mean = select(a.n == 0, b.mean, select(b.n == 0, a.mean, a.mean + delta * share));
            s.m2 = select(a.n == 0, b.m2,
                          select(b.n == 0, a.m2, a.m2 + b.m2 + delta * delta * cast<T>(a.n) * share));
        });
        op.finish([&](auto s) {
            mean = s.mean;
            scale = select(s.m2 == 0, 0, 1 / sqrt(s.m2 / cast<T>(s.n)));
        });
        op.empty([&] {
            mean = nan<T>();
            scale = nan<T>();
        });
        op.map([&] { result = (x - mean()) * scale(); });
        op.commutative();
    });
}

template <RealType T>
Operator normalise()
{
    return define("normalise", Field<T>("squares", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(x * x);
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto squares) { return select(squares == 0, 0, x / sqrt(squares)); });
        op.commutative();
    });
}

template <RealType T>
Operator share()
{
    return define("share", Field<T>("sum", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(x);
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto sum) { return x / sum; });
        op.commutative();
    });
}

template <RealType T>
struct Extremes : State {
    Field<T> least{"least", infinity<T>()}, greatest{"greatest", -infinity<T>()};
};

template <RealType T>
Operator rescale()
{
    return define<Extremes<T>>("rescale", [](auto& op) {
        Column<T> x(op, "x");
        op.lift([&](auto& s) {
            s.least = select(isnan(x), infinity<T>(), x);
            s.greatest = select(isnan(x), -infinity<T>(), x);
        });
        op.combine([](auto a, auto b, auto& s) {
            s.least = segfold::min(a.least, b.least);
            s.greatest = segfold::max(a.greatest, b.greatest);
        });
        op.map([&](auto s) {
            return select(isnan(x), nan<T>(),
                          select(s.greatest == s.least, 0, (x - s.least) / (s.greatest - s.least)));
        });
        op.commutative().idempotent();
    });
}

}  // namespace segfold::in_cpp
