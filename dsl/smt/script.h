#pragma once
// Builds the text of a question. It has an operator's states as terms, and requirements on them.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "dsl/evaluation/bytecode.h"
#include "dsl/smt/terms.h"

namespace segfold::smt {

/// A state as SMT terms, one for each field.
using State = std::vector<std::string>;

/// A constant of unknown value, by name and type. Its value comes from the prover's model. A float is
/// declared as its bits.
struct Unknown {
    std::string name;
    Type type;
};

/// The unknown values of an element, one for each column.
using UnknownElement = std::vector<Unknown>;

/// Describes how a script models values.
struct ScriptOptions {
    Theory theory = Theory::bits;
    /// Requires that integers of states and elements stay in the ranges of their types. nothing_overflows()
    /// states the same condition for computed integers.
    bool in_range = false;
};

/// A growing text in SMT-LIB 2 of declarations, definitions and requirements.
///
/// Functions that translate combine or identity throw OutOfReach if the theory cannot express an operation.
/// Functions that translate lift make such a value an unknown instead. The lifted state then stands for too
/// many states, never for too few.
class Script {
public:
    Script(const Bytecode& bytecode, ScriptOptions options) : bytecode_(bytecode), options_(options) {}

    /// Declares a state of unknown values. Its fields are NAME.0, NAME.1, ...
    State any_state(const std::string& name);
    State identity();
    /// Returns the state of an unknown element. `place` holds its index, position and segment. If `place` is
    /// null, these are unknown but not negative.
    State lifted(const std::string& name, const std::array<std::int64_t, 3>* place = nullptr,
                 UnknownElement* element = nullptr);
    /// Returns an unknown element as terms: columns, then index, position and segment. Parameters mean the
    /// same as in lifted().
    State element(const std::string& name, const std::array<std::int64_t, 3>* place = nullptr,
                  UnknownElement* element = nullptr);
    State lifted(const State& element);
    State appended(const State& state, const State& element);
    State combined(const State& earlier, const State& later);
    /// Returns the results that `finish` of the bytecode `other` gives for a state. Both bytecodes must have
    /// the same state. nothing_overflows() ignores this call.
    std::vector<std::string> results(const Bytecode& other, const State& state);

    /// Returns the term "(and (= l r) ...)" over all fields. Floats are equal if their bits are equal or both
    /// are NaN.
    [[nodiscard]] std::string equal(const State& left, const State& right) const;

    void require(const std::string& term);
    /// Appends a line and a newline.
    void add(const std::string& line) { text_ += line + "\n"; }
    void comment(const std::string& line) { text_ += "; " + line + "\n"; }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const ScriptOptions& options() const { return options_; }

    /// Returns a term that is true if no used value of combine and append overflows. `in_range` must be set.
    /// Unused values may overflow: sides of conditions that are not taken, and unused `let`s. Values that
    /// overflow in lift are unknown.
    [[nodiscard]] std::string nothing_overflows() const { return "(and true" + in_range_ + ")"; }
    /// True if combine or append has an operation that may overflow.
    [[nodiscard]] bool may_overflow() const { return !in_range_.empty(); }

    /// Describes the operations of `lift` that the theory cannot express. In the script an Unknown stands for
    /// the value of each of them.
    [[nodiscard]] const std::set<std::string>& left_open() const { return left_open_; }

private:
    struct Run;

    std::vector<std::string> run(const Program& program, const std::vector<std::string>& inputs,
                                 const std::vector<Type>& types, bool leaves_open);
    std::string step(Run& run, const Instruction& instruction);
    /// Adds to nothing_overflows() that all used values of a program stay in the ranges of their types.
    void add_ranges(const Run& run, const Program& program);
    /// Returns the name, for messages, of a parameter that a side of a condition reads: a table if it reads
    /// one, else a scalar.
    [[nodiscard]] std::string read_of_tables() const;
    std::string translate(Run& run, const Instruction& instruction, Type result);
    std::string converted(const Instruction& instruction, const std::string& a);
    std::string uninterpreted(Opcode opcode, const std::vector<std::string>& arguments);
    std::string open_value(Type type, const std::string& why);
    std::string define(Type type, const std::string& term);
    std::string declare(const std::string& name, Type type, Unknown* unknown = nullptr);
    std::string key(const std::string& text);

    const Bytecode& bytecode_;
    ScriptOptions options_;
    std::string text_, in_range_;
    int num_names_ = 0;
    std::set<std::string> left_open_, functions_;
    std::map<std::string, std::string> keys_;  ///< theory of integers: short names of computed floats
    std::map<std::string, std::string> open_;  ///< theory of integers: unknown values that depend on floats
    std::map<std::string, std::vector<std::pair<std::string, std::string>>>
        powers_;  ///< exponential function -> argument and value of each call
};

/// Returns the type of an instruction's value.
Type result_type(const Instruction& instruction);

}  // namespace segfold::smt
