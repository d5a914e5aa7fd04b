#pragma once
// Typed handles for definitions in C++: fields of a state, columns, tables, scalars, rows, results and
// outputs. The classes above the handles record a definition while it runs.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/cpp/functions.h"
#include "dsl/operator.h"

namespace segfold {

class Recorder;
struct State;

/// While this object lives, uses of handles are recorded in one part of an operator.
class Recording {
public:
    enum class Part : std::uint8_t { lift, combine, finish, empty, map, append, scan };

    /// Begins to record `part`. Throws SpecError if the operator already has this part.
    Recording(Recorder& recorder, Part part, Position at);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// Sets the only field or result. `type` is the type of the value; none for a plain number. `first` is
    /// the type that a result without a declared type takes; none if the value states no type.
    void give(const Term& value, std::optional<Type> type, Position at, std::optional<Type> first = {});
    /// Sets the only output of a map or scan. `type` and `first` mean the same as in give().
    void give_output(const Term& value, std::optional<Type> type, Position at,
                     std::optional<Type> first = {});
    /// Copies every field from the operand.
    void give(const State& operand, Position at);
    /// Makes a scan go from the end of the segment.
    void reverse() const;
    /// Returns the only field of an operand.
    [[nodiscard]] Term field(Operand operand) const;

    /// Sets `target`, a field or a result of this part.
    void set(const Term& target, const Term& value, Position at);
    Term let(const std::string& name, const Term& value, Type type, Position at);

    [[nodiscard]] const HomePointer& home() const { return home_; }

private:
    /// Throws SpecError if this part cannot use the value.
    void check_home(const Term& value, Position at) const;

    Recorder& recorder_;
    Part part_;
    Block& block_;
    HomePointer home_;
    Recording* outer_;
};

/// Sets a field or a result in the part that is being recorded. Throws SpecError outside of a part.
void set_handle(const Term& target, const Term& value, Position at);
Term let_handle(const std::string& name, const Term& value, Type type, Position at);
/// Returns the handle of a place: `name` is index, position, segment or length.
Term place_handle(const char* name, Position at);
/// Throws SpecError if an array of `count` fields has no entry `number`.
void require_entry(const std::string& array, int number, int count, Position at);

/// While this object lives, gives each new State its role: an operand, the state that a part sets, or a
/// declaration.
class Making {
public:
    /// Makes new states stand for `operand`. If there is none, they stand for the state that the part sets.
    Making(const Recording& recording, std::optional<Operand> operand);
    /// Makes new states declare their fields to `recorder`.
    explicit Making(Recorder& recorder);
    ~Making();
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

    /// Returns the handle of a field that is being constructed. `identity` is null if the field has none.
    static Term field(const StateField& field, const Term* identity);
    /// Returns the handle of a state that is being constructed.
    static Term state();

private:
    Recorder* declares_ = nullptr;
    HomePointer home_;
    std::optional<Operand> operand_;
    Making* outer_;
};

/// An operator under definition. `Definition<S>` adds the parts whose types depend on the state.
class Recorder {
public:
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Declares combine commutative.
    Recorder& commutative();
    /// Declares combine idempotent: combine(a, a) == a.
    Recorder& idempotent();
    /// Sets the description, which emitted text shows above the operator.
    Recorder& describe(std::string text);

    /// Adds a column or a table and returns its handle.
    Term add_parameter(std::string name, Type type, bool table, Position at, bool row = false);
    /// Adds a scalar, one value for all elements, and returns its handle.
    Term add_scalar(std::string name, Type type, Position at);
    Term add_result(std::string name, Type type, Position at);
    /// Adds an output: an array as long as the input, set by map or scan.
    Term add_output(std::string name, Type type, Position at);

protected:
    Recorder(std::string name, Position at);
    ~Recorder();

    void add_field(const StateField& field) { operator_.state.push_back(field); }
    /// Returns the checked operator. `only_type` is the type of the only field if there is no State.
    Operator build(std::optional<Type> only_type);

private:
    friend class Recording;
    friend class Making;
    friend Term place_handle(const char* name, Position at);
    [[noreturn]] void fail(Position at, const std::string& message, const std::string& hint) const;
    void settle_lets();
    void check_parts() const;
    void check_tables() const;

    Operator operator_;
    HomePointer home_;
    Recorder* outer_;                ///< the definition that encloses this one
    Recording* outer_recording_;     ///< the part of the enclosing definition that is being recorded
    std::array<bool, 6> said_ = {};  ///< true for each part that has been recorded
    /// A `let` of plain numbers. Its uses decide its type.
    struct UntypedLet {
        Block* block;
        std::size_t place;
        Type type;
    };
    std::vector<UntypedLet> untyped_lets_;
};

template <ValueType T>
class Field;
template <ValueType T, int N>
class FieldArray;

/// The base of a state. Derive a struct from it and give it fields:
///
///     struct Moments : segfold::State {
///         Field<int> n{"n", 0};
///         Field<float> mean{"mean", 0}, m2{"m2", 0};
///     };
///
/// Either every field has an identity, or no field has one; without identities, the operator is a semigroup.
struct State {
    template <class T>
    using Field = segfold::Field<T>;
    template <class T, int N>
    using FieldArray = segfold::FieldArray<T, N>;

    State() : whole_(Making::state()) {}
    State(const State&) = default;
    // A state cannot be assigned as a whole, because each field records the source line that sets it.
    // Compilers quote the next line in their error message.
    State& operator=(const State&) = delete;  // segfold: set each field, s.n = a.n; in combine, return a
    [[nodiscard]] const Term& whole() const { return whole_; }

private:
    Term whole_;  ///< a field without a name that stands for all fields of an operand; empty for other states
};

/// A field of a state. A part reads the fields of its operands, and sets each field of its own state once.
template <ValueType T>
class Field : public Value<T> {
public:
    /// Declares a field without identity.
    explicit Field(const std::string& name, SourceLocation at = SourceLocation::current())
        : Field(StateField{name, kTypeOf<T>, std::nullopt, place(at)}, nullptr)
    {}
    Field(const std::string& name, const Argument<T>& identity, SourceLocation at = SourceLocation::current())
        : Field(StateField{name, kTypeOf<T>, identity.term().expression, place(at)}, &identity.term())
    {}
    Field(const Field&) = default;

    /// Never chosen. `s.n = a.n` calls the overload for Argument, which records the source line.
    Field& operator=(const Field&) requires(sizeof(T) == 0);
    Field& operator=(const Argument<T>& value)
    {
        set_handle(this->term(), value.term(), value.position());
        return *this;
    }

    template <class V>
    Field& operator+=(const V&)
    {
        return refuse_change<V>();
    }
    template <class V>
    Field& operator-=(const V&)
    {
        return refuse_change<V>();
    }
    template <class V>
    Field& operator*=(const V&)
    {
        return refuse_change<V>();
    }
    template <class V>
    Field& operator/=(const V&)
    {
        return refuse_change<V>();
    }

    [[nodiscard]] const StateField& declared() const { return declared_; }

private:
    template <class V>
    Field& refuse_change()
    {
        static_assert(std::is_void_v<V>, "segfold: a field is set once, not changed: s.n = a.n + b.n");
        return *this;
    }

    Field(const StateField& field, const Term* identity)
        : Value<T>(Making::field(field, identity)), declared_(field)
    {}

    StateField declared_;
};

/// An index of a field array, with its source line.
class ArrayEntry {
public:
    ArrayEntry(int number, SourceLocation at = SourceLocation::current())
        : number_(number), position_(place(at))
    {}
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] Position position() const { return position_; }

private:
    int number_;
    Position position_;
};

/// A fixed array of fields: `bins: i32[8] = 0` in the text form. Loops over it are C++ loops.
template <ValueType T, int N>
class FieldArray {
public:
    static_assert(N > 0 && N <= 256, "segfold: an array has 1 to 256 entries");

    explicit FieldArray(const std::string& name, SourceLocation at = SourceLocation::current()) : name_(name)
    {
        for (int k = 0; k < N; ++k)
            entries_.emplace_back(name + "_" + std::to_string(k), at);
    }
    FieldArray(const std::string& name, const Argument<T>& identity,
               SourceLocation at = SourceLocation::current())
        : name_(name)
    {
        for (int k = 0; k < N; ++k)
            entries_.emplace_back(name + "_" + std::to_string(k), identity, at);
    }

    /// Returns an entry of the array. Throws SpecError if the array has no such entry.
    Field<T>& operator[](const ArrayEntry& entry) { return entries_[checked(entry)]; }
    const Field<T>& operator[](const ArrayEntry& entry) const { return entries_[checked(entry)]; }

private:
    [[nodiscard]] std::size_t checked(const ArrayEntry& entry) const
    {
        if (entries_.empty())
            Terms::refuse_moved("array of fields", entry.position());
        require_entry(name_, entry.number(), N, entry.position());
        return static_cast<std::size_t>(entry.number());
    }

    std::string name_;
    std::vector<Field<T>> entries_;
};

/// A column of the input. As a value, it is the current element's entry.
template <ValueType T>
class Column : public Value<T> {
public:
    Column(Recorder& op, std::string name, SourceLocation at = SourceLocation::current())
        : Value<T>(op.add_parameter(std::move(name), kTypeOf<T>, false, place(at)))
    {}
};

/// An index of a table: a value of any integer type, or a plain integer.
class TableIndex {
public:
    template <ValueOrPlain I>
    TableIndex(const I& index, SourceLocation at = SourceLocation::current()) : position_(segfold::place(at))
    {
        using T = Common<I>;
        static_assert(IntegerType<T>, "segfold: a table's index is an integer; convert it with cast<int>(i)");
        if constexpr (IntegerType<T>) {
            const auto term = Argument<T>(index, at).term();
            term_ = Plain<I> ? term : Terms::stated(term, kTypeOf<T>);
        }
    }
    [[nodiscard]] const Term& term() const { return term_; }
    [[nodiscard]] Position position() const { return position_; }

private:
    Position position_;
    Term term_;
};

/// A side table, read at any index: `t[i]`.
template <ValueType T>
class Table {
public:
    Table(Recorder& op, std::string name, SourceLocation at = SourceLocation::current())
        : Table(op, std::move(name), false, at)
    {}
    Value<T> operator[](const TableIndex& index) const
    {
        return Value<T>(Terms::gather(term_, index.term(), index.position()));
    }

protected:
    Table(Recorder& op, std::string name, bool has_rows, SourceLocation at)
        : term_(op.add_parameter(std::move(name), kTypeOf<T>, true, place(at), has_rows))
    {}

private:
    Term term_;
};

/// One value for all elements, passed at launch. Another value needs no new compilation.
template <ValueType T>
class Scalar : public Value<T> {
public:
    Scalar(Recorder& op, std::string name, SourceLocation at = SourceLocation::current())
        : Value<T>(op.add_scalar(std::move(name), kTypeOf<T>, place(at)))
    {}
};

/// A column of rows. As a value, it is one number of the current element's row.
template <ValueType T>
class Row : public Value<T> {
public:
    Row(Recorder& op, std::string name, SourceLocation at = SourceLocation::current())
        : Value<T>(op.add_parameter(std::move(name), kTypeOf<T>, false, place(at), true))
    {}
};

/// A table of rows, read at any index: `t[i]` is one number of row i.
template <ValueType T>
class RowTable : public Table<T> {
public:
    RowTable(Recorder& op, std::string name, SourceLocation at = SourceLocation::current())
        : Table<T>(op, std::move(name), true, at)
    {}
};

/// An output: an array as long as the input, set by map or scan.
template <ValueType T>
class Each {
public:
    Each(Recorder& op, std::string name, SourceLocation at = SourceLocation::current())
        : term_(op.add_output(std::move(name), kTypeOf<T>, place(at)))
    {}
    Each(const Each&) = default;
    const Each& operator=(const Argument<T>& value) const
    {
        set_handle(term_, value.term(), value.position());
        return *this;
    }

private:
    Term term_;
};

/// A result, set by finish and empty. Without finish, the results are the state's fields in their order.
template <ValueType T>
class Result {
public:
    Result(Recorder& op, std::string name, SourceLocation at = SourceLocation::current())
        : term_(op.add_result(std::move(name), kTypeOf<T>, place(at)))
    {}
    Result(const Result&) = default;
    /// In map: the finished result of the element's segment, as in `x - mean()`.
    [[nodiscard]] Value<T> operator()(SourceLocation at = SourceLocation::current()) const
    {
        return Value<T>(Term{make_name(term_.name, place(at)), term_.home});
    }
    const Result& operator=(const Argument<T>& value) const
    {
        set_handle(term_, value.term(), value.position());
        return *this;
    }

private:
    Term term_;
};

}  // namespace segfold
