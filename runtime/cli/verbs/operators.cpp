// segfold operators: lists the standard operators, and prints the text of one.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "dsl/laws/laws.h"
#include "dsl/printer.h"
#include "dsl/text/standard_operators.h"
#include "runtime/cli/arguments/operator_argument.h"
#include "runtime/cli/verbs.h"
#include "runtime/cli/verbs/gradients.h"
#include "runtime/cli/views/json.h"
#include "runtime/cli/views/terminal.h"
#include "runtime/laws/prove/standard_verdicts.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr Flag kListFlags[] = {{"markdown"}, {"verdicts"}, {"differing"}, kGradientFlag, {"gradients"}};

/// Names a set of types "floats", "integers", "numbers" or "any" if possible. Otherwise lists the types.
std::string words_of(const std::vector<Type>& types)
{
    std::string all, integers, reals;
    bool has_bool = false;
    std::size_t num_integers = 0, num_reals = 0;
    for (const Type type : types) {
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
            table.add({op.name, words_of(op.types), op.summary});
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

/// Returns a verdict in the words of the page dsl/standard/README.md.
std::string judged(const prove::StandardVerdict& verdict)
{
    switch (verdict.verdict) {
        case Verdict::proved: return "proved";
        case Verdict::proved_while_nothing_overflows: return "proved while nothing overflows";
        case Verdict::proved_over_reals: return "proved over the reals";
        case Verdict::holds_exhaustively:
            return verdict.eight_bit ? "holds for all states of the 8-bit version" : "holds for all states";
        case Verdict::holds_up_to_rounding: return "holds up to rounding, as far as a search finds";
        default: return "not refuted by a search";
    }
}

/// Returns a line for each law with a verdict on this operator, whether the operator claims the law or not.
std::string laws_of(const StandardOperator& op, const std::vector<prove::StandardVerdict>& verdicts,
                    const std::vector<prove::StandardVerdict>& newest)
{
    std::string laws;
    for (const auto law : {Law::associative, Law::identity, Law::commutative, Law::idempotent, Law::append})
        for (const bool is_claimed : {true, false}) {
            std::string line;
            for (const auto& verdict : verdicts) {
                if (verdict.op != op.name || verdict.law != law || verdict.is_claimed != is_claimed)
                    continue;
                line += line.empty() ? "" : "; ";
                if (verdict.types != prove::judged_types(op))
                    for (const auto type : verdict.types)
                        line += fmt::format("{}{}", name(type), type == verdict.types.back() ? ": " : " ");
                line += judged(verdict);
                if (!verdict.invariants.empty())
                    line += fmt::format(", while `{}`, which every state keeps",
                                        few_invariants(verdict.invariants));
                if (!verdict.unproved.empty())
                    line += fmt::format(" (no proof: {})", verdict.unproved);
            }
            for (const auto& verdict : newest)
                if (verdict.op == op.name && verdict.law == law && verdict.is_claimed == is_claimed) {
                    line += fmt::format("; {} by {}, for", judged(verdict), verdict.prover);
                    for (const auto type : verdict.types)
                        line += fmt::format(" {}", name(type));
                }
            if (!line.empty())
                laws += fmt::format("* {}{}: {}\n", name(law), is_claimed ? "" : ", not claimed", line);
        }
    return laws + (standard_operator(op.name, op.types.front()).has_identity() ? "" : "* no identity\n");
}

/// Returns sentences with the number of laws for each kind of proof.
std::string summary_of(const std::vector<prove::StandardVerdict>& verdicts,
                       const std::vector<prove::StandardVerdict>& newest)
{
    std::size_t all = 0, proved = 0, without_overflow = 0, over_reals = 0, exhaustive = 0;
    std::set<std::string> provers;
    for (const auto& verdict : verdicts) {
        provers.insert(verdict.prover);
        if (!verdict.is_claimed)
            continue;
        const auto count = verdict.types.size();
        all += count;
        proved += verdict.verdict == Verdict::proved ? count : 0;
        without_overflow += verdict.verdict == Verdict::proved_while_nothing_overflows ? count : 0;
        over_reals += verdict.verdict == Verdict::proved_over_reals ? count : 0;
        exhaustive += verdict.verdict == Verdict::holds_exhaustively ? count : 0;
    }
    std::size_t others = 0;
    std::set<std::string> newer;
    for (const auto& verdict : newest) {
        newer.insert(verdict.prover);
        others += verdict.types.size();
    }
    const auto of_newest = newer.empty()
                               ? ""
                               : fmt::format(" {} gives other verdicts on {} of them, which stand behind.",
                                             fmt::join(newer, " and "), others);
    return fmt::format(
        "Laws are judged for i32, u32, f32 and f64, which makes {} claims. Of these {} are proved bit for "
        "bit, {} while nothing "
        "overflows and {} over the reals, and {} were tried with all states ({} s of {} for each operator "
        "and "
        "type). What a search alone has tried is said so, with the reason; {} laws are no more certain than "
        "that.{}",
        all, proved, without_overflow, over_reals, exhaustive, prove::kSecondsForTable,
        fmt::join(provers, " and "), all - proved - without_overflow - over_reals - exhaustive, of_newest);
}

/// Returns the text of the page dsl/standard/README.md.
std::string operators_page()
{
    const auto operators = standard_operators();
    const auto verdicts = prove::standard_verdicts();
    const auto newest = prove::newest_verdicts();
    std::string page = fmt::format(
        "# The operators that come with the program\n\n"
        "`segfold operators --markdown` prints this page: {} operators, each with what it folds to, the laws "
        "that it claims and how far they are proved, where it comes from, and an example that a test "
        "computes in every grouping. `T` is the type asked for; floats are `f16 bf16 f32 f64`. `Acc` is the "
        "type in which means, variances, distances, norms and softmax add: `f32` for `f16` and `bf16`, `T` "
        "for the others. Plain sums and products round in `T` after each element; `wide_sum` does not. Where "
        "a part of one leaves the range of its type, that part is infinite, and what is made of it is inf, "
        "-inf "
        "or NaN. Two of them fold in one pass as `'mean_variance & argmax'`.\n\n"
        "{} What the verdicts mean stands in [Laws](../laws/README.md); `segfold check NAME --type T` finds "
        "them anew.\n\n"
        "To add one, write `NAME.seg` here, or `NAME.float.seg` and `NAME.integer.seg` where they differ "
        "(`NAME.narrow.seg` takes integers of at most 32 bits and `NAME.unsigned.seg` unsigned ones, before "
        "`NAME.integer.seg`), with the lines `# source:` and `# example:` "
        "behind the operator. Its first line is one sentence, which tables show. Name it in "
        "`dsl/CMakeLists.txt`, put the lines of `segfold operators NAME --verdicts` into `verdicts.jsonl`, "
        "those of the newest Z3 with `--differing` (`SEGFOLD_Z3` names its library) into "
        "`verdicts_newest.jsonl`, "
        "and print this page again.\n\n"
        "| operator | types | folds to |\n| --- | --- | --- |\n",
        operators.size(), summary_of(verdicts, newest));
    for (const auto& op : operators)
        page += fmt::format("| [`{0}`](#{0}) | {1} | {2} |\n", op.name, words_of(op.types), op.summary);
    for (const auto& op : operators) {
        page += fmt::format("\n## {}\n\n{}.\n\n{}* Source: {}.\n", op.name, op.summary,
                            laws_of(op, verdicts, newest), op.source);
        if (!op.example.empty())
            page += fmt::format("* Example: `{}`\n", op.example);
        for (const auto& version : op.versions) {
            if (op.versions.size() > 1)
                page += fmt::format("\nFor {}:\n", words_of(version.types));
            page += fmt::format("\n```\n{}```\n", version.text);
        }
    }
    return page;
}

/// Prints the lines of dsl/standard/verdicts.jsonl for the operator on the command line, or else for all
/// standard operators.
void print_verdicts(const Arguments& arguments)
{
    if (arguments.json())
        throw InputError("--verdicts prints lines of JSON by itself; leave out --json");
    for (const auto& flag : kOperatorFlags)
        arguments.refuse(flag.name, "verdicts are those of all types of a standard operator; give its name");
    auto operators = standard_operators();
    if (!arguments.operands().empty()) {
        const auto& wanted = arguments.operands().front();
        std::erase_if(operators, [&](const auto& op) { return op.name != wanted; });
        if (operators.empty())
            throw InputError(
                fmt::format("--verdicts: '{}' is no standard operator; 'segfold operators' lists "
                            "them, and 'segfold check' judges others",
                            wanted));
    }
    const bool differing = arguments.has("differing");
    const auto kept = prove::standard_verdicts();
    prove::Solver solver;
    Progress progress;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        progress.show(fmt::format("{} ({} of {})", operators[i].name, i + 1, operators.size()));
        std::string lines;
        auto found = prove::judge_standard(operators[i], prove::judged_types(operators[i]), solver);
        for (const auto& verdict : differing ? prove::differing(kept, std::move(found)) : found)
            lines += prove::print(verdict) + "\n";
        progress.clear();
        write_output(lines);
    }
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
    if (!arguments.has("verdicts"))
        arguments.refuse("differing", "belongs to --verdicts");
    if (arguments.has("verdicts")) {
        print_verdicts(arguments);
        return 0;
    }
    if (arguments.has("gradients")) {
        print_gradient_table(arguments);
        return 0;
    }
    if (!names_operator(arguments)) {
        arguments.refuse("gradient", "belongs to one operator; name it");
        for (const auto& flag : kOperatorFlags)
            arguments.refuse(flag.name, "belongs to one operator; name it");
        list_operators(arguments.json());
        return 0;
    }
    if (arguments.has("gradient")) {
        print_gradient(arguments);
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
