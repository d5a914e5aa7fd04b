#pragma once
// Defines operators in C++ from typed states, columns, tables and results.
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "dsl/cpp/functions.h"
#include "dsl/cpp/handles.h"

namespace segfold {

/// An operator under definition. `S` is its state, or the type of its only field.
template <class S>
class Definition : public Recorder {
public:
    static constexpr bool kOneField = ValueType<S>;

    Definition(std::string name, SourceLocation at) : Recorder(std::move(name), place(at))
    {
        if constexpr (!kOneField) {
            static_assert(std::derived_from<S, State>,
                          "segfold: define<S> takes a state: struct S : segfold::State { ... }");
            const Making making(*this);
            const S declared;
        }
    }
    Definition(std::string name, const StateField& field, SourceLocation at)
        : Recorder(std::move(name), place(at))
    {
        add_field(field);
    }

    /// Defines lift, which turns one element into a state. `body` sets every field of `s`, or returns the
    /// value of the only field.
    ///
    ///     op.lift([&](Moments& s) { s.n = 1; s.mean = x; s.m2 = 0; });
    ///     op.lift(x);
    template <class Body>
    Definition& lift(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::lift, place(at));
        if constexpr (ValueOrPlain<Body>) {
            static_assert(kOneField,
                          "segfold: lift of a state sets its fields: op.lift([&](auto& s) { ... })");
            if constexpr (kOneField)
                give_field(recording, body, at);
        } else if constexpr (kOneField) {
            static_assert(std::is_invocable_v<const Body&>,
                          "segfold: lift of one field takes no argument: op.lift([&] { return x; })");
            if constexpr (std::is_invocable_v<const Body&>)
                give_field_of(recording, at, body);
        } else {
            static_assert(std::is_invocable_v<const Body&, S&>,
                          "segfold: lift takes the state that it sets: op.lift([&](auto& s) { ... })");
            auto s = make_state(recording, {});
            if constexpr (std::is_invocable_v<const Body&, S&>)
                body(s);
        }
        return *this;
    }

    /// Defines combine, which joins two neighbouring states. The first operand always covers the earlier
    /// elements.
    ///
    ///     op.combine([](Moments a, Moments b, Moments& s) { s.n = a.n + b.n; ... });
    ///     op.combine([](auto a, auto b) { return a + b; });  // one field; several: return a or b
    template <class Body>
    Definition& combine(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::combine, place(at));
        if constexpr (kOneField) {
            constexpr bool fits = std::is_invocable_v<const Body&, Value<S>, Value<S>>;
            static_assert(fits,
                          "segfold: combine of one field takes two values: op.combine([](auto a, auto b) { "
                          "return a + b; })");
            if constexpr (fits)
                give_field_of(recording, at, body, Value<S>(recording.field(Operand::earlier)),
                              Value<S>(recording.field(Operand::later)));
        } else if constexpr (std::is_invocable_v<const Body&, S, S>) {
            const auto whole =
                body(make_state(recording, Operand::earlier), make_state(recording, Operand::later));
            static_assert(std::same_as<std::remove_cv_t<decltype(whole)>, S>,
                          "segfold: combine of two states returns one of them, or sets a third: "
                          "op.combine([](auto a, auto b, auto& s) { ... })");
            if constexpr (std::same_as<std::remove_cv_t<decltype(whole)>, S>)
                recording.give(whole, place(at));
        } else {
            constexpr bool fits = std::is_invocable_v<const Body&, S, S, S&>;
            static_assert(fits,
                          "segfold: combine takes the earlier state, the later one and the one that it sets: "
                          "op.combine([](auto a, auto b, auto& s) { ... })");
            auto s = make_state(recording, {});
            if constexpr (fits)
                body(make_state(recording, Operand::earlier), make_state(recording, Operand::later), s);
        }
        return *this;
    }

    /// Defines append, which adds one element to a state. It is worth defining if it takes fewer steps than
    /// lift and combine. Its value must equal combine(a, lift). It may read columns and scalars, as lift
    /// does, but no tables. Elements are appended in ascending order of their index.
    ///
    ///     op.append([&](Moments a, Moments& s) { s.n = a.n + 1; ... });
    ///     op.append([&](auto a) { return max(a, x); });    // of one field
    template <class Body>
    Definition& append(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::append, place(at));
        if constexpr (kOneField) {
            constexpr bool fits = std::is_invocable_v<const Body&, Value<S>>;
            static_assert(
                fits,
                "segfold: append of one field takes its value: op.append([&](auto a) { return max(a, "
                "x); })");
            if constexpr (fits)
                give_field_of(recording, at, body, Value<S>(recording.field(Operand::earlier)));
        } else {
            constexpr bool fits = std::is_invocable_v<const Body&, S, S&>;
            static_assert(
                fits,
                "segfold: append takes a state and the one that it sets: op.append([&](auto a, auto& "
                "s) { ... })");
            auto s = make_state(recording, {});
            if constexpr (fits)
                body(make_state(recording, Operand::earlier), s);
        }
        return *this;
    }

    /// Defines finish, which computes the results from the state of a whole segment. `body` sets all results,
    /// or returns the only one.
    ///
    ///     op.finish([&](Moments s) { mean = s.mean; variance = s.m2 / cast<float>(s.n); });
    ///     op.finish([](auto s) { return s.best; });
    template <class Body>
    Definition& finish(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::finish, place(at));
        static_assert(std::is_invocable_v<const Body&, Finished>,
                      "segfold: finish takes the last state: op.finish([&](auto s) { ... })");
        if constexpr (std::is_invocable_v<const Body&, Finished>)
            call_with_state(recording, body, [&](const auto& value) { give_result(recording, value, at); });
        return *this;
    }

    /// Defines the results of an empty segment. Without this part they are finish(identity).
    ///
    ///     op.empty([&] { mean = nan<float>(); variance = nan<float>(); });
    ///     op.empty(nan<double>());
    template <class Body>
    Definition& empty(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::empty, place(at));
        if constexpr (ValueOrPlain<Body>) {
            give_result(recording, body, at);
        } else {
            static_assert(std::is_invocable_v<const Body&>,
                          "segfold: an empty segment has no state: op.empty([&] { ... })");
            if constexpr (!std::is_invocable_v<const Body&>)
                return *this;
            else if constexpr (std::is_void_v<std::invoke_result_t<const Body&>>)
                body();
            else
                give_result(recording, body(), at);
        }
        return *this;
    }

    /// Defines map (write-back), which computes outputs of each element from the finished results of its
    /// segment. `body` sets every Each, or returns the value of the only one. `body` may take the state as
    /// its argument. If there is no finish, the state's fields are the results.
    ///
    ///     op.map([&](Pair s) { return exp(x - s.maximum) / s.sum; });
    ///     op.map([&] { y = x - mean(); });
    template <class Body>
    Definition& map(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::map, place(at));
        if constexpr (ValueOrPlain<Body>) {
            give_output(recording, body, at);
        } else if constexpr (std::is_invocable_v<const Body&>) {
            if constexpr (std::is_void_v<std::invoke_result_t<const Body&>>)
                body();
            else
                give_output(recording, body(), at);
        } else {
            static_assert(
                std::is_invocable_v<const Body&, Finished>,
                "segfold: map takes the results of its segment, or nothing: op.map([&](auto s) { ... })");
            if constexpr (std::is_invocable_v<const Body&, Finished>)
                call_with_state(recording, body,
                                [&](const auto& value) { give_output(recording, value, at); });
        }
        return *this;
    }

    /// Defines scan (running results). It computes outputs of each element from two states: `before` covers
    /// the earlier elements of the segment, `through` also the element itself. `body` sets every Each that
    /// map does not set, or returns the value of the only one.
    ///
    ///     op.scan([](Streak before, Streak through) { return through.trailing; });
    template <class Body>
    Definition& scan(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::scan, place(at));
        scan_by(recording, body, at);
        return *this;
    }
    /// Defines a scan from the end of each segment. Its state `before` covers the later elements.
    template <class Body>
    Definition& reverse_scan(const Body& body, SourceLocation at = SourceLocation::current())
    {
        Recording recording(*this, Recording::Part::scan, place(at));
        recording.reverse();
        scan_by(recording, body, at);
        return *this;
    }

    /// Checks the operator and returns it. Throws SpecError.
    Operator build()
    {
        if constexpr (kOneField)
            return Recorder::build(kTypeOf<S>);
        else
            return Recorder::build({});
    }

private:
    /// Makes the state of `operand`. If there is no operand, makes the state that the part sets.
    static S make_state(const Recording& recording, std::optional<Operand> operand)
    {
        const Making making(recording, operand);
        return S();
    }

    template <class T>
    struct OneField {
        using type = Value<std::conditional_t<ValueType<T>, T, bool>>;
    };

    /// The type of the states that finish, map and scan take: a Value if there is one field.
    using Finished = typename std::conditional_t<kOneField, OneField<S>, std::type_identity<S>>::type;

    /// Passes the final state to `body`. If `body` returns a value, passes this value to `give`.
    template <class Body, class Give>
    static void call_with_state(const Recording& recording, const Body& body, const Give& give)
    {
        const auto state = [&] {
            if constexpr (kOneField)
                return Finished(recording.field(Operand::state));
            else
                return make_state(recording, Operand::state);
        };
        if constexpr (std::is_void_v<std::invoke_result_t<const Body&, Finished>>)
            body(state());
        else
            give(body(state()));
    }

    /// Passes both states of a scan to `body`.
    template <class Body>
    static void scan_by(Recording& recording, const Body& body, const SourceLocation& at)
    {
        constexpr bool fits = std::is_invocable_v<const Body&, Finished, Finished>;
        static_assert(
            fits,
            "segfold: scan takes the states before and with an element: op.scan([&](auto before, auto "
            "through) { ... })");
        if constexpr (fits) {
            const auto state = [&](Operand operand) {
                if constexpr (kOneField)
                    return Finished(recording.field(operand));
                else
                    return make_state(recording, operand);
            };
            if constexpr (std::is_void_v<std::invoke_result_t<const Body&, Finished, Finished>>)
                body(state(Operand::earlier), state(Operand::later));
            else
                give_output(recording, body(state(Operand::earlier), state(Operand::later)), at);
        }
    }

    template <class V>
    static void give_field(Recording& recording, const V& value, const SourceLocation& at)
    {
        static_assert(ValueOrPlain<V>, "segfold: this part of one field returns its value");
        if constexpr (ValueOrPlain<V>)
            recording.give(Argument<S>(value, at).term(), kTypeOf<S>, place(at));
    }

    template <class Body, class... Operands>
    static void give_field_of(Recording& recording, const SourceLocation& at, const Body& body,
                              const Operands&... operands)
    {
        constexpr bool gives = !std::is_void_v<decltype(body(operands...))>;
        static_assert(gives, "segfold: this part of one field returns its value");
        if constexpr (gives)
            give_field(recording, body(operands...), at);
    }

    template <class V>
    static void give_output(Recording& recording, const V& value, const SourceLocation& at)
    {
        static_assert(ValueOrPlain<V>, "segfold: a map or a scan returns one value, or sets outputs");
        if constexpr (ValueOrPlain<V>)
            recording.give_output(Argument<Common<V>>(value, at).term(), kTypeOfGiven<V>, place(at),
                                  kTypeOfFirst<V>);
    }

    template <class V>
    static void give_result(Recording& recording, const V& value, const SourceLocation& at)
    {
        static_assert(ValueOrPlain<V>, "segfold: finish and empty return one value, or set results");
        if constexpr (ValueOrPlain<V>)
            recording.give(Argument<Common<V>>(value, at).term(), kTypeOfGiven<V>, place(at),
                           kTypeOfFirst<V>);
    }

    /// Type of a value that is given to a result with a declared type. None for a plain number, because it
    /// takes the declared type.
    template <class V>
    static constexpr auto kTypeOfGiven = AnyValue<V> ? std::optional(kTypeOf<Common<V>>) : std::nullopt;

    /// Type of a value that is given to a result without a declared type. None for plain numbers such as 0
    /// and 0.5, which fit any type. The number 0.5f has the type f32.
    template <class V>
    static constexpr auto kTypeOfFirst = AnyValue<V> || std::same_as<V, float>
                                             ? std::optional(kTypeOf<Common<V>>)
                                             : std::nullopt;
};

/// Defines an operator with the state `S`. Calls `body` with a `Definition<S>`.
///
/// The operator's tree equals the tree of the same operator read from text. Throws SpecError, whose message
/// begins with the faulty line of the C++ source.
template <class S, class Body>
Operator define(std::string name, const Body& body, SourceLocation at = SourceLocation::current())
{
    Definition<S> op(std::move(name), at);
    body(op);
    return op.build();
}

/// Defines an operator whose state has one field. The operands of its parts are values. Its only result is
/// called `result` unless finish or a Result names it.
template <ValueType T, class Body>
Operator define(std::string name, const Field<T>& field, const Body& body,
                SourceLocation at = SourceLocation::current())
{
    Definition<T> op(std::move(name), field.declared(), at);
    body(op);
    return op.build();
}

/// Names a value for the rest of its part, as `let name = value;` does in text. It is computed once.
template <ValueOrPlain A>
auto let(const std::string& name, const A& value, SourceLocation at = SourceLocation::current())
{
    using T = Common<A>;
    return Value<T>(let_handle(name, Argument<T>(value, at).term(), kTypeOf<T>, place(at)));
}

/// The element's index in the input. Allowed in lift, map and scan.
inline Value<std::int64_t> index(SourceLocation at = SourceLocation::current())
{
    return Value<std::int64_t>(place_handle("index", place(at)));
}

/// The element's index in its segment. Allowed in lift, map and scan.
inline Value<std::int64_t> position(SourceLocation at = SourceLocation::current())
{
    return Value<std::int64_t>(place_handle("position", place(at)));
}

/// The index of the segment. Allowed in lift, finish, empty, map and scan.
inline Value<std::int64_t> segment(SourceLocation at = SourceLocation::current())
{
    return Value<std::int64_t>(place_handle("segment", place(at)));
}

/// The number of elements of the segment. Allowed in finish, empty and map.
inline Value<std::int64_t> length(SourceLocation at = SourceLocation::current())
{
    return Value<std::int64_t>(place_handle("length", place(at)));
}

}  // namespace segfold
