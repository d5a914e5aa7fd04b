#pragma once
// Operators in Python. They have fixed types, or a type `T` that follows from the arrays of each call.
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

/// An operator with fixed types, and facts that all of its calls share.
struct TypedOperator {
    explicit TypedOperator(Operator checked)
        : op(std::move(checked)), fields(returned_fields(op)), has_rows(segfold::has_rows(op))
    {}

    /// True if `fields[field]` is as long as the input, as an output of `map` or `scan` is.
    [[nodiscard]] bool is_output(std::size_t field) const
    {
        return field + op.outputs.size() >= fields.size();
    }

    Operator op;
    std::vector<ResultField> fields;  ///< fields of the results, without keys
    bool has_rows;                    ///< true if every field holds rows
    ToldWarnings told = {};           ///< warnings given so far; protected by the interpreter's lock
    /// The plans that each session keeps for the operator. Protected by the interpreter's lock.
    std::map<const Session*, std::shared_ptr<OperatorPlans>> plans = {};

    /// Returns the plans that `session` keeps for the operator.
    [[nodiscard]] const std::shared_ptr<OperatorPlans>& plans_in(Session& session)
    {
        auto found = plans.find(&session);
        if (found == plans.end())
            found = plans.emplace(&session, core(session).plans_of(op)).first;
        return found->second;
    }
    bool is_done_with_keys = false;  ///< true after a warning that equal keys occur in separate places
    /// Classes of named tuples for results, without keys and with keys. Null until first used; owned by
    /// Python.
    PyObject* result_class[2] = {};
};

/// An operator as returned by `segfold.operator`. If its type `T` is open, each call uses the operator for
/// the type of the call's arrays.
class PyOperator {
public:
    /// Makes an operator with fixed types.
    explicit PyOperator(Operator checked);
    /// Makes a standard operator from its name, such as "sum", or its name with a type, such as "sum_i32".
    static PyOperator standard(const std::string& name);
    /// Parses the text of an operator, which may use `T` for a type. Messages call the text `file`.
    static PyOperator of_text(const std::string& file, const std::string& text);

    /// Returns an operator that computes the results of both operators in one pass.
    static PyOperator product(const PyOperator& left, const PyOperator& right);

    /// Returns the operator for this operator's running results; see segfold::scanned(). It is made only
    /// once, so its plans are kept from call to call.
    [[nodiscard]] PyOperator& scanned(ScanForm form);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool is_generic() const { return fixed_ == nullptr; }
    /// Returns the operator with fixed types. Throws InputError if `T` is open.
    [[nodiscard]] TypedOperator& fixed() const;
    [[nodiscard]] const std::shared_ptr<TypedOperator>& fixed_pointer() const { return fixed_; }
    /// Returns the operator for `type`, which an operator with fixed types ignores.
    [[nodiscard]] TypedOperator& typed(Type type) { return *typed_pointer(type); }
    [[nodiscard]] const std::shared_ptr<TypedOperator>& typed_pointer(Type type);
    [[nodiscard]] const std::vector<DeclaredParameter>& parameters() const { return parameters_; }
    /// Returns the types allowed for `T`; empty for an operator with fixed types.
    [[nodiscard]] const std::vector<Type>& types() const { return types_; }
    /// Returns the operator itself; if `T` is open, the operator for the first of types().
    [[nodiscard]] const Operator& example() const;
    /// Returns the two factors, if this is a product with an open `T`; otherwise null.
    [[nodiscard]] const std::pair<PyOperator, PyOperator>* factors() const { return factors_.get(); }
    /// If this scans an operator with an open `T`, returns that operator and the kind of scan; otherwise
    /// null.
    [[nodiscard]] const std::pair<PyOperator, ScanForm>* scanned_operator() const { return scan_of_.get(); }
    /// Returns the origin of the operator ("standard", "text", "product" or "scan"), and a name or text.
    [[nodiscard]] std::pair<std::string, std::string> origin() const;
    /// Returns the signature, such as "mean_variance(x: f32) -> (mean: f32, variance: f32)".
    [[nodiscard]] std::string signature() const;
    /// Returns the operator's text. If `T` is open and there is no text with `T`, returns the text for the
    /// first of types(), with a comment that says so.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool equals(const PyOperator& other) const;
    /// Returns the full texts of all warnings that calls of the operator have given. If there were none,
    /// returns the warnings of a new search for counter-examples.
    [[nodiscard]] std::vector<std::string> warnings() const;

private:
    PyOperator() = default;
    /// Returns a text about the operator's types, such as "This is sum for i8. It takes i8, i16, ...".
    [[nodiscard]] std::string text_of_types() const;

    std::string name_;
    std::string text_;  ///< text of an operator with an open `T`; empty for standard operators and products
    std::shared_ptr<std::pair<PyOperator, PyOperator>> factors_;
    std::shared_ptr<std::pair<PyOperator, ScanForm>> scan_of_;
    /// The operators returned by scanned(), at index exclusive + 2 * reverse. Null until first used.
    std::shared_ptr<PyOperator> scanned_[4];
    std::vector<DeclaredParameter> parameters_;
    std::vector<Type> types_;
    std::shared_ptr<TypedOperator> fixed_;
    std::map<Type, std::shared_ptr<TypedOperator>> by_type_;
};

void bind_operator(nb::module_& module);

}  // namespace segfold::python
