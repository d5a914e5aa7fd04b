#pragma once
// Typed handles over expressions, for operators written in C++.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <version>

#ifdef __cpp_lib_source_location
#include <source_location>
#endif

#include "dsl/expression.h"

namespace segfold {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else
/// The part of std::source_location that the language uses. Clang before 16 lacks the original when it uses
/// GCC's library.
class SourceLocation {
public:
    /// As a default argument, returns the place of the call.
    static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                            std::uint_least32_t line = __builtin_LINE(),
                                            std::uint_least32_t column = __builtin_COLUMN())
    {
        SourceLocation here;
        here.file_ = file;
        here.line_ = line;
        here.column_ = column;
        return here;
    }
    [[nodiscard]] constexpr const char* file_name() const { return file_; }
    [[nodiscard]] constexpr std::uint_least32_t line() const { return line_; }
    [[nodiscard]] constexpr std::uint_least32_t column() const { return column_; }

private:
    const char* file_ = "";
    std::uint_least32_t line_ = 0;
    std::uint_least32_t column_ = 0;
};
#endif

/// A number of IEEE binary16, kept as its bits. C++ name of f16.
struct half {
    std::uint16_t bits = 0;
};

/// A number of bfloat16, kept as its bits. C++ name of bf16.
struct bfloat16 {
    std::uint16_t bits = 0;
};

/// Index of `T` in kTypes; -1 if the language has no such type.
template <class T>
inline constexpr int kTypeNumber = -1;
template <>
inline constexpr int kTypeNumber<bool> = static_cast<int>(Type::boolean);
template <>
inline constexpr int kTypeNumber<std::int8_t> = static_cast<int>(Type::i8);
template <>
inline constexpr int kTypeNumber<std::int16_t> = static_cast<int>(Type::i16);
template <>
inline constexpr int kTypeNumber<std::int32_t> = static_cast<int>(Type::i32);
template <>
inline constexpr int kTypeNumber<std::int64_t> = static_cast<int>(Type::i64);
template <>
inline constexpr int kTypeNumber<std::uint8_t> = static_cast<int>(Type::u8);
template <>
inline constexpr int kTypeNumber<std::uint16_t> = static_cast<int>(Type::u16);
template <>
inline constexpr int kTypeNumber<std::uint32_t> = static_cast<int>(Type::u32);
template <>
inline constexpr int kTypeNumber<std::uint64_t> = static_cast<int>(Type::u64);
template <>
inline constexpr int kTypeNumber<half> = static_cast<int>(Type::f16);
template <>
inline constexpr int kTypeNumber<bfloat16> = static_cast<int>(Type::bf16);
template <>
inline constexpr int kTypeNumber<float> = static_cast<int>(Type::f32);
template <>
inline constexpr int kTypeNumber<double> = static_cast<int>(Type::f64);

/// A C++ type for which the language has a type.
template <class T>
concept ValueType = (kTypeNumber<T> != -1);

/// The language's name for `T`.
template <ValueType T>
inline constexpr Type kTypeOf = static_cast<Type>(kTypeNumber<T>);

template <class T>
concept RealType = ValueType<T> && is_float(kTypeOf<T>);
template <class T>
concept IntegerType = ValueType<T> && is_integer(kTypeOf<T>);
template <class T>
concept NumberType = RealType<T> || IntegerType<T>;

/// The type for sums of many values of `T`: float for half and bfloat16, else `T` itself.
template <ValueType T>
using Acc = std::conditional_t<accumulator_type(kTypeOf<T>) == kTypeOf<T>, T, float>;

/// A C++ number or truth value. Where a Value is expected, it becomes a literal. Character types do not
/// count.
template <class N>
concept Plain = (std::integral<N> || std::floating_point<N>)&&!std::same_as<N, char> &&
                !std::same_as<N, wchar_t> && !std::same_as<N, char8_t> && !std::same_as<N, char16_t> &&
                !std::same_as<N, char32_t> && !std::same_as<N, long double>;

/// The part of a definition to which a handle belongs. It is the definition itself if `definition` is null.
struct Home {
    std::string op;    ///< the operator's name
    std::string part;  ///< such as "lift"; empty for handles of no part: columns, tables, results
    std::shared_ptr<const Home> definition;
};

using HomePointer = std::shared_ptr<const Home>;

/// Converts a C++ source location to a Position.
inline Position place(const SourceLocation& at)
{
    return {static_cast<int>(at.line()), static_cast<int>(at.column()), 1, at.file_name()};
}

/// The content of a Value, except its type.
struct Term {
    Expression expression;  ///< null: the handle can be set but not read
    HomePointer home;       ///< null: the term is made of plain numbers
    bool untyped = false;   ///< made of plain numbers alone, which take their type from the context
    std::string name = {};  ///< name of a handle that may be set; else empty
};

/// Combines terms into terms. Every function throws SpecError if the terms belong to different definitions or
/// parts.
struct Terms {
    static Term truth(bool value, Position at);
    static Term integer(std::int64_t value, Position at);
    static Term integer(std::uint64_t value, Position at);
    static Term real(double value, Position at);
    /// Makes the shortest decimal number that rounds to `value` as a float: 0.1f becomes 0.1, as in the text
    /// form.
    static Term short_real(float value, Position at);
    static Term constant(const char* name, Position at);
    static Term limit(const char* name, Type type, Position at);

    /// Returns `term` with the source position `at`. Throws SpecError if the term may only be set, or was
    /// moved from.
    static Term read(const Term& term, Position at);
    /// Throws SpecError because a handle is used after it was moved from.
    [[noreturn]] static void refuse_moved(const char* what, Position at);
    /// Makes `SYMBOL argument`. `type` is the type of the argument.
    static Term unary(const char* symbol, const Term& argument, Type type, Position at);
    /// Makes `left SYMBOL right`. `type` is the type of both operands.
    static Term binary(const char* symbol, const Term& left, const Term& right, Type type, Position at);
    /// Makes `condition ? yes : no`. `type` is the type of `yes` and `no`.
    static Term conditional(const Term& condition, const Term& yes, const Term& no, Type type, Position at);
    /// Makes a call of `function`. `type` is the type of the arguments.
    static Term call(const char* function, std::initializer_list<Term> arguments, Type type, Position at);
    static Term gather(const Term& table, const Term& index, Position at);
    static Term convert(Type to, const Term& argument, Type from, Position at);
    /// Returns `term` as an expression that states its type.
    static Term stated(const Term& term, Type type);
};

template <ValueType T>
class Value;

/// True for Value<T> and classes derived from it, such as fields and columns.
template <class A>
concept AnyValue = requires
{
    typename A::ScalarType;
}
&&std::derived_from<A, Value<typename A::ScalarType>>;

/// A Value<T>, or a plain number in its place, together with the source line.
template <ValueType T>
class Argument {
public:
    Argument(const Value<T>& value, SourceLocation at = SourceLocation::current())
        : position_(place(at)), term_(Terms::read(value.term(), position_))
    {}

    template <Plain N>
    Argument(N number, SourceLocation at = SourceLocation::current()) : position_(place(at))
    {
        if constexpr (std::same_as<N, bool>) {
            static_assert(std::same_as<T, bool>, "segfold: true and false are no numbers; write 1 or 0");
            term_ = Terms::truth(number, position_);
        } else if constexpr (std::floating_point<N>) {
            static_assert(RealType<T>,
                          "segfold: a number with a fraction stands where an integer or a bool belongs");
            if constexpr (std::same_as<N, float> && !std::same_as<T, double>)
                term_ = Terms::short_real(number, position_);
            else
                term_ = Terms::real(static_cast<double>(number), position_);
        } else {
            static_assert(!std::same_as<T, bool>, "segfold: a number is no bool; write true or false");
            using Wide = std::conditional_t<std::is_signed_v<N>, std::int64_t, std::uint64_t>;
            term_ = Terms::integer(static_cast<Wide>(number), position_);
        }
    }

    template <class U>
    requires(!std::same_as<U, T>) Argument(const Value<U>& /*value*/, SourceLocation /*at*/ = {})
    {
        static_assert(std::same_as<U, T>,
                      "segfold: the value is of another type than its place; convert it with cast<T>(x)");
    }

    [[nodiscard]] const Term& term() const { return term_; }
    [[nodiscard]] Position position() const { return position_; }

private:
    Position position_;
    Term term_;
};

/// A value that the operator will compute from columns, fields or other values.
///
/// `T` is bool, std::int8_t to std::int64_t, std::uint8_t to std::uint64_t, float, double, half or bfloat16.
/// Both operands of an operation have one type, or one of them is a plain number. Comparisons such as `==`
/// return a `Value<bool>`, not a bool.
template <ValueType T>
class Value {
public:
    using ScalarType = T;

    explicit Value(Term term) : term_(std::move(term)) {}
    /// Makes a value of a plain number.
    Value(const Argument<T>& number) : term_(number.term()) {}
    [[nodiscard]] const Term& term() const { return term_; }

    friend Value operator+(const Argument<T>& a, const Argument<T>& b) { return arithmetic("+", a, b); }
    friend Value operator-(const Argument<T>& a, const Argument<T>& b) { return arithmetic("-", a, b); }
    friend Value operator*(const Argument<T>& a, const Argument<T>& b) { return arithmetic("*", a, b); }
    friend Value operator/(const Argument<T>& a, const Argument<T>& b) { return arithmetic("/", a, b); }
    friend Value operator%(const Argument<T>& a, const Argument<T>& b) { return of_integers("%", a, b); }
    friend Value operator<<(const Argument<T>& a, const Argument<T>& b) { return of_integers("<<", a, b); }
    friend Value operator>>(const Argument<T>& a, const Argument<T>& b) { return of_integers(">>", a, b); }
    friend Value operator&(const Argument<T>& a, const Argument<T>& b) { return bitwise("&", a, b); }
    friend Value operator|(const Argument<T>& a, const Argument<T>& b) { return bitwise("|", a, b); }
    friend Value operator^(const Argument<T>& a, const Argument<T>& b) { return bitwise("^", a, b); }
    friend Value<bool> operator==(const Argument<T>& a, const Argument<T>& b) { return truth("==", a, b); }
    friend Value<bool> operator!=(const Argument<T>& a, const Argument<T>& b) { return truth("!=", a, b); }
    friend Value<bool> operator<(const Argument<T>& a, const Argument<T>& b) { return order("<", a, b); }
    friend Value<bool> operator<=(const Argument<T>& a, const Argument<T>& b) { return order("<=", a, b); }
    friend Value<bool> operator>(const Argument<T>& a, const Argument<T>& b) { return order(">", a, b); }
    friend Value<bool> operator>=(const Argument<T>& a, const Argument<T>& b) { return order(">=", a, b); }
    friend Value<bool> operator&&(const Argument<T>& a, const Argument<T>& b) { return logical("&&", a, b); }
    friend Value<bool> operator||(const Argument<T>& a, const Argument<T>& b) { return logical("||", a, b); }

    friend Value operator-(const Argument<T>& a)
    {
        static_assert(NumberType<T>, "segfold: '-' takes a number");
        return Value(Terms::unary("-", a.term(), kTypeOf<T>, a.position()));
    }
    friend Value operator!(const Argument<T>& a)
    {
        static_assert(std::same_as<T, bool>, "segfold: '!' takes a bool; compare with something to get one");
        return Value(Terms::unary("!", a.term(), kTypeOf<T>, a.position()));
    }
    friend Value operator~(const Argument<T>& a)
    {
        static_assert(IntegerType<T>, "segfold: '~' takes an integer");
        return Value(Terms::unary("~", a.term(), kTypeOf<T>, a.position()));
    }

private:
    static Term binary(const char* symbol, const Argument<T>& a, const Argument<T>& b)
    {
        return Terms::binary(symbol, a.term(), b.term(), kTypeOf<T>, a.position());
    }
    static Value arithmetic(const char* symbol, const Argument<T>& a, const Argument<T>& b)
    {
        static_assert(NumberType<T>, "segfold: '+ - * /' take numbers, not bools");
        return Value(binary(symbol, a, b));
    }
    static Value of_integers(const char* symbol, const Argument<T>& a, const Argument<T>& b)
    {
        static_assert(IntegerType<T>, "segfold: '% << >>' take integers");
        return Value(binary(symbol, a, b));
    }
    static Value bitwise(const char* symbol, const Argument<T>& a, const Argument<T>& b)
    {
        static_assert(!RealType<T>, "segfold: '& | ^' take integers or bools");
        return Value(binary(symbol, a, b));
    }
    static Value<bool> truth(const char* symbol, const Argument<T>& a, const Argument<T>& b)
    {
        return Value<bool>(binary(symbol, a, b));
    }
    static Value<bool> order(const char* symbol, const Argument<T>& a, const Argument<T>& b)
    {
        static_assert(NumberType<T>,
                      "segfold: '< <= > >=' take numbers; comparisons do not chain, write a < b && b < c");
        return truth(symbol, a, b);
    }
    static Value<bool> logical(const char* symbol, const Argument<T>& a, const Argument<T>& b)
    {
        static_assert(std::same_as<T, bool>,
                      "segfold: '&& ||' take bools; compare with something to get one");
        return truth(symbol, a, b);
    }

    Term term_;
};

namespace detail {

/// Refuses operands of different types at compile time.
template <class L, class R>
Value<L> refuse_mixed(const Value<L>& left)
{
    static_assert(std::same_as<L, R>,
                  "segfold: the operands are of different types; convert one of them with cast<T>(x)");
    return left;
}

template <class L, class R>
concept Mixed = !std::same_as<L, R>;

}  // namespace detail

template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator+(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator-(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator*(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator/(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator%(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator<<(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator>>(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator&(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator|(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator^(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator==(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator!=(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator<(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator<=(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator>(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator>=(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator&&(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }
template <class L, class R>
requires detail::Mixed<L, R> Value<L>
operator||(const Value<L>& a, const Value<R>& /*b*/) { return detail::refuse_mixed<L, R>(a); }

}  // namespace segfold
