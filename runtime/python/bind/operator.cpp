#include "runtime/python/bind/operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>

#include "dsl/check/warnings.h"
#include "dsl/derived.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "dsl/text/standard_operators.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/operator_docs.h"

namespace segfold::python {
namespace {

std::vector<DeclaredParameter> parameters_of(const Operator& op)
{
    std::vector<DeclaredParameter> parameters;
    for (const auto& parameter : op.parameters)
        parameters.push_back(
            {parameter.name, parameter.type, parameter.table, parameter.scalar, parameter.row});
    return parameters;
}

/// Returns the first line of the operator's text, without "operator" and the brace.
std::string header_of(const std::string& text)
{
    auto begin = text.rfind("operator ", text.find('{'));
    begin = begin == std::string::npos ? 0 : begin + 9;
    auto header = text.substr(begin, text.find('{', begin) - begin);
    header.erase(header.find_last_not_of(" \n") + 1);
    return header;
}

/// Parses a type. It may be given as a type of segfold, its name, a dtype of NumPy or torch, or the name of a
/// dtype.
Type type_called(nb::handle given)
{
    if (PyUnicode_Check(given.ptr()))
        if (const auto type = find_type(nb::cast<std::string>(given)))
            return *type;
    const auto word = nb::cast<std::string>(nb::module_::import_("segfold._kinds").attr("type_word")(given));
    if (const auto type = find_type(word))
        return *type;
    throw InternalError("a word of no type");
}

/// Reads `exclusive=` or `reverse=`, where None counts as False. Throws TypeError if the value is probably
/// meant for a parameter of that name.
bool scan_word(const PyOperator& op, const std::string& word, nb::handle value)
{
    const auto& parameters = op.parameters();
    if (std::ranges::find(parameters, word, &DeclaredParameter::name) != parameters.end() &&
        !PyBool_Check(value.ptr()) && !value.is_none())
        throw nb::type_error(fmt::format("{0}= is a word of scan, and operator {1} has a parameter '{0}', "
                                         "which stands by position or in a dictionary",
                                         word, op.name())
                                 .c_str());
    return !value.is_none() && value_of<bool>(word, value, "True or False");
}

}  // namespace

PyOperator::PyOperator(Operator checked)
    : name_(checked.name),
      parameters_(parameters_of(checked)),
      fixed_(std::make_shared<TypedOperator>(std::move(checked)))
{}

PyOperator PyOperator::standard(const std::string& name)
{
    for (const auto& known : standard_operators())
        if (known.name == name) {
            PyOperator op;
            op.name_ = name;
            op.parameters_ = standard_parameters(name);
            op.types_ = known.types;
            return op;
        }
    return PyOperator(standard_operator(name));  // a name with a type; throws if the name is unknown
}

PyOperator PyOperator::of_text(const std::string& file, const std::string& text)
{
    const auto declared = declared_parameters(file, text);
    if (std::ranges::all_of(declared, [](const auto& parameter) { return parameter.type.has_value(); }))
        return PyOperator(parse_operator(file, text));
    PyOperator op;
    std::optional<Operator> first;
    std::exception_ptr failure;
    for (const auto type : kTypes) {
        try {
            auto parsed = parse_operator(file, text, type);
            op.types_.push_back(type);
            if (!first)
                first = std::move(parsed);
        } catch (const SpecError&) {
            if (type == Type::f32)
                failure = std::current_exception();
        }
    }
    if (!first) {
        parse_operator(file, text);  // throws a clearer error if a parameter has neither a type nor T
        std::rethrow_exception(failure);
    }
    op.name_ = first->name;
    op.text_ = text;
    op.parameters_ = declared;
    return op;
}

PyOperator PyOperator::product(const PyOperator& left, const PyOperator& right)
{
    std::optional<Type> asked;  // type of a shared parameter, if only one of the operators leaves it open
    for (const auto& ours : left.parameters_)
        for (const auto& theirs : right.parameters_)
            if (ours.name == theirs.name && ours.type.has_value() != theirs.type.has_value())
                asked = ours.type ? ours.type : theirs.type;
    // Copies the operator, because typed() is not const.
    const auto typed = [](PyOperator op, Type type) { return op.typed(type).op; };
    if (asked || (!left.is_generic() && !right.is_generic()))
        return PyOperator(typed(left, asked.value_or(Type::f32)) & typed(right, asked.value_or(Type::f32)));
    PyOperator op;
    for (const auto type : kTypes) {
        const auto serves = [&](const PyOperator& factor) {
            return !factor.is_generic() || std::ranges::find(factor.types_, type) != factor.types_.end();
        };
        if (serves(left) && serves(right))
            op.types_.push_back(type);
    }
    if (op.types_.empty())
        throw InputError(fmt::format("operators {} and {} have no type in common", left.name_, right.name_));
    op.name_ = (typed(left, op.types_.front()) & typed(right, op.types_.front())).name;
    op.parameters_ = left.parameters_;
    for (const auto& parameter : right.parameters_)
        if (std::ranges::find(op.parameters_, parameter.name, &DeclaredParameter::name) ==
            op.parameters_.end())
            op.parameters_.push_back(parameter);
    op.factors_ = std::make_shared<std::pair<PyOperator, PyOperator>>(left, right);
    return op;
}

PyOperator& PyOperator::scanned(ScanForm form)
{
    auto& kept = scanned_[(form.exclusive ? 1 : 0) + (form.reverse ? 2 : 0)];
    if (kept)
        return *kept;
    if (fixed_) {
        kept = std::make_shared<PyOperator>(segfold::scanned(fixed_->op, form));
        return *kept;
    }
    (void)segfold::scanned(example(), form);  // throws if the operator cannot be scanned
    PyOperator made;
    made.name_ = name_;
    made.parameters_ = parameters_;
    made.types_ = types_;
    made.scan_of_ = std::make_shared<std::pair<PyOperator, ScanForm>>(*this, form);
    kept = std::make_shared<PyOperator>(std::move(made));
    return *kept;
}

TypedOperator& PyOperator::fixed() const
{
    if (!fixed_)
        throw InputError(fmt::format("operator {} is of no type yet: {}; choose one by typed(\"f32\")", name_,
                                     signature()));
    return *fixed_;
}

const std::shared_ptr<TypedOperator>& PyOperator::typed_pointer(Type type)
{
    if (fixed_)
        return fixed_;
    if (const auto found = by_type_.find(type); found != by_type_.end())
        return found->second;
    // Adds the operator to the map only after it has been made, because making it may throw for this type.
    auto op = factors_        ? factors_->first.typed(type).op & factors_->second.typed(type).op
              : scan_of_      ? segfold::scanned(scan_of_->first.typed(type).op, scan_of_->second)
              : text_.empty() ? standard_operator(name_, type)
                              : parse_operator(name_, text_, type);
    return by_type_.emplace(type, std::make_shared<TypedOperator>(std::move(op))).first->second;
}

const Operator& PyOperator::example() const
{
    return const_cast<PyOperator*>(this)->typed(types_.empty() ? Type::f32 : types_.front()).op;
}

std::pair<std::string, std::string> PyOperator::origin() const
{
    if (fixed_)
        return {"printed", print(fixed_->op)};
    if (factors_)
        return {"product", factors_->first.origin().second + " & " + factors_->second.origin().second};
    if (scan_of_)
        return {"scan", fmt::format("{} {} {}", scan_of_->first.origin().second, scan_of_->second.exclusive,
                                    scan_of_->second.reverse)};
    return text_.empty() ? std::pair<std::string, std::string>("standard", name_)
                         : std::pair<std::string, std::string>("text", text_);
}

std::string PyOperator::text() const
{
    if (fixed_)
        return print(fixed_->op);
    if (factors_ || scan_of_)
        return fmt::format("{}# {}\n", print(example()), text_of_types());
    if (!text_.empty())
        return text_;
    const auto printed = print(standard_operator(name_, types_.front()));
    return types_.size() == 1 ? printed : fmt::format("{}# {}\n", printed, text_of_types());
}

std::string PyOperator::text_of_types() const
{
    std::vector<std::string_view> takes;
    for (const auto type : types_)
        takes.push_back(segfold::name(type));
    return fmt::format("This is {0} for {1}. It takes {2}; typed(\"{3}\") is that for {3}.", name_,
                       takes.front(), fmt::join(takes, ", "), takes.back());
}

std::string PyOperator::signature() const
{
    if (fixed_)
        return header_of(print(fixed_->op));
    if (!text_.empty())
        return header_of(text_);
    std::string list;
    for (const auto& parameter : parameters_)
        list +=
            fmt::format("{}{}: {}{}{}", list.empty() ? "" : ", ", parameter.name,
                        parameter.scalar  ? "scalar "
                        : parameter.table ? "table "
                                          : "",
                        parameter.row ? "row " : "", parameter.type ? segfold::name(*parameter.type) : "T");
    return fmt::format("{}({})", name_, list);
}

bool PyOperator::equals(const PyOperator& other) const
{
    if (fixed_ && other.fixed_)
        return same(fixed_->op, other.fixed_->op);
    return !fixed_ && !other.fixed_ && origin() == other.origin();
}

std::vector<std::string> PyOperator::warnings() const
{
    std::vector<std::string> texts;
    const auto add = [&](const TypedOperator& typed) {
        for (const auto& [line, text] : typed.told)
            if (std::ranges::find(texts, text) == texts.end())
                texts.push_back(text);
    };
    if (fixed_)
        add(*fixed_);
    for (const auto& [type, typed] : by_type_)
        add(*typed);
    if (!texts.empty())
        return texts;
    const auto& op = example();  // created and kept under the interpreter's lock
    const nb::gil_scoped_release released;
    texts = segfold::warnings(op);
    std::ranges::move(law_warnings(quick_laws(op), op), std::back_inserter(texts));
    return texts;
}

void bind_operator(nb::module_& module)
{
    using namespace nb::literals;
    nb::class_<PyOperator>(
        module, "Operator", nb::dynamic_attr(), nb::is_weak_referenceable(),
        "An associative operator, which folds the segments of arrays when it is called.\n\n"
        "Made by :func:`segfold.operator` and :func:`segfold.expression`, or one of ``segfold.standard``.")
        .def(
            "__call__",
            [](PyOperator& op, const nb::args& arrays, const nb::kwargs& words) {
                Call call(op, arrays, words);
                return fold(call);
            },
            nb::sig("def __call__(self, *columns: typing.Any, " SEGFOLD_WORDS_OF_A_CALL), kCallDoc)
        .def(
            "scan",
            [](PyOperator& op, const nb::args& arrays, const nb::kwargs& words) {
                ScanForm form;
                nb::dict others;
                for (const auto& [word, value] : words) {
                    const auto text = nb::cast<std::string>(word);
                    if (text == "exclusive" || text == "reverse")
                        (text == "exclusive" ? form.exclusive : form.reverse) = scan_word(op, text, value);
                    else
                        others[word] = value;
                }
                Call call(op.scanned(form), arrays, nb::borrow<nb::kwargs>(others));
                return fold(call);
            },
            nb::sig("def scan(self, *columns: typing.Any, exclusive: bool = False, reverse: bool = "
                    "False, " SEGFOLD_WORDS_OF_A_CALL),
            kScanDoc)
        .def(
            "scanned",
            [](PyOperator& op, bool exclusive, bool reverse) {
                return op.scanned({exclusive, reverse});
            },
            "exclusive"_a = false, "reverse"_a = false,
            "The operator whose results are the running results of this one, which :meth:`scan` calls: for "
            "plans, checks and emitted text of a scan.")
        .def_prop_ro("name", &PyOperator::name, "The operator's name.")
        .def_prop_ro("text", &PyOperator::text, "The operator in the text form.")
        .def_prop_ro("signature", &PyOperator::signature, "Its first line, ``mean(x: f32) -> f64``.")
        .def_prop_ro("is_generic", &PyOperator::is_generic,
                     "True where the type ``T`` is that of the arrays.")
        .def_prop_ro(
            "types",
            [](const PyOperator& op) {
                nb::list names;
                for (const auto type : op.types())
                    names.append(std::string(segfold::name(type)));
                return nb::tuple(names);
            },
            "What ``T`` may be; empty for an operator of fixed types.")
        .def_prop_ro(
            "parameters",
            [](const PyOperator& op) {
                nb::list list;
                for (const auto& parameter : op.parameters())
                    list.append(nb::make_tuple(
                        parameter.name, parameter.type ? std::string(segfold::name(*parameter.type)) : "T",
                        parameter.table && !parameter.scalar));
                return nb::tuple(list);
            },
            "``(name, type, is_table)`` of each array and scalar that a call takes.")
        .def_prop_ro(
            "scalars",
            [](const PyOperator& op) {
                nb::list list;
                for (const auto& parameter : op.parameters())
                    if (parameter.scalar)
                        list.append(parameter.name);
                return nb::tuple(list);
            },
            "The names of parameters that are one number each.")
        .def_prop_ro(
            "rows",
            [](const PyOperator& op) {
                nb::list list;
                for (const auto& parameter : op.parameters())
                    if (parameter.row)
                        list.append(parameter.name);
                return nb::tuple(list);
            },
            "The names of columns and tables that hold rows of features: arrays of two dimensions.")
        .def_prop_ro(
            "results",
            [](const PyOperator& op) {
                nb::list list;
                try {
                    for (const auto& field : op.fixed().fields)
                        list.append(nb::make_tuple(field.name, std::string(segfold::name(field.type))));
                } catch (const InputError& error) {
                    raise_open_type(error);
                }
                return nb::tuple(list);
            },
            "``(name, type)`` of each array that a call returns: results of segments, then those of "
            "elements. "
            "Raises OpenTypeError, an InputError and an AttributeError, for an operator without a type.")
        .def_prop_ro(
            "outputs",
            [](const PyOperator& op) {
                nb::list list;
                for (const auto& output : op.example().outputs)
                    list.append(output.name);
                return nb::tuple(list);
            },
            "The names of results that have a value for every element: what ``map`` and ``scan`` give.")
        .def_prop_ro(
            "description", [](const PyOperator& op) { return op.example().description; },
            "The comment above the operator.")
        .def_prop_ro(
            "laws",
            [](const PyOperator& op) {
                nb::list list;
                if (op.example().laws.commutative)
                    list.append("commutative");
                if (op.example().laws.idempotent)
                    list.append("idempotent");
                return nb::tuple(list);
            },
            "What is claimed beyond associativity.")
        .def_prop_ro(
            "has_identity", [](const PyOperator& op) { return op.example().has_identity(); },
            "True for a monoid, False for a semigroup.")
        .def(
            "typed",
            [](PyOperator& op, const nb::object& type) { return PyOperator(op.typed(type_called(type)).op); },
            "type"_a.none(), nb::sig("def typed(self, type: typing.Any) -> Operator"),
            "The operator with ``T`` as ``type``: ``sf.f32`` or ``\"f32\"``, or a dtype of NumPy or its "
            "name, "
            "``\"float32\"``.")
        .def(
            "_cached_plans",
            [](PyOperator& op, const nb::object& type) {
                std::size_t count = 0;
                for (const auto& [session, plans] : op.typed(type_called(type)).plans)
                    count += plans->size();
                return count;
            },
            "type"_a = "f32")
        .def("_origin", &PyOperator::origin)
        .def("_warnings", &PyOperator::warnings)
        .def("__and__", &PyOperator::product, nb::is_operator(),
             "The product: an operator that folds to the results of both in one pass over the elements.\n\n"
             "Columns of one name are one column. Results whose names collide get their operator's name "
             "before theirs. Raises InputError where types exclude each other.")
        .def("__reduce__",
             [](const PyOperator& op) {
                 if (const auto* factors = op.factors())
                     return nb::make_tuple(nb::module_::import_("operator").attr("and_"),
                                           nb::make_tuple(factors->first, factors->second));
                 if (const auto* scan = op.scanned_operator())
                     return nb::make_tuple(
                         nb::module_::import_("operator")
                             .attr("methodcaller")("scanned", scan->second.exclusive, scan->second.reverse),
                         nb::make_tuple(scan->first));
                 const auto [kind, text] = op.origin();
                 return nb::make_tuple(nb::module_::import_("segfold._verbs").attr("restore"),
                                       nb::make_tuple(kind, text));
             })
        .def(
            "__eq__",
            [](const PyOperator& op, const nb::object& other) -> nb::object {
                if (!nb::isinstance<PyOperator>(other))
                    return nb::borrow(Py_NotImplemented);
                return nb::bool_(op.equals(nb::cast<const PyOperator&>(other)));
            },
            nb::sig("def __eq__(self, other: object, /) -> bool"), "other"_a.none())
        .def("__hash__",
             [](const PyOperator& op) { return std::hash<std::string>()(op.name() + op.signature()); })
        .def("__repr__",
             [](const PyOperator& op) { return fmt::format("<segfold.Operator {}>", op.signature()); })
        .def("__str__", &PyOperator::text)
        .def("_repr_html_", [](const nb::object& self) {
            return nb::module_::import_("segfold._html").attr("operator_html")(self);
        });
    module.def("standard_operator", &PyOperator::standard, "name"_a);
    module.def("standard_names", [] {
        nb::list list;
        for (const auto& op : standard_operators())
            list.append(nb::make_tuple(op.name, op.summary));
        return nb::tuple(list);
    });
    module.def(
        "is_standard", [](const std::string& name) { return is_standard_operator(name); }, "name"_a);
    module.def("operator_of_text", &PyOperator::of_text, "file"_a, "text"_a);
    module.def(
        "operator_of_expression",
        [](const std::string& combine, const nb::object& type, const std::string& identity,
           const std::string& lift, const std::string& finish, bool commutative) {
            return PyOperator(
                parse_short_form({combine, type_called(type), identity, lift, finish, commutative}));
        },
        "combine"_a, "type"_a, "identity"_a, "lift"_a, "finish"_a, "commutative"_a);
    module.def(
        "restore",
        [](const std::string& kind, const std::string& text) {
            if (kind == "standard")
                return PyOperator::standard(text);
            return kind == "text" ? PyOperator::of_text("operator", text) : PyOperator(parse_printed(text));
        },
        "kind"_a, "text"_a, "What unpickling calls.");
}

}  // namespace segfold::python
