#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "dsl/laws/laws.h"
#include "dsl/printer.h"
#include "dsl/rounding.h"

namespace segfold {
namespace {

std::string shortest(Type type, double value)
{
    if (type == Type::f64)
        return fmt::format("{}", value);
    if (type == Type::f32)
        return fmt::format("{}", static_cast<float>(value));
    if (std::fabs(value) < 1e6 && value == std::trunc(value))
        return fmt::format("{:.1f}", value);
    for (int digits = 1;; ++digits) {
        auto text = fmt::format("{:.{}g}", value, digits);
        double read = 0;
        std::from_chars(text.data(), text.data() + text.size(), read);
        if (digits == 9 || round_to(type, near_decimal(text, read)) == value)
            return text;
    }
}

std::string_view noun(Law law, bool one)
{
    switch (law) {
        case Law::associative: return one ? "triple" : "triples";
        case Law::commutative: return one ? "pair" : "pairs";
        case Law::append: return one ? "state and element" : "states and elements";
        default: return one ? "state" : "states";
    }
}

std::string count(std::int64_t number, Law law)
{
    return fmt::format("{} {}", number, noun(law, number == 1));
}

}  // namespace

std::string_view name(Law law)
{
    constexpr std::string_view names[] = {"associative", "identity", "commutative", "idempotent", "append"};
    return names[static_cast<int>(law)];
}

std::string_view name(Verdict verdict)
{
    constexpr std::string_view names[] = {"proved",
                                          "proved_while_nothing_overflows",
                                          "proved_over_reals",
                                          "holds_exhaustively",
                                          "not_refuted",
                                          "holds_up_to_rounding",
                                          "refuted"};
    return names[static_cast<int>(verdict)];
}

std::string_view name_of_verdict(const LawFinding& finding)
{
    const bool is_narrow = finding.verdict == Verdict::holds_exhaustively && finding.eight_bit;
    return is_narrow ? "holds_exhaustively_in_8_bits" : name(finding.verdict);
}

std::string_view name(Means means)
{
    constexpr std::string_view names[] = {"search", "all states", "bit vectors", "integers", "reals"};
    return names[static_cast<int>(means)];
}

std::string print(const FieldValue& value)
{
    if (value.type == Type::boolean)
        return value.bits ? "true" : "false";
    if (is_signed_integer(value.type))
        return std::to_string(static_cast<std::int64_t>(value.bits));
    if (is_integer(value.type))
        return std::to_string(value.bits);
    if (std::isnan(value.real))
        return "nan";
    auto text = shortest(value.type, value.real);
    if (text.find_first_of(".en") == std::string::npos)
        text += ".0";
    return text;
}

std::string few_invariants(const std::string& invariants)
{
    constexpr int kMost = 4;
    std::size_t end = 0;
    for (int number = 0; number < kMost && end != std::string::npos; ++number)
        end = invariants.find(", ", end + (number > 0));
    if (end == std::string::npos)
        return invariants;
    std::size_t more = 0;
    for (auto at = end; at != std::string::npos; at = invariants.find(", ", at + 1))
        ++more;
    return fmt::format("{} and {} more", invariants.substr(0, end), more);
}

std::string print(const LawFinding& finding, const Operator& op)
{
    const std::string head = std::string(name(finding.law)) + ": ";
    const std::string of = op.state.size() == 1 ? " of " + std::string(name(op.state[0].type)) : "";
    const std::string cases = count(finding.cases, finding.law) + of;
    const std::string nan =
        finding.nan_differs ? "; where values are not finite, one side alone may be NaN" : "";
    const std::string unproved = finding.unproved.empty() ? "" : "; no proof: " + finding.unproved;
    const std::string kept = finding.invariants.empty() ? ""
                                                        : ", while " + few_invariants(finding.invariants) +
                                                              ", which every state keeps";
    switch (finding.verdict) {
        case Verdict::proved: return head + "proved" + kept;
        case Verdict::proved_while_nothing_overflows: return head + "proved while nothing overflows" + kept;
        case Verdict::proved_over_reals:
            return head + "proved over the reals" + kept +
                   (finding.cases == 0   ? std::string()
                    : finding.spread > 0 ? fmt::format("; rounding differences up to {:.2g}, relative, in {}",
                                                       finding.spread, cases)
                                         : "; no rounding difference in " + cases) +
                   nan;
        case Verdict::holds_exhaustively: {
            const auto all = "holds for all " + count(finding.exhaustive_cases, finding.law);
            return head + (finding.eight_bit ? all + " of its 8-bit version, and for " + cases + unproved
                                             : all + of);
        }
        case Verdict::holds_up_to_rounding:
            return head +
                   fmt::format("holds up to rounding for {}; largest relative difference {:.2g}{}", cases,
                               finding.spread, nan) +
                   unproved;
        case Verdict::refuted:
            return (finding.counter_example ? finding.counter_example->text : head + "refuted") +
                   (finding.holds_without_overflow ? "\n    (proved while nothing overflows" + kept + ")"
                    : finding.small_cases == 0
                        ? std::string()
                        : fmt::format("\n    (not refuted by {} of small integers, 100 at most)",
                                      count(finding.small_cases, finding.law))) +
                   (finding.sorted_by.empty()
                        ? std::string()
                        : fmt::format("\n    (not refuted by {} where '{}' never decreases)",
                                      count(finding.sorted_cases, finding.law), finding.sorted_by));
        default:
            return finding.cases == 0 ? head + "not tried, because no element could be lifted"
                                      : head + "not refuted by " + cases + nan + unproved;
    }
}

std::string print(const LawReport& report, const Operator& op)
{
    std::string text;
    for (const auto& finding : report.findings)
        text += print(finding, op) + "\n";
    for (const auto& finding : report.undeclared)
        text += print(finding, op) + ", and not declared\n";
    return text;
}

}  // namespace segfold
