#include "runtime/laws/prove/standard_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/laws/prove/prove.h"
#include "runtime/support/files/sha256.h"

namespace segfold {

std::span<const EmbeddedFile> standard_verdict_files();

namespace prove {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The search ends after 2000 cases on every machine. Its time limit of an hour is never reached.
constexpr LawOptions kSearchForTable{2000, 3600, 1};
constexpr Type kJudgedTypes[] = {Type::i32, Type::u32, Type::f32, Type::f64};
constexpr std::size_t kDigestDigits = 12;

/// Replaces texts such as "in 2.5 s" by "in time", because times depend on the machine.
std::string without_times(std::string reason)
{
    constexpr std::string_view kBefore = "in ", kBehind = " s";
    for (auto at = reason.find(kBefore); at != std::string::npos; at = reason.find(kBefore, at)) {
        at += kBefore.size();
        const auto end = std::min(reason.find_first_not_of("0123456789.", at), reason.size());
        const auto behind = end + kBehind.size();
        const bool ends_word =
            behind >= reason.size() || std::isalnum(static_cast<unsigned char>(reason[behind])) == 0;
        if (end > at && reason.compare(end, kBehind.size(), kBehind) == 0 && ends_word)
            reason.replace(at, behind - at, "time");
    }
    return reason;
}

template <class Enum>
Enum named(const OrderedJson& word, Enum last)
{
    for (int number = 0; number <= static_cast<int>(last); ++number)
        if (name(static_cast<Enum>(number)) == word.get<std::string>())
            return static_cast<Enum>(number);
    throw InputError(fmt::format("unknown word {}", word.dump()));
}

StandardVerdict read_line(const std::string& line)
{
    const auto json = OrderedJson::parse(line);
    StandardVerdict verdict;
    json.at("operator").get_to(verdict.op);
    verdict.law = named(json.at("law"), Law::append);
    json.at("claimed").get_to(verdict.is_claimed);
    for (const auto& word : json.at("types")) {
        const auto type = find_type(word.get<std::string>());
        if (!type)
            throw InputError(fmt::format("unknown type {}", word.dump()));
        verdict.types.push_back(*type);
    }
    verdict.verdict = named(json.at("verdict"), Verdict::refuted);
    verdict.eight_bit = json.value("eight_bit", false);
    verdict.invariants = json.value("invariants", "");
    verdict.unproved = json.value("unproved", "");
    json.at("text").get_to(verdict.text);
    json.at("prover").get_to(verdict.prover);
    return verdict;
}

bool is_certain(const StandardVerdict& verdict)
{
    return is_proof(verdict.verdict) || verdict.verdict == Verdict::holds_exhaustively;
}

/// Adds the types of a verdict to the row with the same verdict. If there is no such row, adds one.
void add(std::vector<StandardVerdict>& list, StandardVerdict verdict)
{
    const auto same = std::ranges::find_if(list, [&](const StandardVerdict& other) {
        return other.law == verdict.law && other.is_claimed == verdict.is_claimed &&
               other.verdict == verdict.verdict && other.eight_bit == verdict.eight_bit &&
               other.invariants == verdict.invariants && other.unproved == verdict.unproved;
    });
    if (same == list.end())
        list.push_back(std::move(verdict));
    else
        same->types.push_back(verdict.types.front());
}

}  // namespace

std::vector<Type> judged_types(const StandardOperator& op)
{
    std::vector<Type> types;
    for (const auto type : op.types)
        if (std::ranges::find(kJudgedTypes, type) != std::end(kJudgedTypes))
            types.push_back(type);
    return types;
}

std::string standard_digest(const StandardOperator& op)
{
    std::string texts;
    for (const auto type : op.types)
        texts += segfold::print(standard_operator(op.name, type));
    return cache::sha256_hex(texts).substr(0, kDigestDigits);
}

std::vector<StandardVerdict> judge_standard(const StandardOperator& op, const std::vector<Type>& types,
                                            Solver& solver, double seconds)
{
    if (const auto reason = solver.unavailable(); !reason.empty())
        throw InputError("no verdicts without Z3: " + reason);
    std::vector<StandardVerdict> list;
    const auto digest = standard_digest(op);
    for (const auto type : types) {
        const auto typed = standard_operator(op.name, type);
        auto report = check_laws(typed, kSearchForTable);
        prove_laws(typed, report, solver, {.seconds = seconds});
        const auto take = [&](const LawFinding& f, bool is_claimed) {
            add(list, {op.name,
                       f.law,
                       is_claimed,
                       {type},
                       f.verdict,
                       f.verdict == Verdict::holds_exhaustively && f.eight_bit,
                       f.invariants,
                       without_times(f.unproved),
                       digest,
                       solver.version()});
        };
        for (const auto& finding : report.findings)
            take(finding, true);
        for (const auto& finding : report.undeclared)
            take(finding, false);
    }
    std::ranges::stable_sort(list, {}, &StandardVerdict::law);
    return list;
}

std::string print(const StandardVerdict& verdict)
{
    OrderedJson json = {
        {"operator", verdict.op}, {"law", name(verdict.law)}, {"claimed", verdict.is_claimed}};
    auto& types = json["types"] = OrderedJson::array();
    for (const auto type : verdict.types)
        types.push_back(name(type));
    json["verdict"] = name(verdict.verdict);
    if (verdict.eight_bit)
        json["eight_bit"] = true;
    if (!verdict.invariants.empty())
        json["invariants"] = verdict.invariants;
    if (!verdict.unproved.empty())
        json["unproved"] = verdict.unproved;
    json["text"] = verdict.text;
    json["prover"] = verdict.prover;
    return json.dump();
}

std::vector<StandardVerdict> parse_standard_verdicts(std::string_view text, std::string_view file)
{
    std::vector<StandardVerdict> list;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = std::string(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        try {
            list.push_back(read_line(line));
        } catch (const std::exception& error) {
            throw InputError(fmt::format("{}:{}: {}; it holds what segfold operators --verdicts prints", file,
                                         list.size() + 1, error.what()));
        }
    }
    return list;
}

std::vector<StandardVerdict> standard_verdicts()
{
    return parse_standard_verdicts(standard_verdict_files().front().text);
}

std::vector<StandardVerdict> newest_verdicts()
{
    return parse_standard_verdicts(standard_verdict_files().back().text, "verdicts_newest.jsonl");
}

std::vector<StandardVerdict> differing(const std::vector<StandardVerdict>& kept,
                                       std::vector<StandardVerdict> found)
{
    for (auto& now : found)
        std::erase_if(now.types, [&](Type type) {
            return std::ranges::any_of(kept, [&](const StandardVerdict& then) {
                return then.op == now.op && then.law == now.law && then.is_claimed == now.is_claimed &&
                       then.verdict == now.verdict && then.eight_bit == now.eight_bit &&
                       std::ranges::find(then.types, type) != then.types.end();
            });
        });
    std::erase_if(found, [](const StandardVerdict& now) { return now.types.empty(); });
    return found;
}

std::vector<std::string> faults_of_table(const std::vector<StandardVerdict>& kept,
                                         const std::vector<StandardOperator>& operators)
{
    std::vector<std::string> faults;
    std::map<std::string, std::multiset<std::pair<Law, Type>>> judged;
    std::map<std::string, std::set<std::string>> texts;
    for (const auto& verdict : kept) {
        auto& of_operator = judged[verdict.op];
        texts[verdict.op].insert(verdict.text);
        if (verdict.is_claimed)
            for (const auto type : verdict.types)
                of_operator.emplace(verdict.law, type);
        if (verdict.verdict == Verdict::refuted)
            faults.push_back(fmt::format("{}: {} is refuted", verdict.op, name(verdict.law)));
    }
    for (const auto& op : operators) {
        std::multiset<std::pair<Law, Type>> claimed;
        for (const auto type : judged_types(op))
            for (const auto law : claimed_laws(standard_operator(op.name, type)))
                claimed.emplace(law, type);
        if (!judged.contains(op.name))
            faults.push_back(op.name + ": has no verdicts");
        else if (texts[op.name] != std::set{standard_digest(op)})
            faults.push_back(op.name + ": its text has changed since it was judged");
        else if (judged[op.name] != claimed)
            faults.push_back(op.name + ": has not one verdict for each law and type");
        judged.erase(op.name);
    }
    for (const auto& [name, laws] : judged)
        faults.push_back(name + ": is no standard operator");
    return faults;
}

std::vector<std::string> unkept_proofs(const std::vector<StandardVerdict>& kept,
                                       const std::vector<StandardVerdict>& found)
{
    // A new verdict confirms a claim if it is the same or a proof, because a fast machine may prove more than
    // the table claims.
    const auto is_kept = [](const StandardVerdict& then, const StandardVerdict& now) {
        return now.verdict == Verdict::proved ||
               (then.verdict == now.verdict && then.eight_bit == now.eight_bit);
    };
    std::vector<std::string> faults;
    for (const auto& now : found)
        for (const auto type : now.types)
            for (const auto& then : kept)
                if (then.op == now.op && then.law == now.law && is_certain(then) &&
                    std::ranges::find(then.types, type) != then.types.end() && !is_kept(then, now))
                    faults.push_back(fmt::format("{} of {}: {} is {} in the table, and found {}{}", now.op,
                                                 name(type), name(now.law), name(then.verdict),
                                                 name(now.verdict),
                                                 now.unproved.empty() ? "" : " (" + now.unproved + ")"));
    return faults;
}

}  // namespace prove
}  // namespace segfold
