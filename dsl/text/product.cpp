#include "dsl/derived.h"

#include <algorithm>
#include <memory>

#include "dsl/check/append.h"
#include "dsl/check/check.h"
#include "dsl/check/typing.h"
#include "dsl/laws/laws.h"
#include "dsl/message/complaints.h"
#include "dsl/text/standard_operators.h"
#include "dsl/text/uses.h"

namespace segfold {
namespace {

using Names = std::map<std::string, std::string>;

/// Renames fields and locals in a checked expression. Sets its position to `position`, for messages.
Expression renamed(const Expression& expression, const Names& fields, const Names& locals,
                   const std::map<std::string, Expression>& parameters, Position position)
{
    ExpressionNode node = *expression;
    node.position = position;
    for (auto& argument : node.arguments)
        argument = renamed(argument, fields, locals, parameters, position);
    const bool is_local = node.kind == ExpressionKind::name && locals.contains(node.name);
    if (const auto given = parameters.find(node.name); given != parameters.end() && !is_local) {
        if (node.kind == ExpressionKind::name)
            return given->second;
        if (node.kind == ExpressionKind::gather)
            node.name = given->second->name;
    }
    if (node.kind == ExpressionKind::field)
        if (const auto found = fields.find(node.name); found != fields.end())
            node.name = found->second;
    if (node.kind == ExpressionKind::name)
        if (const auto found = locals.find(node.name); found != locals.end())
            node.name = found->second;
    return Expression(std::move(node));
}

/// New names of one factor's results and fields in the product.
struct Renaming {
    std::string label;
    Names fields;
    Names results;
};

class Product {
public:
    explicit Product(std::vector<Factor> factors, std::optional<std::vector<Parameter>> parameters = {})
        : factors_(std::move(factors)), parameters_(std::move(parameters))
    {}

    Operator make(const SourcePointer& source = nullptr, const std::string& called = {})
    {
        if (factors_.empty())
            throw InputError("a product of no operators");
        for (const auto& factor : factors_) {
            if (factor.op.state.empty())
                throw InputError("operator '" + factor.op.name +
                                 "' of a product has no state: it has been moved from, or was never defined; "
                                 "use the one that it was moved to, or define one");
            if (factor.op.map || factor.op.scan)
                throw InputError("operator " + factor.op.name + " has a " +
                                 (factor.op.scan ? "scan" : "map") +
                                 ", which no product has: a product joins the results of segments; "
                                 "fold it alone");
        }
        settle_identities();
        name_all();
        Operator whole;
        whole.name = called.empty() ? joined_name() : called;
        whole.source = source;
        whole.earlier = factors_[0].op.earlier;
        whole.later = factors_[0].op.later;
        whole.laws = {true, true};
        if (parameters_)
            whole.parameters = *parameters_;
        const auto has = [&](const auto& part) {
            return std::ranges::any_of(factors_, [&](const Factor& f) { return part(f.op).has_value(); });
        };
        const bool finishes = has([](const Operator& op) -> auto& { return op.finish; });
        const bool empties = has([](const Operator& op) -> auto& { return op.empty; });
        if (finishes)
            whole.finish.emplace();
        if (empties)
            whole.empty.emplace();
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            auto& op = factors_[i].op;
            const auto& names = renamings_[i];
            whole.description += (i == 0 ? "" : " & ") + op.name;
            for (const auto& parameter : op.parameters)
                if (!parameters_)
                    add_parameter(whole, parameter, op);
            for (auto field : op.state) {
                field.name = names.fields.at(field.name);
                field.position = {};
                whole.state.push_back(std::move(field));
            }
            for (const auto& result : op.results)
                whole.results.push_back({names.results.at(result.name), result.type, {}});
            whole.laws.commutative = whole.laws.commutative && op.laws.commutative;
            whole.laws.idempotent = whole.laws.idempotent && op.laws.idempotent;
        }
        const bool appends = can_append(whole);
        if (appends)
            whole.append.emplace();
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            const auto& op = factors_[i].op;
            const auto& names = renamings_[i];
            const auto at = factors_[i].position;
            add(whole.lift, op.lift, names, names.fields, whole, at, factors_[i].arguments);
            add(whole.combine, op.combine, names, names.fields, whole, at);
            if (appends && op.append)
                add(*whole.append, *op.append, names, names.fields, whole, at, factors_[i].arguments);
            else if (appends)
                add(*whole.append, joined_lift(op), names, names.fields, whole, at, factors_[i].arguments);
            if (finishes)
                add(*whole.finish, op.finish ? *op.finish : copies(op), names, names.results, whole, at);
            if (empties)
                add(*whole.empty, *op.empty, names, names.results, whole, at);
        }
        return check(std::move(whole));
    }

private:
    /// True if the product can have an `append`. One factor must have `append`. The other factors append by
    /// lift and combine, so their lifts must read no table.
    [[nodiscard]] bool can_append(const Operator& whole) const
    {
        return std::ranges::any_of(factors_, [](const Factor& f) { return f.op.append.has_value(); }) &&
               std::ranges::all_of(
                   factors_,
                   [](const Factor& f) { return f.op.append.has_value() || !lift_reads_tables(f.op); }) &&
               std::ranges::find(whole.parameters, whole.earlier, &Parameter::name) == whole.parameters.end();
    }

    /// Keeps the identities only if every factor has an identity. Keeps the results of empty segments only if
    /// every factor has them. If one factor defines `empty`, every factor gets an `empty`.
    void settle_identities()
    {
        const bool is_monoid =
            std::ranges::all_of(factors_, [](const Factor& f) { return f.op.has_identity(); });
        const bool is_total =
            std::ranges::all_of(factors_, [](const Factor& f) { return f.op.allows_empty(); });
        const bool says_empty =
            std::ranges::any_of(factors_, [](const Factor& f) { return f.op.empty.has_value(); });
        for (auto& [op, label, arguments, position] : factors_) {
            auto semigroup = without_identity(op);
            if (!is_monoid)
                op = semigroup;
            if (is_total && (says_empty || !is_monoid))
                op.empty = semigroup.empty;
            if (!is_total)
                op.empty.reset();
        }
    }

    /// Returns the preferred name of a result, used if no other result has it. A nameless result takes its
    /// operator's name.
    [[nodiscard]] std::string wished_name(std::size_t factor, const ResultField& result) const
    {
        const auto& label = renamings_[factor].label;
        if (result.name == kResultName)
            return label;
        return factors_[factor].label.empty() ? result.name : label + "_" + result.name;
    }

    void name_all()
    {
        std::map<std::string, int> labels, fields, results;
        for (auto& [op, label, arguments, position] : factors_) {
            renamings_.push_back({label.empty() ? op.name : label, {}, {}});
            for (const auto& field : op.state)
                ++fields[field.name];
            if (const int again = labels[renamings_.back().label]++; again > 0)
                renamings_.back().label += std::to_string(again + 1);
            for (const auto& result : op.results)
                ++results[wished_name(renamings_.size() - 1, result)];
        }
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            const auto& op = factors_[i].op;
            auto& names = renamings_[i];
            for (const auto& field : op.state)
                names.fields[field.name] =
                    fields[field.name] > 1 ? names.label + "_" + field.name : field.name;
            for (const auto& result : op.results) {
                const auto wished = wished_name(i, result);
                const bool is_bare = result.name != kResultName && factors_[i].label.empty();
                names.results[result.name] =
                    is_bare && results[wished] > 1 ? names.label + "_" + wished : wished;
            }
        }
    }

    [[nodiscard]] std::string joined_name() const
    {
        std::string name;
        for (const auto& [op, label, arguments, position] : factors_)
            name += (name.empty() ? "" : "_and_") + op.name;
        return name.size() <= kLongestName ? name : "product_of_" + std::to_string(factors_.size());
    }

    static void add_parameter(Operator& whole, const Parameter& parameter, const Operator& op)
    {
        const auto kind = [](const Parameter& p) {
            return std::string(p.scalar  ? "scalar "
                               : p.table ? "table "
                                         : "") +
                   (p.row ? "row " : "") + std::string(name(p.type));
        };
        const auto role = [](const Parameter& p) {
            return std::string(p.scalar  ? "a scalar"
                               : p.table ? "a table"
                                         : "a column") +
                   (p.row ? " of rows of " : " of ") + std::string(name(p.type));
        };
        const auto known = std::ranges::find(whole.parameters, parameter.name, &Parameter::name);
        if (known == whole.parameters.end())
            whole.parameters.push_back(
                {parameter.name, parameter.type, parameter.table, {}, parameter.scalar, parameter.row});
        else if (kind(*known) != kind(parameter) && known->type == parameter.type)
            throw InputError("parameter '" + parameter.name + "' of operator " + op.name + " is " +
                             role(parameter) + ", and another operator of the product has it as " +
                             role(*known) + "; give one of them another name");
        else if (kind(*known) != kind(parameter))
            throw InputError("parameter '" + parameter.name + "' of operator " + op.name + " is " +
                             kind(parameter) + ", but another operator of the product has it as " +
                             kind(*known) + "; name their types, as in sum_f32 & max_f32");
    }

    /// Makes a finish that copies the fields in their order.
    static Block copies(const Operator& op)
    {
        Block block;
        for (std::size_t i = 0; i < op.results.size(); ++i)
            block.assignments.push_back(
                {op.results[i].name,
                 with_type(make_field(Operand::state, op.state[i].name), {}, op.state[i].type),
                 {}});
        return block;
    }

    static void add(Block& into, const Block& from, const Renaming& names, const Names& targets,
                    const Operator& whole, Position at,
                    const std::map<std::string, Expression>& parameters = {})
    {
        const auto taken = [&](const std::string& local) {
            return local == whole.earlier || local == whole.later ||
                   std::ranges::find(into.lets, local, &Let::name) != into.lets.end() ||
                   std::ranges::find(whole.parameters, local, &Parameter::name) != whole.parameters.end() ||
                   std::ranges::find(whole.state, local, &StateField::name) != whole.state.end();
        };
        Names locals;
        for (const auto& let : from.lets) {
            auto local = let.name;
            if (taken(local))
                local = names.label + "_" + let.name;
            while (taken(local))
                local += "_";
            locals[let.name] = local;
            into.lets.push_back({local, renamed(let.value, names.fields, locals, parameters, at), at});
        }
        for (const auto& assignment : from.assignments)
            into.assignments.push_back({targets.at(assignment.field),
                                        renamed(assignment.value, names.fields, locals, parameters, at), at});
    }

    std::vector<Factor> factors_;
    std::optional<std::vector<Parameter>> parameters_;
    std::vector<Renaming> renamings_;
};

}  // namespace

Operator product(std::vector<Factor> factors) { return Product(std::move(factors)).make(); }

Operator product_of_uses(const Operator& head, const std::vector<Use>& uses)
{
    Scope scope;  // names that lift may use, because lift computes the arguments
    for (const auto& parameter : head.parameters)
        (parameter.table ? scope.tables : scope.names).emplace(parameter.name, parameter.type);
    for (const auto* place : {"index", "position", "segment"})
        scope.names.emplace(place, Type::i64);
    const Typing typing(head, std::move(scope));
    std::vector<Factor> factors;
    for (const auto& use : uses) {
        const auto fail = [&](const std::string& message, const std::string& hint = {}) {
            throw placed_error(head.source, use.position, message, hint);
        };
        // A table is passed by its name. Any other argument is an expression, with the type that it has in
        // lift.
        const auto type_of = [&](const DeclaredParameter& declared, const Expression& argument) {
            const auto known = std::ranges::find(head.parameters, argument->name, &Parameter::name);
            return declared.table && known != head.parameters.end() ? std::optional(known->type)
                                                                    : typing.stated(argument);
        };
        try {
            const auto declared = standard_parameters(use.name);
            auto arguments = use.arguments;
            if (!use.has_arguments)
                for (const auto& parameter : declared)
                    arguments.push_back(make_name(parameter.name, use.position));
            if (arguments.size() != declared.size())
                fail("operator " + use.name + " takes " + std::to_string(declared.size()) +
                     (declared.size() == 1 ? " argument" : " arguments") + ", found " +
                     std::to_string(arguments.size()));
            std::optional<Type> type;
            bool is_generic = false;
            for (std::size_t i = 0; i < declared.size(); ++i)
                if (!declared[i].type) {
                    is_generic = true;
                    type = type ? type : type_of(declared[i], arguments[i]);
                }
            if (is_generic && !type)
                fail("nothing here says of which type " + use.name + " is",
                     "write the type behind its name, as in " + use.name + "_f32");
            Factor factor{standard_operator(use.name, type), use.label, {}, use.position};
            for (std::size_t i = 0; i < declared.size(); ++i) {
                if (declared[i].table && arguments[i]->kind != ExpressionKind::name)
                    fail("'" + declared[i].name + "' of " + use.name + " is a table",
                         "give it a table's name");
                factor.arguments.emplace(declared[i].name, arguments[i]);
            }
            factors.push_back(std::move(factor));
        } catch (const InputError& error) {
            fail(error.what());
        }
    }
    auto whole = Product(std::move(factors), head.parameters).make(head.source, head.name);
    whole.description = head.description;
    return whole;
}

Operator operator&(const Operator& left, const Operator& right)
{
    auto factors = std::make_shared<std::vector<Operator>>();
    for (const auto* side : {&left, &right})
        if (side->factors)
            factors->insert(factors->end(), side->factors->begin(), side->factors->end());
        else
            factors->push_back(*side);
    std::vector<Factor> all;
    for (const auto& factor : *factors)
        all.push_back({factor});
    auto whole = product(std::move(all));
    whole.factors = std::move(factors);
    return whole;
}

}  // namespace segfold
