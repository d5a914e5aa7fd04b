#include "runtime/laws/prove/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/laws/prove/reply.h"

namespace segfold::prove {
namespace {

/// Time limits of questions. A question about all candidates gets the share `kJointShare` of the time. A
/// question about one candidate gets `kOneSeconds` seconds.
constexpr double kJointShare = 0.3;
constexpr double kOneSeconds = 0.06;

/// Returns the numbers of the candidates that an answer shows to be broken; none if the answer cannot be
/// parsed.
std::vector<std::size_t> broken(const std::vector<std::size_t>& asked, const Answer& answer)
{
    const auto values = values_of(answer.rest);
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < asked.size() && values.size() == asked.size(); ++i)
        if (values[i] == "false")
            numbers.push_back(asked[i]);
    return numbers;
}

std::string names(const std::string& prefix, const std::vector<std::size_t>& numbers)
{
    std::string text;
    for (const auto number : numbers)
        text += fmt::format(" {}.{}", prefix, number);
    return text;
}

}  // namespace

Invariants find_invariants(const Operator& op, const Bytecode& bytecode, const smt::ScriptOptions& options,
                           Questioner& questioner, double seconds)
{
    const double begin = questioner.seconds_used();
    const auto left = [&] { return seconds - (questioner.seconds_used() - begin); };
    Invariants found;
    auto drawn = smt::surviving_candidates(op, options.theory != smt::Theory::bits);
    if (drawn.empty())
        return found;
    smt::Candidates candidates(op, std::move(drawn));
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < candidates.list().size(); ++i)
        kept.push_back(i);
    // The question leaves out the identity. The identity is one of the drawn states, so all candidates hold
    // in it.
    const auto script = smt::invariant_script(bytecode, candidates, options);
    if (!questioner.begin("invariants", script, left())) {
        found.reason = "no invariants were found in time";
        return found;
    }
    const auto question = [&](const std::string& target, const std::vector<std::size_t>& asked,
                              bool of_operands) {
        const auto assumed =
            of_operands ? fmt::format("(assert (and{}{}))\n", names(" earlier", kept), names(" later", kept))
                        : std::string();
        return fmt::format("(push)\n{}(assert (not (and true{})))\n(check-sat)\n(get-value ({}))\n(pop)\n",
                           assumed, names(target, asked), names(target, asked));
    };
    // If the question about all candidates is too hard, asks about each candidate separately. Drops
    // candidates without a quick proof.
    const auto drop_one_by_one = [&](const std::string& target, bool of_operands) {
        for (bool dropped = true; dropped;) {
            dropped = false;
            for (std::size_t i = 0; i < kept.size();) {
                if (left() <= 0)
                    return false;
                const auto answer =
                    questioner.go_on(question(target, {kept[i]}, of_operands), std::min(left(), kOneSeconds));
                if (answer.kind == Answer::Kind::unsat) {
                    ++i;
                    continue;
                }
                kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
                dropped = of_operands;
            }
        }
        return true;
    };
    const auto drop_until_none_breaks = [&](const std::string& target, bool of_operands) {
        while (!kept.empty()) {
            const auto answer = questioner.go_on(question(target, kept, of_operands),
                                                 std::min(left(), seconds * kJointShare));
            if (answer.kind == Answer::Kind::unsat)
                return true;
            const auto dropped = broken(kept, answer);
            if (answer.kind != Answer::Kind::sat || dropped.empty()) {
                found.reason = answer.reason.empty() ? "no invariants were found" : answer.reason;
                return drop_one_by_one(target, of_operands);
            }
            std::erase_if(kept,
                          [&](std::size_t i) { return std::ranges::find(dropped, i) != dropped.end(); });
        }
        return true;
    };
    // The question about lift assumes no candidate, so dropping a candidate there changes no other answer.
    // The question about combine assumes all kept candidates, so it is asked again whenever one is dropped.
    if (!drop_until_none_breaks("lifted", false) || !drop_until_none_breaks("combined", true))
        return found;
    for (const auto i : kept)
        found.list.push_back(candidates.list()[i]);
    found.reason.clear();
    return found;
}

}  // namespace segfold::prove
