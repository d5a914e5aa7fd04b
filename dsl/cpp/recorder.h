#pragma once
// Records a definition in C++ as it runs. The static types are added by dsl/cpp/define.h.
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

/// While it lives, the use of handles is recorded as one part of an operator.
class Recording {
public:
    enum class Part : std::uint8_t { lift, combine, finish, empty, map, append };

    /// Throws SpecError where the operator has the part.
    Recording(Recorder& recorder, Part part, Position at);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// The value of the only field or result; `type` is none for a plain number. `first` is the type of a
    /// result that nothing else declares; none where its value does not say one.
    void give(const Term& value, std::optional<Type> type, Position at, std::optional<Type> first = {});
    /// The value that a map gives its only output; `type` and `first` as above.
    void give_output(const Term& value, std::optional<Type> type, Position at,
                     std::optional<Type> first = {});
    /// Every field is that of the operand.
    void give(const State& operand, Position at);
    /// The only field of an operand.
    [[nodiscard]] Term field(Operand operand) const;

    /// `target` is a field or a result of this part.
    void set(const Term& target, const Term& value, Position at);
    Term let(const std::string& name, const Term& value, Type type, Position at);

    [[nodiscard]] const HomePointer& home() const { return home_; }

private:
    /// Throws where this part cannot know the value.
    void check_home(const Term& value, Position at) const;

    Recorder& recorder_;
    Part part_;
    Block& block_;
    HomePointer home_;
    Recording* outer_;
};

/// Sets a field or a result in the part that is being recorded; throws where none is.
void set_handle(const Term& target, const Term& value, Position at);
Term let_handle(const std::string& name, const Term& value, Type type, Position at);
/// A name that the language gives: index, position, segment, length.
Term place_handle(const char* name, Position at);
/// Throws SpecError unless an array of `count` fields has entry `number`.
void require_entry(const std::string& array, int number, int count, Position at);

/// While it lives, the states that are made are an operand of a recording, or what it sets, or are declared.
class Making {
public:
    /// Without an operand: the state that the part sets.
    Making(const Recording& recording, std::optional<Operand> operand);
    /// The fields declare themselves to `recorder`.
    explicit Making(Recorder& recorder);
    ~Making();
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

    /// The handle of a field that is being constructed; `identity` is null without one.
    static Term field(const StateField& field, const Term* identity);
    /// The handle of a state that is being constructed.
    static Term state();

private:
    Recorder* declares_ = nullptr;
    HomePointer home_;
    std::optional<Operand> operand_;
    Making* outer_;
};

/// An operator while it is defined, but for the parts, whose types depend on the state.
class Recorder {
public:
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Declares combine commutative.
    Recorder& commutative();
    /// Declares combine idempotent: combine(a, a) is a.
    Recorder& idempotent();
    /// Describes the operator; emitted text shows it above the operator.
    Recorder& describe(std::string text);

    /// A column, or a table, as a handle.
    Term add_parameter(std::string name, Type type, bool table, Position at, bool row = false);
    /// A parameter of one value for all elements, as a handle to the value.
    Term add_scalar(std::string name, Type type, Position at);
    Term add_result(std::string name, Type type, Position at);
    /// An array as long as the input, which map sets.
    Term add_output(std::string name, Type type, Position at);

protected:
    Recorder(std::string name, Position at);
    ~Recorder();

    void add_field(const StateField& field) { operator_.state.push_back(field); }
    /// The checked operator; `only_type` is the type of the field of an operator without a State.
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
    Recorder* outer_;                ///< the definition in whose body this one stands
    Recording* outer_recording_;     ///< and its part
    std::array<bool, 6> said_ = {};  ///< by part
    /// A `let` of plain numbers, which take the type of its uses.
    struct UntypedLet {
        Block* block;
        std::size_t place;
        Type type;
    };
    std::vector<UntypedLet> untyped_lets_;
};

}  // namespace segfold
