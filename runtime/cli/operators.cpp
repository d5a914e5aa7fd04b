// segfold operators: the operators that come with the program, and the text of one.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dsl/printer.h"
#include "dsl/standard_operators.h"
#include "runtime/cli/json.h"
#include "runtime/cli/operator_argument.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/verbs.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

std::string types_of(const StandardOperator& op)
{
    std::string all, integers, reals;
    bool has_bool = false;
    std::size_t num_integers = 0, num_reals = 0;
    for (const Type type : op.types) {
        all += (all.empty() ? "" : " ") + std::string(name(type));
        has_bool = has_bool || type == Type::boolean;
        num_integers += is_integer(type);
        num_reals += is_float(type);
    }
    constexpr std::size_t kAllIntegers = 8, kAllReals = 4;
    if (num_integers == kAllIntegers && num_reals == kAllReals)
        return has_bool ? "any" : "numbers";
    if (num_reals == kAllReals && num_integers == 0 && !has_bool)
        return "floats";
    if (num_integers == kAllIntegers && num_reals == 0 && !has_bool)
        return "integers";
    return all;
}

void list_operators(bool json)
{
    if (!json) {
        TextTable table({{"operator"}, {"types"}, {"folds to"}});
        for (const auto& op : standard_operators())
            table.add({op.name, types_of(op), op.summary});
        write_output(table.print());
        return;
    }
    Json list = Json::array();
    for (const auto& op : standard_operators()) {
        Json types = Json::array();
        for (const Type type : op.types)
            types.push_back(name(type));
        list.push_back({{"name", op.name}, {"summary", op.summary}, {"types", std::move(types)}});
    }
    write_json("operators", {{"operators", std::move(list)}});
}

}  // namespace

int verb_operators(const Words& words)
{
    const Arguments arguments("operators", words, join({kOperatorFlags}), 1);
    if (!names_operator(arguments)) {
        for (const auto& flag : kOperatorFlags)
            arguments.refuse(flag.name, "belongs to one operator; name it");
        list_operators(arguments.json());
        return 0;
    }
    const auto op = operator_argument(arguments);
    if (arguments.json())
        write_json("operator", {{"operator", json_of(op)}});
    else
        write_output(print(op));
    return 0;
}

}  // namespace segfold::cli
