// Converts traced Python functions to an operator's syntax tree.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <map>
#include <set>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "runtime/python/bind/names.h"
#include "runtime/python/bind/operator.h"
#include "runtime/python/bind/verbs.h"

namespace segfold::python {
namespace {

/// Stores the name of a source file in memory that is never freed, because positions point to it.
const char* kept(const std::string& file)
{
    static auto* files = new std::set<std::string>;
    return files->insert(file).first->c_str();
}

Type type_of(nb::handle word)
{
    if (const auto type = find_type(nb::cast<std::string>(word)))
        return *type;
    throw InternalError("a traced value of no type");
}

/// Converts a pair of file name and line number.
Position place_of(nb::handle pair)
{
    return {nb::cast<int>(pair[1]), 1, 1, kept(nb::cast<std::string>(pair[0]))};
}

/// Converts nodes, which are tuples of a kind, a source place and further members. A node that is used twice
/// is converted once.
class Reader {
public:
    Expression expression(nb::handle node)
    {
        if (const auto found = known_.find(node.ptr()); found != known_.end())
            return found->second;
        const auto made = make(nb::borrow<nb::tuple>(node));
        known_.emplace(node.ptr(), made);
        return made;
    }

    Block block(nb::handle part)
    {
        const auto facts = nb::cast<nb::dict>(part);
        Block block;
        block.position = place_of(facts["place"]);
        for (const nb::handle let : nb::iter(facts["lets"]))
            block.lets.push_back({text(let[0]), expression(let[1]), place_of(let[2])});
        for (const nb::handle set : nb::iter(facts["sets"]))
            block.assignments.push_back({text(set[0]), expression(set[1]), place_of(set[2])});
        return block;
    }

    static std::string text(nb::handle word) { return nb::cast<std::string>(word); }

private:
    Expression make(const nb::tuple& node)
    {
        const auto kind = text(node[0]);
        const auto at = place_of(node[1]);
        const auto argument = [&](std::size_t i) { return expression(nb::object(node[i])); };
        if (kind == "number")
            return number(nb::object(node[2]), at);
        if (kind == "constant")
            return make_constant(text(node[2]), at);
        if (kind == "limit")
            return make_limit(text(node[2]), type_of(node[3]), at);
        if (kind == "name")
            return make_name(text(node[2]), at);
        if (kind == "field")
            return make_field(operand(text(node[2])), text(node[3]), at);
        if (kind == "unary")
            return make_unary(text(node[2]), argument(3), at);
        if (kind == "binary")
            return make_binary(text(node[2]), argument(3), argument(4), at);
        if (kind == "conditional")
            return make_conditional(argument(2), argument(3), argument(4), at);
        if (kind == "convert")
            return make_convert(type_of(node[2]), argument(3), at);
        if (kind == "gather")
            return make_gather(text(node[2]), argument(3), at);
        if (kind != "call")
            throw InternalError("a traced value of kind " + kind);
        std::vector<Expression> arguments;
        for (std::size_t i = 3; i < node.size(); ++i)
            arguments.push_back(argument(i));
        return make_call(text(node[2]), std::move(arguments), at);
    }

    static Operand operand(const std::string& word)
    {
        return word == "earlier" ? Operand::earlier : word == "later" ? Operand::later : Operand::state;
    }

    static Expression number(nb::handle value, Position at)
    {
        ExpressionNode node;
        node.position = at;
        if (PyBool_Check(value.ptr())) {
            node.kind = ExpressionKind::boolean;
            node.magnitude = nb::cast<bool>(value) ? 1 : 0;
        } else if (PyLong_Check(value.ptr())) {
            node.kind = ExpressionKind::integer;
            node.negative = value < nb::int_(0);
            const nb::object magnitude = node.negative ? -value : nb::borrow(value);
            if (!nb::try_cast(magnitude, node.magnitude))
                throw spec_error(nullptr, at,
                                 fmt::format("the number {} has more than 64 bits", text_of(value)));
        } else {
            node.kind = ExpressionKind::real;
            node.real = nb::cast<double>(value);
        }
        return Expression(std::move(node));
    }

    std::map<PyObject*, Expression> known_;
};

PyOperator traced_operator(const nb::dict& facts)
{
    Reader reader;
    Operator op;
    op.name = Reader::text(facts["name"]);
    op.description = Reader::text(facts["description"]);
    op.position = place_of(facts["place"]);
    for (const nb::handle parameter : nb::iter(facts["parameters"]))
        op.parameters.push_back({Reader::text(parameter[0]), type_of(parameter[1]),
                                 nb::cast<bool>(parameter[2]), op.position, nb::cast<bool>(parameter[3]),
                                 nb::cast<bool>(parameter[4])});
    for (const nb::handle result : nb::iter(facts["results"]))
        op.results.push_back({Reader::text(result[0]), type_of(result[1]), op.position});
    for (const nb::handle output : nb::iter(facts["outputs"]))
        op.outputs.push_back({Reader::text(output[0]), type_of(output[1]), op.position});
    for (const nb::handle field : nb::iter(facts["state"])) {
        StateField made{Reader::text(field[0]), type_of(field[1]), std::nullopt, op.position};
        if (!nb::object(field[2]).is_none())
            made.identity = reader.expression(nb::object(field[2]));
        op.state.push_back(std::move(made));
    }
    op.earlier = Reader::text(facts["earlier"]);
    op.later = Reader::text(facts["later"]);
    op.lift = reader.block(facts["lift"]);
    op.combine = reader.block(facts["combine"]);
    if (!facts["append"].is_none())
        op.append = reader.block(facts["append"]);
    if (!facts["finish"].is_none())
        op.finish = reader.block(facts["finish"]);
    if (!facts["empty"].is_none())
        op.empty = reader.block(facts["empty"]);
    if (!facts["map"].is_none())
        op.map = reader.block(facts["map"]);
    if (!facts["scan"].is_none())
        op.scan = {Reader::text(facts["before"]), Reader::text(facts["through"]),
                   nb::cast<bool>(facts["is_reverse"]), reader.block(facts["scan"])};
    op.laws.commutative = nb::cast<bool>(facts["commutative"]);
    op.laws.idempotent = nb::cast<bool>(facts["idempotent"]);
    if (op.results.empty() && op.outputs.empty() && op.state.size() == 1)
        op.results.push_back({kResultName, op.state.front().type, op.position});
    return PyOperator(check(std::move(op)));
}

}  // namespace

void bind_trace(nb::module_& module)
{
    using namespace nb::literals;
    module.def("traced_operator", &traced_operator, "facts"_a);
    module.def(
        "raise_spec_error",
        [](const std::string& file, int line, const std::string& message, const std::string& hint) {
            throw spec_error(nullptr, {line, 1, 1, kept(file)}, message, hint);
        },
        "file"_a, "line"_a, "message"_a, "hint"_a);
}

}  // namespace segfold::python
