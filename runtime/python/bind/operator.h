#pragma once
// Operators as Python holds them: of fixed types, or of the type `T` of the arrays that they are given.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/check/rows.h"
#include "dsl/text/parser.h"
#include "runtime/python/bind/sessions.h"
#include "runtime/session/core.h"
#include "runtime/session/kept/kept_plans.h"

namespace segfold::python {

namespace nb = nanobind;

/// An operator of fixed types, with what calls of it need again.
struct TypedOperator {
    explicit TypedOperator(Operator checked)
        : op(std::move(checked)), fields(returned_fields(op)), has_rows(segfold::has_rows(op))
    {}

    /// Whether `fields[field]` is as long as the input: an output of `map`.
    [[nodiscard]] bool is_output(std::size_t field) const
    {
        return field + op.outputs.size() >= fields.size();
    }

    Operator op;
    std::vector<ResultField> fields;  ///< what a fold returns, without keys
    bool has_rows;                    ///< then every field holds rows
    ToldWarnings told = {};           ///< guarded by the interpreter's lock
    /// What sessions keep of it; likewise.
    std::map<const Session*, std::shared_ptr<OperatorPlans>> plans = {};

    /// The plans that a session keeps of it.
    [[nodiscard]] const std::shared_ptr<OperatorPlans>& plans_in(Session& session)
    {
        auto found = plans.find(&session);
        if (found == plans.end())
            found = plans.emplace(&session, core(session).plans_of(op)).first;
        return found->second;
    }
    bool is_done_with_keys = false;  ///< no more is said of keys that come back
    /// Classes of named tuples for its results, without keys and with them; null until needed, kept by
    /// Python.
    PyObject* result_class[2] = {};
};

/// What `segfold.operator` gives. An operator with `T` in its text becomes one of fixed types when it is
/// given arrays.
class PyOperator {
public:
    /// Of fixed types.
    explicit PyOperator(Operator checked);
    /// A standard operator, alone ("sum") or with its type ("sum_i32").
    static PyOperator standard(const std::string& name);
    /// A text, in which `T` may stand for a type. `file` is what messages call it.
    static PyOperator of_text(const std::string& file, const std::string& text);

    /// The operator that folds to the results of both in one pass.
    static PyOperator product(const PyOperator& left, const PyOperator& right);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool is_generic() const { return fixed_ == nullptr; }
    /// Throws InputError where `T` has no type.
    [[nodiscard]] TypedOperator& fixed() const;
    [[nodiscard]] const std::shared_ptr<TypedOperator>& fixed_pointer() const { return fixed_; }
    /// The operator for `type`; for one of fixed types, itself.
    [[nodiscard]] TypedOperator& typed(Type type) { return *typed_pointer(type); }
    [[nodiscard]] const std::shared_ptr<TypedOperator>& typed_pointer(Type type);
    [[nodiscard]] const std::vector<DeclaredParameter>& parameters() const { return parameters_; }
    /// The types that `T` may be; empty for an operator of fixed types.
    [[nodiscard]] const std::vector<Type>& types() const { return types_; }
    /// Itself, or for the first type that `T` may be.
    [[nodiscard]] const Operator& example() const;
    /// The two operators of a product whose `T` is open; null for others.
    [[nodiscard]] const std::pair<PyOperator, PyOperator>* factors() const { return factors_.get(); }
    /// What it is made of: "standard", "text" or "product", and a name or a text.
    [[nodiscard]] std::pair<std::string, std::string> origin() const;
    /// "mean_variance(x: f32) -> (mean: f32, variance: f32)"
    [[nodiscard]] std::string signature() const;
    /// The text form; where T is open and no text has it, that for the first type, and a comment that says
    /// so.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool equals(const PyOperator& other) const;
    /// What has been warned of it, all of each text; where nothing has, what a search finds to warn of.
    [[nodiscard]] std::vector<std::string> warnings() const;

private:
    PyOperator() = default;
    /// "This is sum for i8. It takes i8, i16, ..."
    [[nodiscard]] std::string text_of_types() const;

    std::string name_;
    std::string text_;  ///< of a generic operator; empty for a standard one and for a product
    std::shared_ptr<std::pair<PyOperator, PyOperator>> factors_;
    std::vector<DeclaredParameter> parameters_;
    std::vector<Type> types_;
    std::shared_ptr<TypedOperator> fixed_;
    std::map<Type, std::shared_ptr<TypedOperator>> by_type_;
};

void bind_operator(nb::module_& module);

}  // namespace segfold::python
