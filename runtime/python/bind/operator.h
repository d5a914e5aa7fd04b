#pragma once
// Operators in Python: with fixed types, or with a type `T` that follows from the arrays of each call.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/check/rows.h"
#include "dsl/derived.h"
#include "dsl/text/parser.h"
#include "runtime/python/bind/sessions.h"
#include "runtime/session/core.h"
#include "runtime/session/kept/kept_plans.h"

namespace segfold::python {

namespace nb = nanobind;

/// An operator of fixed types, with facts that all its calls share.
struct TypedOperator {
    explicit TypedOperator(Operator checked)
        : op(std::move(checked)), fields(returned_fields(op)), has_rows(segfold::has_rows(op))
    {}

    /// Whether `fields[field]` is as long as the input: an output of `map` or `scan`.
    [[nodiscard]] bool is_output(std::size_t field) const
    {
        return field + op.outputs.size() >= fields.size();
    }

    Operator op;
    std::vector<ResultField> fields;  ///< fields of the results, without keys
    bool has_rows;                    ///< true if every field holds rows
    ToldWarnings told = {};           ///< warnings so far; guarded by the interpreter's lock
    /// The plans that sessions keep for the operator. Guarded by the interpreter's lock.
    std::map<const Session*, std::shared_ptr<OperatorPlans>> plans = {};

    /// The plans that `session` keeps for the operator.
    [[nodiscard]] const std::shared_ptr<OperatorPlans>& plans_in(Session& session)
    {
        auto found = plans.find(&session);
        if (found == plans.end())
            found = plans.emplace(&session, core(session).plans_of(op)).first;
        return found->second;
    }
    bool is_done_with_keys = false;  ///< true after a warning about keys that come back after other keys
    /// Classes of named tuples for the results, without keys and with keys. They are null until needed;
    /// Python owns them.
    PyObject* result_class[2] = {};
};

/// An operator as `segfold.operator` returns it. If its type `T` is open, each call uses the operator for the
/// type of the call's arrays.
class PyOperator {
public:
    /// Makes an operator of fixed types.
    explicit PyOperator(Operator checked);
    /// Makes a standard operator by its name, alone ("sum") or with a type ("sum_i32").
    static PyOperator standard(const std::string& name);
    /// Makes an operator of a text, in which `T` may stand for a type. Messages call the text `file`.
    static PyOperator of_text(const std::string& file, const std::string& text);

    /// Returns the operator that computes the results of both in one pass.
    static PyOperator product(const PyOperator& left, const PyOperator& right);

    /// Returns the operator that gives this operator's running results; see segfold::scanned(). It is made
    /// once, so that the plans of its calls are kept.
    [[nodiscard]] PyOperator& scanned(ScanForm form);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool is_generic() const { return fixed_ == nullptr; }
    /// The operator of fixed types. Throws InputError if `T` is open.
    [[nodiscard]] TypedOperator& fixed() const;
    [[nodiscard]] const std::shared_ptr<TypedOperator>& fixed_pointer() const { return fixed_; }
    /// The operator for `type`. An operator of fixed types ignores `type`.
    [[nodiscard]] TypedOperator& typed(Type type) { return *typed_pointer(type); }
    [[nodiscard]] const std::shared_ptr<TypedOperator>& typed_pointer(Type type);
    [[nodiscard]] const std::vector<DeclaredParameter>& parameters() const { return parameters_; }
    /// The types that `T` may be; empty for an operator of fixed types.
    [[nodiscard]] const std::vector<Type>& types() const { return types_; }
    /// The operator itself; if `T` is open, the operator for the first of types().
    [[nodiscard]] const Operator& example() const;
    /// If this is a product that is generic in `T`, its two operators; else null.
    [[nodiscard]] const std::pair<PyOperator, PyOperator>* factors() const { return factors_.get(); }
    /// If this scans an operator that is generic in `T`, that operator and the form of the scan; else null.
    [[nodiscard]] const std::pair<PyOperator, ScanForm>* scanned_operator() const { return scan_of_.get(); }
    /// The origin of the operator, "standard", "text", "product" or "scan", followed by a name or a text.
    [[nodiscard]] std::pair<std::string, std::string> origin() const;
    /// Returns the name, the parameters and the results: "mean_variance(x: f32) -> (mean: f32, variance:
    /// f32)".
    [[nodiscard]] std::string signature() const;
    /// The text form. If `T` is open and no text with `T` exists, the text for the first of types(), with a
    /// comment that says so.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool equals(const PyOperator& other) const;
    /// Full texts of all warnings that calls of the operator gave. If there were none, the warnings that a
    /// search of the operator finds.
    [[nodiscard]] std::vector<std::string> warnings() const;

private:
    PyOperator() = default;
    /// Returns a text about the operator's types: "This is sum for i8. It takes i8, i16, ...".
    [[nodiscard]] std::string text_of_types() const;

    std::string name_;
    std::string text_;  ///< the text of a generic operator; empty for a standard operator and for a product
    std::shared_ptr<std::pair<PyOperator, PyOperator>> factors_;
    std::shared_ptr<std::pair<PyOperator, ScanForm>> scan_of_;
    /// The operators that scanned() has returned. Index: exclusive + 2 * reverse; null until needed.
    std::shared_ptr<PyOperator> scanned_[4];
    std::vector<DeclaredParameter> parameters_;
    std::vector<Type> types_;
    std::shared_ptr<TypedOperator> fixed_;
    std::map<Type, std::shared_ptr<TypedOperator>> by_type_;
};

void bind_operator(nb::module_& module);

}  // namespace segfold::python
