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
            s.greatest = select(isnan(x), -infinity<Acc<T>>(), as_acc<T>(x));
            s.sum = select(isnan(x), nan<Acc<T>>(), 1);
        });
        op.combine(join_exponentials<T>());
        op.append([&](Exponentials<T> a, auto& s) {
            auto ahead = let("ahead", as_acc<T>(x) - a.greatest);
            auto scale = let("scale", exp(-segfold::abs(ahead)));
            s.greatest = segfold::max(a.greatest, as_acc<T>(x));
            s.sum =
                select(ahead > 0, a.sum * scale + 1, a.sum + select(as_acc<T>(x) == a.greatest, 1, scale));
        });
        op.map([&](Exponentials<T> s) {
            auto share = let("share", 1 / s.sum);
            return from_acc<T>(exp(as_acc<T>(x) - s.greatest) * share);
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
            s.greatest = select(isnan(x), -infinity<Acc<T>>(), as_acc<T>(x));
            s.sum = select(isnan(x), nan<Acc<T>>(), 1);
        });
        op.combine(join_exponentials<T>());
        op.append([&](Exponentials<T> a, auto& s) {
            auto ahead = let("ahead", as_acc<T>(x) - a.greatest);
            auto scale = let("scale", exp(-segfold::abs(ahead)));
            s.greatest = segfold::max(a.greatest, as_acc<T>(x));
            s.sum =
                select(ahead > 0, a.sum * scale + 1, a.sum + select(as_acc<T>(x) == a.greatest, 1, scale));
        });
        op.map([&](Exponentials<T> s) {
            auto share = let("share", log(s.sum));
            return from_acc<T>(as_acc<T>(x) - s.greatest - share);
        });
        op.commutative();
    });
}

template <RealType T>
Operator softmax_backward()
{
    return define("softmax_backward", Field<Acc<T>>("total", 0), [](auto& op) {
        Column<T> y(op, "y"), gradient(op, "gradient");
        op.lift(as_acc<T>(y) * as_acc<T>(gradient));
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto total) { return from_acc<T>(as_acc<T>(y) * (as_acc<T>(gradient) - total)); });
        op.commutative();
    });
}

template <RealType T>
Operator centre()
{
    return define("centre", Field<Acc<T>>("sum", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(as_acc<T>(x));
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto sum) { return from_acc<T>(as_acc<T>(x) - sum / cast<Acc<T>>(length())); });
        op.commutative();
    });
}

template <RealType T>
struct MeanInTwoParts : State {
    Field<std::int64_t> n{"n", 0};
    Field<Acc<T>> mean{"mean", 0}, low{"low", 0}, m2{"m2", 0}, sum{"sum", 0};
};

template <RealType T>
Operator standardise()
{
    return define<MeanInTwoParts<T>>("standardise", [](auto& op) {
        Column<T> x(op, "x");
        Result<Acc<T>> mean(op, "mean"), scale(op, "scale");
        Each<T> result(op, "result");
        constexpr double kShrunk = 5.421010862427522e-20;
        op.lift([&](auto& s) {
            s.n = 1;
            s.mean = as_acc<T>(x);
            s.low = 0;
            s.m2 = 0;
            s.sum = as_acc<T>(x) * kShrunk;
        });
        op.combine([](auto a, auto b, auto& s) {
            auto total = let("total", a.n + b.n);
            auto delta = let("delta", (b.mean - a.mean) + (b.low - a.low));
            auto step = let("step", delta * (cast<Acc<T>>(b.n) * (1 / cast<Acc<T>>(total))));
            auto next = let("next", a.mean + step);
            s.n = total;
            s.mean = select(a.n == 0, b.mean, select(b.n == 0, a.mean, next));
            s.low = select(a.n == 0, b.low, select(b.n == 0, a.low, a.low + (step - (next - a.mean))));
            s.m2 = select(a.n == 0, b.m2,
                          select(b.n == 0, a.m2, a.m2 + b.m2 + delta * (step * cast<Acc<T>>(a.n))));
            s.sum = a.sum + b.sum;
        });
        op.append([&](auto a, auto& s) {
            auto total = let("total", a.n + 1);
            auto delta = let("delta", (as_acc<T>(x) - a.mean) - a.low);
            auto step = let("step", delta * (1 / cast<Acc<T>>(total)));
            auto next = let("next", a.mean + step);
            s.n = total;
            s.mean = next;
            s.low = a.low + (step - (next - a.mean));
            s.m2 = a.m2 + delta * (delta - step);
            s.sum = a.sum + as_acc<T>(x) * kShrunk;
        });
        op.finish([&](auto s) {
            auto variance = let("variance", s.m2 / cast<Acc<T>>(s.n));
            auto in_range = variance >= 4 / highest<Acc<T>>() && variance <= highest<Acc<T>>();
            mean = select(isfinite(s.mean) && isfinite(s.low), s.mean + s.low,
                          s.sum / cast<Acc<T>>(s.n) * 1.8446744073709552e19);
            scale =
                select(s.m2 == 0 && isfinite(s.mean), 0, select(in_range, 1 / sqrt(variance), nan<Acc<T>>()));
        });
        op.empty([&] {
            mean = nan<Acc<T>>();
            scale = nan<Acc<T>>();
        });
        op.map([&] {
            result = select(scale() == 0 && as_acc<T>(x) != mean(), nan<T>(),
                            from_acc<T>((as_acc<T>(x) - mean()) * scale()));
        });
        op.commutative();
    });
}

template <RealType T>
Operator normalise()
{
    return define("normalise", Field<Acc<T>>("squares", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(as_acc<T>(x) * as_acc<T>(x));
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto squares) {
            auto in_range = squares >= 4 / highest<Acc<T>>() && squares <= highest<Acc<T>>();
            return select(in_range, from_acc<T>(as_acc<T>(x) / sqrt(squares)),
                          select(squares == 0 && x == 0, 0, nan<T>()));
        });
        op.commutative();
    });
}

template <RealType T>
Operator share()
{
    return define("share", Field<Acc<T>>("sum", 0), [](auto& op) {
        Column<T> x(op, "x");
        op.lift(as_acc<T>(x));
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto sum) { return select(isfinite(sum), from_acc<T>(as_acc<T>(x) / sum), nan<T>()); });
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
            auto by = let("by", select(s.greatest - s.least == infinity<T>(), Value<T>(0.5), 1.0));
            auto within = let("within", (x * by - s.least * by) / (s.greatest * by - s.least * by));
            return select(isnan(x), nan<T>(), select(s.greatest == s.least, 0, within));
        });
        op.commutative().idempotent();
    });
}

}  // namespace segfold::in_cpp
