#pragma once
// The functions of the language over typed handles, and the constants of its types.
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "dsl/cpp/value.h"

namespace segfold {

/// Type of a plain number if nothing else decides its type. The number's width decides.
template <Plain N>
using PlainType = std::conditional_t<
    std::same_as<N, bool> || std::floating_point<N>, N,
    std::conditional_t<
        std::is_signed_v<N>,
        std::conditional_t<
            sizeof(N) == 1, std::int8_t,
            std::conditional_t<sizeof(N) == 2, std::int16_t,
                               std::conditional_t<sizeof(N) == 4, std::int32_t, std::int64_t>>>,
        std::conditional_t<
            sizeof(N) == 1, std::uint8_t,
            std::conditional_t<sizeof(N) == 2, std::uint16_t,
                               std::conditional_t<sizeof(N) == 4, std::uint32_t, std::uint64_t>>>>>;

/// An argument of a function: a value, or a plain number that stands beside a value.
template <class A>
concept ValueOrPlain = AnyValue<A> || Plain<A>;

/// Type of the first argument that is a Value; if all are plain numbers, the type of the first.
template <class... A>
struct CommonOf;
template <class A>
struct CommonOf<A> {
    static auto type()
    {
        if constexpr (AnyValue<A>)
            return std::type_identity<typename A::ScalarType>();
        else
            return std::type_identity<PlainType<A>>();
    }
};
template <class A, class B, class... Rest>
struct CommonOf<A, B, Rest...> {
    static auto type()
    {
        if constexpr (AnyValue<A> || (!AnyValue<B> && (!AnyValue<Rest> && ...)))
            return CommonOf<A>::type();
        else
            return CommonOf<B, Rest...>::type();
    }
};
template <class... A>
using Common = typename decltype(CommonOf<A...>::type())::type;

/// Makes a call of a function. The arguments have type `T`. The call has type `R`, which is `T` by default.
template <class T, class R = T, class... A>
Value<R> call_function(const char* function, const SourceLocation& at, const A&... arguments)
{
    return Value<R>(Terms::call(function, {Argument<T>(arguments, at).term()...}, kTypeOf<T>, place(at)));
}

/// Makes a call of a function with floating-point arguments.
template <class R = void, class... A>
auto call_real(const char* function, const SourceLocation& at, const A&... arguments)
{
    using T = Common<A...>;
    static_assert(RealType<T>,
                  "segfold: this function takes floating-point values; convert with cast<float>(x)");
    return call_function<T, std::conditional_t<std::is_void_v<R>, T, R>>(function, at, arguments...);
}

/// The lesser of two values. A number wins against NaN, and -0 is less than 0.
template <ValueOrPlain A, ValueOrPlain B>
requires(AnyValue<A> || AnyValue<B>) auto min(const A& a, const B& b,
                                              SourceLocation at = SourceLocation::current())
{
    static_assert(NumberType<Common<A, B>>, "segfold: min takes numbers, not bools");
    return call_function<Common<A, B>>("min", at, a, b);
}

/// The greater of two values. A number wins against NaN, and -0 is less than 0.
template <ValueOrPlain A, ValueOrPlain B>
requires(AnyValue<A> || AnyValue<B>) auto max(const A& a, const B& b,
                                              SourceLocation at = SourceLocation::current())
{
    static_assert(NumberType<Common<A, B>>, "segfold: max takes numbers, not bools");
    return call_function<Common<A, B>>("max", at, a, b);
}

/// The lesser of two handles of one kind. It is more specialised than std::min, so that calls stay
/// unambiguous under `using namespace std`.
template <template <class> class Handle, class T>
requires AnyValue<Handle<T>>
auto min(const Handle<T>& a, const Handle<T>& b, SourceLocation at = SourceLocation::current())
{
    return min<Handle<T>, Handle<T>>(a, b, at);
}

/// The greater of two handles of one kind. It is more specialised than std::max, so that calls stay
/// unambiguous under `using namespace std`.
template <template <class> class Handle, class T>
requires AnyValue<Handle<T>>
auto max(const Handle<T>& a, const Handle<T>& b, SourceLocation at = SourceLocation::current())
{
    return max<Handle<T>, Handle<T>>(a, b, at);
}

/// The magnitude; abs of the lowest integer is that integer.
template <AnyValue A>
auto abs(const A& x, SourceLocation at = SourceLocation::current())
{
    static_assert(NumberType<Common<A>>, "segfold: abs takes a number, not a bool");
    return call_function<Common<A>>("abs", at, x);
}

/// The square root.
template <AnyValue A>
auto sqrt(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("sqrt", at, x);
}

/// One over the square root.
template <AnyValue A>
auto rsqrt(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("rsqrt", at, x);
}

/// e to the power x.
template <AnyValue A>
auto exp(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("exp", at, x);
}

/// 2 to the power x.
template <AnyValue A>
auto exp2(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("exp2", at, x);
}

/// exp(x) - 1, accurate for small x.
template <AnyValue A>
auto expm1(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("expm1", at, x);
}

/// The natural logarithm.
template <AnyValue A>
auto log(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("log", at, x);
}

/// The logarithm to base 2.
template <AnyValue A>
auto log2(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("log2", at, x);
}

/// log(1 + x), accurate for small x.
template <AnyValue A>
auto log1p(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("log1p", at, x);
}

/// The sine of x radians.
template <AnyValue A>
auto sin(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("sin", at, x);
}

/// The cosine of x radians.
template <AnyValue A>
auto cos(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("cos", at, x);
}

/// The hyperbolic tangent.
template <AnyValue A>
auto tanh(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("tanh", at, x);
}

/// The greatest whole number that is not above x.
template <AnyValue A>
auto floor(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("floor", at, x);
}

/// The least whole number that is not below x.
template <AnyValue A>
auto ceil(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("ceil", at, x);
}

/// The nearest whole number; halves go away from zero.
template <AnyValue A>
auto round(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real("round", at, x);
}

/// x to the power y.
template <ValueOrPlain A, ValueOrPlain B>
requires(AnyValue<A> || AnyValue<B>) auto pow(const A& x, const B& y,
                                              SourceLocation at = SourceLocation::current())
{
    return call_real("pow", at, x, y);
}

/// The magnitude of x with the sign of y.
template <ValueOrPlain A, ValueOrPlain B>
requires(AnyValue<A> || AnyValue<B>) auto copysign(const A& x, const B& y,
                                                   SourceLocation at = SourceLocation::current())
{
    return call_real("copysign", at, x, y);
}

/// x * y + z, rounded once.
template <ValueOrPlain A, ValueOrPlain B, ValueOrPlain C>
requires(AnyValue<A> || AnyValue<B> || AnyValue<C>) auto fma(const A& x, const B& y, const C& z,
                                                             SourceLocation at = SourceLocation::current())
{
    return call_real("fma", at, x, y, z);
}

/// True for NaN.
template <AnyValue A>
Value<bool> isnan(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real<bool>("isnan", at, x);
}

/// True unless x is infinite or NaN.
template <AnyValue A>
Value<bool> isfinite(const A& x, SourceLocation at = SourceLocation::current())
{
    return call_real<bool>("isfinite", at, x);
}

/// The number of set bits.
template <AnyValue A>
Value<std::int32_t> popcount(const A& x, SourceLocation at = SourceLocation::current())
{
    static_assert(IntegerType<Common<A>>, "segfold: popcount takes an integer");
    return call_function<Common<A>, std::int32_t>("popcount", at, x);
}

/// The number of clear bits above the highest set bit; the full width for 0.
template <AnyValue A>
Value<std::int32_t> clz(const A& x, SourceLocation at = SourceLocation::current())
{
    static_assert(IntegerType<Common<A>>, "segfold: clz takes an integer");
    return call_function<Common<A>, std::int32_t>("clz", at, x);
}

/// `condition ? yes : no`. Only the chosen side is evaluated. If both sides are plain numbers, `yes` gives
/// the type.
template <AnyValue C, ValueOrPlain A, ValueOrPlain B>
auto select(const C& condition, const A& yes, const B& no, SourceLocation at = SourceLocation::current())
{
    using T = Common<A, B>;
    static_assert(std::same_as<Common<C>, bool>,
                  "segfold: select takes a bool first; compare with something to get one");
    return Value<T>(Terms::conditional(Argument<bool>(condition, at).term(), Argument<T>(yes, at).term(),
                                       Argument<T>(no, at).term(), kTypeOf<T>, place(at)));
}

/// `x` converted to T. Integers keep their low bits. Floating-point values round toward zero and saturate;
/// NaN gives 0.
template <ValueType T, ValueOrPlain A>
Value<T> cast(const A& x, SourceLocation at = SourceLocation::current())
{
    using From = Common<A>;
    const auto term = Argument<From>(x, at).term();
    return Value<T>(Terms::convert(kTypeOf<T>, term, Plain<A> ? kTypeOf<T> : kTypeOf<From>, place(at)));
}

/// The lowest finite value of a number type.
template <ValueType T>
Value<T> lowest(SourceLocation at = SourceLocation::current())
{
    static_assert(NumberType<T>, "segfold: lowest is of a number's type");
    return Value<T>(Terms::limit("lowest", kTypeOf<T>, place(at)));
}

/// The highest finite value of a number type.
template <ValueType T>
Value<T> highest(SourceLocation at = SourceLocation::current())
{
    static_assert(NumberType<T>, "segfold: highest is of a number's type");
    return Value<T>(Terms::limit("highest", kTypeOf<T>, place(at)));
}

/// The distance from 1 to the next number of a floating-point type.
template <ValueType T>
Value<T> epsilon(SourceLocation at = SourceLocation::current())
{
    static_assert(RealType<T>, "segfold: epsilon is of a floating-point type");
    return Value<T>(Terms::limit("epsilon", kTypeOf<T>, place(at)));
}

template <ValueType T>
Value<T> infinity(SourceLocation at = SourceLocation::current())
{
    static_assert(RealType<T>, "segfold: only floating-point types have infinity");
    return Value<T>(Terms::constant("inf", place(at)));
}

template <ValueType T>
Value<T> nan(SourceLocation at = SourceLocation::current())
{
    static_assert(RealType<T>, "segfold: only floating-point types have nan");
    return Value<T>(Terms::constant("nan", place(at)));
}

}  // namespace segfold
