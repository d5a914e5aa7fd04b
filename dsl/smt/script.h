#pragma once
// Builds the text of a question: states of an operator as terms, and their requirements.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "dsl/evaluation/bytecode.h"
#include "dsl/smt/terms.h"

namespace segfold::smt {

/// A value for every field, as terms.
using State = std::vector<std::string>;

/// A constant whose value a model gives: its name, and the type that it was declared with. Floats are
/// declared by their bits.
struct Unknown {
    std::string name;
    Type type;
};

/// The unknowns of an element: one for each column.
using UnknownElement = std::vector<Unknown>;

/// How a script treats values.
struct ScriptOptions {
    Theory theory = Theory::bits;
    /// Integers of states and elements are inside of their types; nothing_overflows() keeps computed ones
    /// inside.
    bool in_range = false;
};

/// Text in SMT-LIB 2 that grows by declarations, definitions and requirements.
///
/// Every function that translates throws OutOfReach where the theory has no words for an operation of combine
/// or identity. In lift such a value is left open, so that a lifted state stands for more states than there
/// are, never for fewer.
class Script {
public:
    Script(const Bytecode& bytecode, ScriptOptions options) : bytecode_(bytecode), options_(options) {}

    /// Any state: its fields are NAME.0, NAME.1, ...
    State any_state(const std::string& name);
    State identity();
    /// The state of an unknown element; `place` is that of index, position and segment, which are unknown
    /// and not negative without it.
    State lifted(const std::string& name, const std::array<std::int64_t, 3>* place = nullptr,
                 UnknownElement* element = nullptr);
    /// The element that lifted() makes a state of: terms for its columns, then index, position and segment.
    State element(const std::string& name, const std::array<std::int64_t, 3>* place = nullptr,
                  UnknownElement* element = nullptr);
    State lifted(const State& element);
    State appended(const State& state, const State& element);
    State combined(const State& earlier, const State& later);
    /// `finish` of a state, by some bytecode with the same state; nothing_overflows() leaves it out.
    std::vector<std::string> results(const Bytecode& other, const State& state);

    /// "(and (= l r) ...)", field by field. A float is equal where its bits are, and NaN to NaN.
    [[nodiscard]] std::string equal(const State& left, const State& right) const;

    void require(const std::string& term);
    /// Appends as it is; a newline follows.
    void add(const std::string& line) { text_ += line + "\n"; }
    void comment(const std::string& line) { text_ += "; " + line + "\n"; }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const ScriptOptions& options() const { return options_; }

    /// With `in_range`: a term that holds where no operation overflows whose value is used, in combine and
    /// append. What is not used may have any value: the side of a condition that is not taken, a `let` that
    /// nobody reads. What overflows in lift is left open instead.
    [[nodiscard]] std::string nothing_overflows() const { return "(and true" + in_range_ + ")"; }
    /// Whether there is any such operation.
    [[nodiscard]] bool may_overflow() const { return !in_range_.empty(); }

    /// The operations that were left open in lift, in words.
    [[nodiscard]] const std::set<std::string>& left_open() const { return left_open_; }

private:
    struct Run;

    std::vector<std::string> run(const Program& program, const std::vector<std::string>& inputs,
                                 const std::vector<Type>& types, bool leaves_open);
    std::string step(Run& run, const Instruction& instruction);
    /// Adds the requirements of a program that has run to nothing_overflows().
    void add_ranges(const Run& run, const Program& program);
    /// What a side of a condition reads that is not taken otherwise: a table where there is one, or a scalar.
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
    std::map<std::string, std::string> keys_;  ///< integers: values computed by floats, by their operands
    std::map<std::string, std::string> open_;  ///< integers: decisions of floats
    std::map<std::string, std::vector<std::pair<std::string, std::string>>>
        powers_;  ///< exp: argument, value
};

/// The type of an instruction's value.
Type result_type(const Instruction& instruction);

}  // namespace segfold::smt
