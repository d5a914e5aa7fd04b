#pragma once
// Records a definition in C++ while it runs. dsl/cpp/define.h adds the static types.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/cpp/value.h"
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
    /// the type for a result without a declared type; none if the value states no type.
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

/// Gives each new State its role while this object lives: an operand, the state that a part sets, or a
/// declaration.
class Making {
public:
    /// Makes new states stand for the given operand; without an operand, for the state that the part sets.
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

/// An operator under definition. Definition<S> adds the parts whose types depend on the state.
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

}  // namespace segfold
