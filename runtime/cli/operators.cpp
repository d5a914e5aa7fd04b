// segfold operators: the operators that come with the program, and the text of one.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dsl/laws.h"
#include "dsl/printer.h"
#include "dsl/standard_operators.h"
#include "runtime/cli/json.h"
#include "runtime/cli/operator_argument.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/verbs.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr Flag kListFlags[] = {{"markdown"}};

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

/// A verdict's name in the words of the page.
std::string judged(Verdict verdict)
{
    if (verdict == Verdict::holds_exhaustively)
        return "holds for all states";
    if (verdict == Verdict::holds_up_to_rounding)
        return "up to rounding";
    std::string words(name(verdict));
    std::ranges::replace(words, '_', ' ');
    return words;
}

/// The laws that an operator claims, each with what a search of the same cases on every machine finds.
std::string laws_of(const Operator& op)
{
    constexpr LawOptions kSearch{2000, 3600, 1};
    std::string laws;
    for (const auto& finding : check_laws(op, kSearch).findings)
        laws += fmt::format("{}{} ({}{})", laws.empty() ? "" : ", ", name(finding.law),
                            judged(finding.verdict), finding.eight_bit ? " of its 8-bit version" : "");
    return laws + (op.has_identity() ? "" : "; it has no identity");
}

/// The default of --type, which the laws are judged for.
std::string_view judged_type(const StandardOperator& op)
{
    return name(std::ranges::find(op.types, Type::f32) != op.types.end() ? Type::f32 : Type::i32);
}

/// The page dsl/standard/README.md.
std::string operators_page()
{
    const auto operators = standard_operators();
    std::string page = fmt::format(
        "# The operators that come with the program\n\n"
        "`segfold operators --markdown` prints this page: {} operators, each with what it folds to, the laws "
        "that it claims and what a search for counter-examples finds, where it comes from, and an example "
        "that a test computes in every grouping. `segfold check NAME` searches longer, and in any type. `T` "
        "is the type asked for; floats are `f16 bf16 f32 f64`, and sums of narrow ones are taken in a wider "
        "state by `lift f32(x)`, as `wide_sum` does. Two of them fold in one pass as "
        "`'mean_variance & argmax'`.\n\n"
        "To add one, write `NAME.seg` here, or `NAME.float.seg` and `NAME.integer.seg` where they differ "
        "(`NAME.narrow.seg` takes integers of at most 32 bits), with the lines `# source:` and `# example:` "
        "behind the operator. Its first line is one sentence, which tables show. Name it in "
        "`dsl/CMakeLists.txt`, and print this page again.\n\n"
        "| operator | types | folds to |\n| --- | --- | --- |\n",
        operators.size());
    for (const auto& op : operators)
        page += fmt::format("| [`{0}`](#{0}) | {1} | {2} |\n", op.name, types_of(op), op.summary);
    for (const auto& op : operators) {
        page += fmt::format("\n## {}\n\n{}.\n\n* Laws of {}: {}.\n* Source: {}.\n", op.name, op.summary,
                            judged_type(op), laws_of(standard_operator(op.name)), op.source);
        if (!op.example.empty())
            page += fmt::format("* Example: `{}`\n", op.example);
        page += fmt::format("\n```\n{}```\n", op.text);
    }
    return page;
}

}  // namespace

int verb_operators(const Words& words)
{
    const Arguments arguments("operators", words, join({kOperatorFlags, kListFlags}), 1);
    if (arguments.has("markdown")) {
        if (names_operator(arguments) || arguments.json())
            throw InputError(
                "--markdown prints the page of all operators; leave out the operator and --json");
        write_output(operators_page());
        return 0;
    }
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
