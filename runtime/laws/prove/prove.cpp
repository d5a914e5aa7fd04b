#include "runtime/laws/prove/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/laws/prove/invariants.h"
#include "runtime/laws/prove/reply.h"

namespace segfold::prove {
namespace {

using smt::Theory;

/// Share of the total time that one question may take. The rest is left for the next theory.
constexpr double kShareOfQuestion = 2.0 / 3;
constexpr double kPossibleSeconds = 1;
/// The following are shares of the remaining time.
constexpr double kShareOfFirst = 0.4;       ///< for the first of two theories
constexpr double kShareOfElements = 0.12;   ///< for a search for elements that break a law
constexpr double kShareOfEqualities = 0.5;  ///< for a proof without inequalities of real numbers
constexpr double kShareOfInvariants = 0.5;  ///< for finding invariants
/// An option of Z3 for questions about real numbers, and its share of the remaining time. The options are
/// tried in turn, because it depends on the question and on Z3's version which one answers, and how fast.
struct WayOfReals {
    std::string_view options, command;
    double share;
};
constexpr std::string_view kOwnCommand = "(check-sat)";
constexpr WayOfReals kWaysOfReals[] = {
    {"", kOwnCommand, 0.3},
    {"(set-option :nlsat.reorder false)\n", kOwnCommand, 0.4},
    {"", "(check-sat-using qfnra-nlsat)", 1},
};
constexpr std::string_view kEmpty = "ordinary states would overflow, or there are none";
/// A proof's unneeded invariants are dropped within `kTidySeconds`. One question for this takes at most the
/// share `kShareOfTidying` of the remaining time.
constexpr double kTidySeconds = 0.5;
constexpr double kShareOfTidying = 0.25;

bool is_real(Theory theory) { return theory == Theory::reals || theory == Theory::all_reals; }

bool has_floats(const Bytecode& bytecode)
{
    const auto computes = [](const Program& program) {
        return std::ranges::any_of(program.code, [](const Instruction& step) {
            return is_float(step.type) || (step.opcode == Opcode::convert && is_float(step.target));
        });
    };
    return std::ranges::any_of(bytecode.state, is_float) || computes(bytecode.combine);
}

bool has_integers(const Bytecode& bytecode)
{
    return std::ranges::any_of(bytecode.state, is_integer) ||
           std::ranges::any_of(bytecode.combine.code, [](const auto& step) { return is_integer(step.type); });
}

/// Returns the theories in the order in which they are tried. Integers are machine words, then unbounded
/// integers. Floats are bit patterns, or real numbers if combine rounds.
std::vector<Theory> theories(const Operator& op, const Bytecode& bytecode)
{
    if (has_floats(bytecode) && combines_exactly(op))
        return {Theory::bits};
    if (has_floats(bytecode) && has_integers(bytecode))
        return {Theory::all_reals, Theory::reals};
    if (has_floats(bytecode))
        return {Theory::reals};
    if (!has_integers(bytecode))
        return {Theory::bits};
    return {Theory::bits, Theory::integers};
}

Means means_of(Theory theory)
{
    return theory == Theory::bits       ? Means::bit_vectors
           : theory == Theory::integers ? Means::integers
                                        : Means::reals;
}

Verdict verdict_of(Theory theory)
{
    return theory == Theory::bits       ? Verdict::proved
           : theory == Theory::integers ? Verdict::proved_while_nothing_overflows
                                        : Verdict::proved_over_reals;
}

/// Proves the laws of one operator.
class Prover {
public:
    Prover(const Operator& op, Solver& solver, const ProofOptions& options)
        : op_(op),
          bytecode_(compile_bytecode(op)),
          options_(options),
          questioner_(solver, options.seconds, options.smt_lib, op.name),
          theories_(theories(op, bytecode_))
    {}

    void judge(LawFinding& finding)
    {
        const double begin = questioner_.seconds_used();
        name_ = std::string(name(finding.law));
        finding.unproved.clear();
        if (finding.verdict == Verdict::refuted)
            judge_without_overflow(finding);
        else
            for (const auto theory : theories_)
                if (settled(finding, theory))
                    break;
        if (is_proof(finding.verdict) || finding.verdict == Verdict::refuted)
            finding.unproved.clear();
        finding.seconds = questioner_.seconds_used() - begin;
    }

    /// Tries to prove `law` bit for bit. Returns a finding on success, else nothing.
    std::optional<LawFinding> prove_undeclared(Law law)
    {
        if (theories_.front() != Theory::bits)
            return std::nullopt;
        name_ = std::string(name(law));
        LawFinding finding;
        finding.law = law;
        prove(finding, {Theory::bits});
        return finding.verdict == Verdict::proved ? std::optional(finding) : std::nullopt;
    }

private:
    /// Tries to prove that a refuted law holds if nothing overflows.
    void judge_without_overflow(LawFinding& finding)
    {
        if (finding.small_cases == 0 || std::ranges::find(theories_, Theory::integers) == theories_.end())
            return;
        LawFinding other;
        other.law = finding.law;
        settled(other, Theory::integers);
        finding.holds_without_overflow = other.verdict == Verdict::proved_while_nothing_overflows;
        if (finding.holds_without_overflow)
            finding.invariants = other.invariants;
    }

    /// Tries to prove or refute the law. Returns true on success.
    bool settled(LawFinding& finding, Theory theory)
    {
        std::vector<smt::ScriptOptions> ways = {{theory}};
        if (theory == Theory::integers)
            ways.push_back({theory, true});
        for (const auto& way : ways) {
            const auto before = finding.verdict;
            try {
                if (prove(finding, way))
                    return true;
            } catch (const smt::OutOfReach& reason) {
                finding.unproved = reason.what();
                finding.verdict = before;
                return false;
            }
        }
        return false;
    }

    /// Asks a question, with several options of Z3 if it is about real numbers.
    Answer ask(const std::string& tag, const std::string& question, Theory theory, double most,
               bool tells_core = false)
    {
        if (!is_real(theory))
            return questioner_.ask(tag, question, most, tells_core);
        Answer answer;
        const double begin = questioner_.seconds_used();
        int number = 0;
        for (const auto& [options, command, share] : kWaysOfReals) {
            auto text = std::string(options) + question;
            text.replace(text.find(kOwnCommand), kOwnCommand.size(), command);
            answer = questioner_.ask(++number == 1 ? tag : fmt::format("{}.way_{}", tag, number), text,
                                     share * (most - (questioner_.seconds_used() - begin)));
            if (answer.kind != Answer::Kind::unknown)
                break;
        }
        return answer;
    }

    bool prove(LawFinding& finding, const smt::ScriptOptions& way)
    {
        const auto list = equations(finding.law);
        const bool is_last = way.theory == theories_.back();
        const double left = questioner_.seconds_left();
        const double most =
            std::min(kShareOfQuestion * options_.seconds, is_last ? left : kShareOfFirst * left);
        const auto tag = fmt::format("{}.{}", name_,
                                     way.theory == Theory::bits       ? "bits"
                                     : way.theory == Theory::integers ? "integers"
                                                                      : "reals");
        const auto of_all = ask(tag, smt::law_question(bytecode_, list, way), way.theory, most);
        if (of_all.kind == Answer::Kind::unsat) {
            if (says_something(finding.law, way.theory, nullptr))
                return accept(finding, way.theory, {});
            finding.unproved = std::string(kEmpty);
            return options_.invariants && prove_with_invariants(finding, way, tag, most);
        }
        if (of_all.kind == Answer::Kind::unknown) {
            finding.unproved = fmt::format("{} ({})", of_all.reason, smt::name(way.theory));
            if (way.theory == Theory::bits)
                // Z3 may still decide the question for states of single elements.
                return refute(finding, way, true);
            return false;
        }
        if (of_all.kind == Answer::Kind::sat && !way.in_range && way.theory != Theory::all_reals &&
            refute(finding, way, false))
            return true;
        finding.unproved = fmt::format("as {} it breaks for states of which no elements were found",
                                       way.theory == Theory::bits ? "words" : smt::name(way.theory));
        return options_.invariants && prove_with_invariants(finding, way, tag, most);
    }

    bool prove_with_invariants(LawFinding& finding, const smt::ScriptOptions& way, const std::string& tag,
                               double most)
    {
        const auto& invariants = invariants_of(way);
        if (invariants.list.empty()) {
            if (!invariants.reason.empty())
                finding.unproved += "; " + invariants.reason;
            return false;
        }
        // If Z3 knows that some real numbers are not negative, it proves less about products. Few proofs need
        // such inequalities, so the proof is first tried without them.
        auto equal = invariants.list;
        std::erase_if(equal, [&](const smt::Candidate& one) { return orders_reals(one, way.theory); });
        const bool is_whole = equal.size() == invariants.list.size();
        return (!is_whole && !equal.empty() &&
                prove_with(finding, way, tag, kShareOfEqualities * most, equal)) ||
               prove_with(finding, way, tag, most, invariants.list);
    }

    [[nodiscard]] bool orders_reals(const smt::Candidate& one, Theory theory) const
    {
        return is_real(theory) && one.kind != smt::Candidate::Kind::other && is_float(op_.state[one.x].type);
    }

    bool prove_with(LawFinding& finding, const smt::ScriptOptions& way, const std::string& tag, double most,
                    const std::vector<smt::Candidate>& invariants)
    {
        smt::Candidates asserted(op_, invariants);
        const auto list = equations(finding.law);
        // If asked for a core (the assumptions that a proof used), Z3 proves much less about products of real
        // numbers.
        const bool has_core = !is_real(way.theory);
        const auto question =
            smt::law_question(bytecode_, list, way, &asserted) + (has_core ? "(get-unsat-core)\n" : "");
        const auto answer = ask(tag + ".reachable", question, way.theory, most, has_core);
        if (answer.kind == Answer::Kind::unknown)
            finding.unproved += "; " + answer.reason;
        if (answer.kind != Answer::Kind::unsat)
            return false;
        if (!says_something(finding.law, way.theory, &asserted)) {
            finding.unproved = std::string(kEmpty);
            return false;
        }
        auto needed = has_core ? std::vector<smt::Candidate>() : invariants;
        for (const auto number : core_of(answer.rest))
            if (has_core && number < invariants.size())
                needed.push_back(invariants[number]);
        if (is_real(way.theory))
            std::erase_if(needed, [](const auto& one) { return one.text.ends_with("is a number"); });
        leave_out(finding, way, needed);
        return accept(finding, way.theory, needed);
    }

    /// Drops invariants that the proof does not need, as long as there is time. Tries to drop half of them at
    /// once, later one at a time. Z3's core is rarely minimal, and for real numbers there is none.
    void leave_out(const LawFinding& finding, const smt::ScriptOptions& way,
                   std::vector<smt::Candidate>& needed)
    {
        const double begin = questioner_.seconds_used();
        const auto list = equations(finding.law);
        for (std::size_t share = needed.size() / 2; share > 0; share /= 2)
            for (std::size_t end = needed.size(); end > 0 && needed.size() > share;
                 end -= std::min(end, share)) {
                const double left = kTidySeconds - (questioner_.seconds_used() - begin);
                if (left <= 0)
                    return;
                const auto at = needed.begin();
                std::vector<smt::Candidate> fewer(
                    at, at + static_cast<std::ptrdiff_t>(end - std::min(end, share)));
                fewer.insert(fewer.end(), at + static_cast<std::ptrdiff_t>(end), needed.end());
                smt::Candidates asserted(op_, fewer);
                const auto question = smt::law_question(bytecode_, list, way, &asserted);
                if (ask(name_ + ".tidy", question, way.theory, kShareOfTidying * left).kind ==
                    Answer::Kind::unsat)
                    needed = std::move(fewer);
            }
    }

    /// True if the assumptions of a proof can be satisfied; otherwise anything would follow from them. The
    /// identity or some ordinary state must satisfy the invariants without overflow in any computed value.
    bool says_something(Law law, Theory theory, smt::Candidates* invariants)
    {
        const bool may_overflow = theory != Theory::bits;
        const auto list = equations(law);
        const auto answer = [&](const char* what, smt::Asked asked) {
            const auto question =
                smt::law_question(bytecode_, list, {theory, may_overflow}, invariants, asked);
            return question.empty()
                       ? Answer::Kind::unsat
                       : questioner_.ask(fmt::format("{}.{}", name_, what), question, kPossibleSeconds).kind;
        };
        return (invariants == nullptr || answer("possible", smt::Asked::possible) == Answer::Kind::sat) &&
               (!may_overflow || answer("ordinary", smt::Asked::overflows) == Answer::Kind::unsat);
    }

    bool accept(LawFinding& finding, Theory theory, const std::vector<smt::Candidate>& invariants)
    {
        finding.verdict = verdict_of(theory);
        finding.means = means_of(theory);
        finding.invariants = smt::print(op_, invariants);
        return true;
    }

    /// Searches for elements that break the law. Tries one element per state, then two for some states.
    bool refute(LawFinding& finding, const smt::ScriptOptions& way, bool of_single_elements)
    {
        if (!bytecode_.tables.empty())
            return false;
        constexpr std::array<std::size_t, 3> counts[] = {{1, 1, 1}, {2, 1, 1}, {1, 1, 2}, {2, 2, 2}};
        std::mt19937_64 random(1);
        const LawMachine machine(op_, random);
        int number = 0;
        for (const auto& count : counts)
            for (const auto equation : equations(finding.law)) {
                if (!is_posed(equation, bytecode_))
                    continue;
                if (count != counts[0] && (of_single_elements || equation == Equation::identity_twice ||
                                           questioner_.seconds_left() <= 0))
                    continue;
                const auto question =
                    smt::element_question(bytecode_, equation, way, count, machine.places().front());
                const auto answer =
                    questioner_.ask(fmt::format("{}.elements.{}", name_, ++number), question.text,
                                    kShareOfElements * questioner_.seconds_left());
                if (answer.kind == Answer::Kind::sat && confirm(finding, question, answer, way.theory))
                    return true;
            }
        return false;
    }

    bool confirm(LawFinding& finding, const smt::ElementQuestion& question, const Answer& answer,
                 Theory theory)
    {
        const auto values = values_of(answer.rest);
        std::size_t at = 0;
        std::vector<std::vector<std::vector<FieldValue>>> states;
        for (const auto& elements : question.elements) {
            if (elements.empty())
                continue;
            auto& state = states.emplace_back();
            for (const auto& element : elements) {
                auto& columns = state.emplace_back();
                for (const auto& unknown : element) {
                    const auto slot = at < values.size() ? slot_of(values[at++], unknown.type) : std::nullopt;
                    if (!slot)
                        return false;
                    columns.push_back(
                        {unknown.type, is_float(unknown.type) ? 0 : slot->bits,
                         is_float(unknown.type) ? Machine<double>::get_real(*slot, unknown.type) : 0});
                }
            }
        }
        auto example = confirmed(op_, finding.law, states, options_.scalars);
        if (!example)
            return false;
        finding.verdict = Verdict::refuted;
        finding.means = means_of(theory);
        finding.counter_example = std::move(example);
        return true;
    }

    const Invariants& invariants_of(const smt::ScriptOptions& way)
    {
        const auto key = std::pair(way.theory, way.in_range);
        auto found = invariants_.find(key);
        if (found == invariants_.end()) {
            Invariants invariants;
            try {
                invariants = find_invariants(op_, bytecode_, way, questioner_,
                                             kShareOfInvariants * questioner_.seconds_left());
            } catch (const smt::OutOfReach& reason) {
                invariants.reason = reason.what();
            }
            found = invariants_.emplace(key, std::move(invariants)).first;
        }
        return found->second;
    }

    const Operator& op_;
    Bytecode bytecode_;
    ProofOptions options_;
    Questioner questioner_;
    std::vector<Theory> theories_;
    std::string name_;
    std::map<std::pair<Theory, bool>, Invariants> invariants_;
};

}  // namespace

namespace {

/// True if a short search finds a counter-example to commutativity.
bool is_seen_not_to_commute(Operator op)
{
    op.laws.commutative = true;
    return check_laws(op, kQuickLawOptions).refuted(Law::commutative);
}

}  // namespace

void prove_laws(const Operator& op, LawReport& report, Solver& solver, const ProofOptions& options)
{
    if (const auto reason = solver.unavailable(); !reason.empty()) {
        report.prover = "nothing is proved: " + reason;
        return;
    }
    report.prover = solver.version();
    Prover prover(op, solver, options);
    // Associativity takes longest, so it is proved last.
    for (auto finding = report.findings.rbegin(); finding != report.findings.rend(); ++finding)
        prover.judge(*finding);
    if (!op.laws.commutative && !report.refuted(Law::associative) && !is_seen_not_to_commute(op))
        try {
            if (auto finding = prover.prove_undeclared(Law::commutative))
                report.undeclared.push_back(std::move(*finding));
        } catch (const smt::OutOfReach&) {}
}

}  // namespace segfold::prove
