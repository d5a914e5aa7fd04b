#include "dsl/laws/laws.h"

#include <algorithm>
#include <chrono>

#include "dsl/check/check.h"
#include "dsl/error.h"
#include "dsl/laws/counter_example.h"
#include "dsl/laws/exhaustive.h"
#include "dsl/laws/pool.h"
#include "dsl/laws/shrink.h"
#include "dsl/laws/sorted_cases.h"
#include "dsl/stopped.h"

namespace segfold {
namespace {

using Clock = std::chrono::steady_clock;

/// Share of the time for the search. The rest of the time is for trying all states.
constexpr double kSearchShare = 0.6;

/// The clock is read once every kCasesPerLook cases, and not before the first kSureCases.
constexpr std::int64_t kCasesPerLook = 16;
constexpr std::int64_t kSureCases = 64;

/// Bounds on the number of drawn recipes.
constexpr std::int64_t kLeastRecipes = 96;
constexpr std::int64_t kMostRecipes = 1024;

/// One recipe (the elements of a state) in kRecipesPerLong is long, with 16 to 1000 elements. At most
/// kMostLongRecipes recipes are long.
constexpr std::int64_t kRecipesPerLong = 8;
constexpr std::int64_t kMostLongRecipes = 48;

/// The number of tries to shrink a counter-example is kShrinkingWork divided by the number of instructions,
/// within these bounds.
constexpr int kShrinkingWork = 200000;
constexpr int kLeastTries = 100;
constexpr int kMostTries = 3000;

/// Number of cases of small integers that are tried after large integers have refuted a law.
constexpr std::int64_t kSmallCases = 2000;

/// With several columns, the identity is also tried on further elements: one for every kCasesPerElement
/// cases, within these bounds.
constexpr std::int64_t kCasesPerElement = 8;
constexpr std::int64_t kLeastMoreElements = 256;
constexpr std::int64_t kMostMoreElements = std::int64_t{1} << 16;

/// Typical number of states of an operator whose integers are narrowed to 8 bits.
constexpr int kNarrowedStates = 256;

/// Estimated seconds in a trial of all states: for a case, which is a table look-up, and for a combine that
/// fills the table.
constexpr double kLookUpSeconds = 2e-9;
constexpr double kCombineSeconds = 60e-9;

/// True if an element has an integer too large for Draw::small_integers.
bool has_large_integer(const CounterExample& example)
{
    const auto large = [](const FieldValue& value) {
        return !is_float(value.type) && !is_small_integer(value.type, value.bits);
    };
    for (const auto& state : example.states)
        for (const auto& element : state.elements)
            if (std::ranges::any_of(element, large))
                return true;
    return false;
}

int shrinking_tries(const Bytecode& programs)
{
    const auto work = static_cast<int>(programs.lift.code.size() + programs.combine.code.size());
    return std::clamp(kShrinkingWork / (work + 1), kLeastTries, kMostTries);
}

Type narrow(Type type)
{
    return is_signed_integer(type) ? Type::i8 : is_unsigned_integer(type) ? Type::u8 : type;
}

/// Narrows the types that the text names. Removes all other types; check() finds these again.
Expression narrow(const Expression& expression)
{
    ExpressionNode node = *expression;
    const bool names_type = node.kind == ExpressionKind::limit || node.kind == ExpressionKind::convert;
    node.type = names_type ? std::optional(narrow(*node.type)) : std::nullopt;
    for (auto& argument : node.arguments)
        argument = narrow(argument);
    return Expression(std::move(node));
}

Block narrow(Block block)
{
    for (auto& let : block.lets)
        let.value = narrow(let.value);
    for (auto& assignment : block.assignments)
        assignment.value = narrow(assignment.value);
    return block;
}

/// Returns `op` with every integer type narrowed to i8 or u8, and without finish, empty and results. The
/// narrowed operator has few enough states to try all of them. Returns none if it is invalid, for example
/// because a literal does not fit.
std::optional<Operator> narrow_to_8_bits(const Operator& op)
{
    Operator small = without_outputs(op);
    for (auto& parameter : small.parameters)
        parameter.type = narrow(parameter.type);
    for (auto& field : small.state) {
        field.type = narrow(field.type);
        if (field.identity)
            field.identity = narrow(*field.identity);
    }
    small.lift = narrow(std::move(small.lift));
    small.combine = narrow(std::move(small.combine));
    small.append.reset();
    small.results.clear();
    small.finish.reset();
    small.empty.reset();
    try {
        return check(std::move(small));
    } catch (const SpecError&) {
        return std::nullopt;
    }
}

/// Checks the laws of one operator.
class LawChecker {
public:
    LawChecker(const Operator& op, const LawOptions& options)
        : op_(op),
          options_(options),
          begin_(Clock::now()),
          random_(options.seed),
          machine_(op, random_, options.data, options.scalars),
          judge_(op, machine_),
          pool_(draw_pool(op))
    {}

    LawReport run()
    {
        const auto laws = claimed_laws(op_);
        LawReport report;
        for (std::size_t i = 0; i < laws.size(); ++i) {
            // Associativity has the most cases. Each law leaves its unused time to the next law.
            const double share = static_cast<double>(i + 2) / static_cast<double>(laws.size() + 1);
            report.findings.push_back(search(laws[i], deadline(kSearchShare * share)));
        }
        if (options_.data == nullptr)
            try_all_states(report);
        return report;
    }

private:
    LawPool draw_pool(const Operator& op)
    {
        const auto size = std::clamp(options_.most_cases / 100, kLeastRecipes, kMostRecipes);
        const auto num_long = std::min(size / kRecipesPerLong, kMostLongRecipes);
        auto recipes = draw_recipes(machine_, size - num_long, random_, Draw::all);
        return {op, machine_, std::move(recipes), draw_long_recipes(machine_, num_long, random_, Draw::all)};
    }

    [[nodiscard]] Deadline deadline(double share) const
    {
        return begin_ + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(share * options_.most_seconds));
    }

    LawFinding search(Law law, Deadline deadline)
    {
        LawFinding finding;
        finding.law = law;
        random_.seed(options_.seed + static_cast<std::uint64_t>(law) + 1);
        judge_.forget_nan();
        for (const auto equation : equations(law))
            if (finding.verdict != Verdict::refuted)
                search(equation, deadline, finding);
        if (law == Law::identity && finding.verdict != Verdict::refuted)
            search_elements(deadline, finding);
        finding.nan_differs = judge_.excused_nan();
        if (finding.verdict != Verdict::refuted && finding.spread > 0)
            finding.verdict = Verdict::holds_up_to_rounding;
        return finding;
    }

    void search(Equation equation, Deadline deadline, LawFinding& finding)
    {
        const auto cases = pool_.num_cases(equation, options_.most_cases);
        for (std::int64_t n = 0; n < cases; ++n) {
            if (n % kCasesPerLook == 0)
                throw_if_stopped();
            if (n >= kSureCases && n % kCasesPerLook == 0 && Clock::now() > deadline)
                return;
            const auto chosen = pool_.choose(equation, n, random_);
            const auto states = pool_.states(equation, chosen);
            if (!states)
                continue;
            if (equation == equations(finding.law).front())  // the law's other equations use the same states
                ++finding.cases;
            if (judge_.compare(equation, *states, finding.spread) == Agreement::doubtful &&
                refute(equation, pool_.recipes(equation, chosen), finding))
                return;
        }
    }

    /// Tries the identity on elements outside of the pool of drawn recipes. With several columns, a field may
    /// be lowest or NaN only if every column is. Such elements are rare in the pool. These trials do not
    /// count as cases.
    void search_elements(Deadline deadline, LawFinding& finding)
    {
        if (machine_.bytecode().columns.size() < 2)
            return;
        const auto& settings = machine_.settings();
        std::vector<Slot<double>> state(machine_.num_fields());
        std::int64_t n = 0;
        const auto count =
            std::clamp(options_.most_cases / kCasesPerElement, kLeastMoreElements, kMostMoreElements);
        for (auto& recipe : draw_elements(machine_, count, random_)) {
            if (n % kCasesPerLook == 0)
                throw_if_stopped();
            if (n >= kSureCases && n % kCasesPerLook == 0 && Clock::now() > deadline)
                return;
            LawCase tried;
            tried[0] = std::move(recipe);
            tried.place = settings[static_cast<std::size_t>(n++) % settings.size()];
            if (!machine_.reach(tried[0], 0, state.data(), tried.place))
                continue;
            for (const auto equation : {Equation::identity_left, Equation::identity_right})
                if (judge_.compare(equation, {state.data(), nullptr, nullptr}, finding.spread) ==
                        Agreement::doubtful &&
                    refute(equation, tried, finding))
                    return;
        }
    }

    /// True if every value of the case lies in the data's range of its column.
    [[nodiscard]] bool is_in_data(const LawCase& tried) const
    {
        const auto& columns = machine_.bytecode().columns;
        for (const auto& recipe : tried.recipes)
            for (const auto& element : recipe)
                for (std::size_t k = 0; options_.data != nullptr && k < columns.size(); ++k)
                    if (!(machine_.columns_of_places()[k] && is_integer(columns[k])) &&
                        !is_in((*options_.data)[k], columns[k], element[k]))
                        return false;
        return true;
    }

    /// If the case breaks the equation, stores the shrunk counter-example and returns true.
    bool refute(Equation equation, LawCase recipes, LawFinding& finding)
    {
        const auto breaks = [&](const LawCase& tried) {
            throw_if_stopped();
            return is_in_data(tried) && judge_.refutes(equation, tried);
        };
        if (!breaks(recipes))
            return false;
        const auto& programs = machine_.bytecode();
        recipes = shrink(std::move(recipes), programs.columns, breaks, shrinking_tries(programs));
        finding.verdict = Verdict::refuted;
        finding.counter_example = make_counter_example(op_, equation, recipes, machine_, judge_);
        if (options_.data == nullptr && has_large_integer(*finding.counter_example))
            finding.small_cases = try_small_integers(equation);
        if (options_.data == nullptr && finding.small_cases == 0 && num_states(equation) > 0 &&
            (finding.law == Law::associative || finding.law == Law::identity))
            find_sorting_column(op_, equation, machine_, judge_, options_, finding);
        return true;
    }

    /// Tries cases of small integers. Returns their number if the equation holds for all of them, else 0.
    std::int64_t try_small_integers(Equation equation)
    {
        LawPool pool(op_, machine_, draw_recipes(machine_, kLeastRecipes, random_, Draw::small_integers));
        const auto cases = pool.num_cases(equation, std::min(kSmallCases, options_.most_cases));
        std::int64_t tried = 0;
        for (std::int64_t n = 0; n < cases; ++n) {
            const auto chosen = pool.choose(equation, n, random_);
            const auto states = pool.states(equation, chosen);
            if (!states)
                continue;
            ++tried;
            double spread = 0;
            if (judge_.compare(equation, *states, spread) == Agreement::doubtful &&
                judge_.refutes(equation, pool.recipes(equation, chosen)))
                return 0;
        }
        return tried;
    }

    /// Tries all states if the operator or its 8-bit version has few states. Stops at the deadline.
    void try_all_states(LawReport& report)
    {
        if (!combines_exactly(op_))
            return;
        const bool small = num_small_states(op_).has_value();
        if (!small && Clock::now() + estimate(kNarrowedStates) > deadline(1))
            return;
        std::optional<Operator> narrowed;
        if (!small && std::ranges::none_of(op_.state, [](const auto& field) { return is_float(field.type); }))
            narrowed = narrow_to_8_bits(op_);
        if (!small && !narrowed)
            return;
        const Operator& tried = small ? op_ : *narrowed;
        const auto states = num_small_states(tried);
        if (!states || Clock::now() + estimate(*states) > deadline(1))
            return;
        random_.seed(options_.seed);
        LawMachine machine(tried, random_);
        const StateTable table(tried, machine, random_);
        for (auto& finding : report.findings)
            if (finding.verdict == Verdict::not_refuted && finding.law != Law::append)
                try_all_states(table, !small, finding);
    }

    static Clock::duration estimate(int states)
    {
        const double n = states;
        return std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(n * n * kCombineSeconds + n * n * n * kLookUpSeconds));
    }

    void try_all_states(const StateTable& table, bool narrowed, LawFinding& finding)
    {
        bool clean = table.complete();
        std::int64_t cases = 0;
        for (const auto equation : equations(finding.law)) {
            const auto tried = table.try_all(equation, deadline(1));
            cases = std::max(cases, tried.cases);
            clean = clean && tried.finished && tried.suspects.empty();
            for (const auto& suspect : tried.suspects)
                if (refute(equation, suspect, finding) ||
                    (narrowed && refute(equation, at_the_ends(suspect), finding)))
                    return;
        }
        if (!clean || finding.cases == 0)
            return;
        finding.verdict = Verdict::holds_exhaustively;
        finding.eight_bit = narrowed;
        finding.exhaustive_cases = cases;
        finding.means = Means::all_states;
    }

    /// Replaces each value near an end of the 8-bit type by the value at the same distance from that end of
    /// the column's own type.
    [[nodiscard]] LawCase at_the_ends(LawCase recipes) const
    {
        const auto& columns = machine_.bytecode().columns;
        for (auto& recipe : recipes.recipes)
            for (auto& element : recipe)
                for (std::size_t k = 0; k < columns.size(); ++k) {
                    if (!is_integer(columns[k]))
                        continue;
                    const Type small = is_signed_integer(columns[k]) ? Type::i8 : Type::u8;
                    const std::uint64_t below = highest_integer(small) - element[k].bits;
                    const std::uint64_t above = element[k].bits - lowest_integer(small);
                    if (below < 32)
                        element[k].bits = highest_integer(columns[k]) - below;
                    else if (is_signed_integer(small) && above < 32)
                        element[k].bits = lowest_integer(columns[k]) + above;
                }
        return recipes;
    }

    const Operator& op_;
    LawOptions options_;
    Clock::time_point begin_;
    std::mt19937_64 random_;
    LawMachine machine_;
    LawJudge judge_;
    LawPool pool_;
};

}  // namespace

const LawFinding* LawReport::find(Law law) const
{
    const auto found = std::ranges::find(findings, law, &LawFinding::law);
    return found == findings.end() ? nullptr : &*found;
}

bool LawReport::refuted(Law law) const
{
    const auto* finding = find(law);
    return finding != nullptr && finding->verdict == Verdict::refuted;
}

bool LawReport::any_refuted() const
{
    return std::ranges::any_of(findings, [](const auto& f) { return f.verdict == Verdict::refuted; });
}

std::optional<CounterExample> confirmed(const Operator& op, Law law,
                                        const std::vector<std::vector<std::vector<FieldValue>>>& states,
                                        const ScalarValues* scalars)
{
    std::mt19937_64 random(LawOptions().seed);
    LawMachine machine(op, random, nullptr, scalars);
    LawJudge judge(op, machine);
    const auto& columns = machine.bytecode().columns;
    LawCase recipes;
    for (std::size_t i = 0; i < states.size() && i < 3; ++i)
        for (const auto& values : states[i]) {
            if (values.size() != columns.size())
                return std::nullopt;
            auto& element = recipes[i].emplace_back(columns.size());
            for (std::size_t k = 0; k < columns.size(); ++k)
                if (is_float(columns[k]))
                    Machine<double>::set_real(element[k], columns[k], values[k].real);
                else
                    element[k].bits = wrap(columns[k], values[k].bits);
        }
    for (const auto equation : equations(law)) {
        if (num_states(equation) > states.size() || !is_posed(equation, machine.bytecode()))
            continue;
        const auto breaks = [&](const LawCase& tried) { return judge.refutes(equation, tried); };
        for (const auto place : machine.settings()) {
            recipes.place = place;
            if (!breaks(recipes))
                continue;
            auto shrunk = shrink(recipes, columns, breaks, shrinking_tries(machine.bytecode()));
            return make_counter_example(op, equation, shrunk, machine, judge);
        }
    }
    return std::nullopt;
}

LawReport check_laws(const Operator& op, const LawOptions& options) { return LawChecker(op, options).run(); }

std::vector<Law> claimed_laws(const Operator& op)
{
    std::vector<Law> laws = {Law::associative};
    if (op.has_identity())
        laws.push_back(Law::identity);
    if (op.laws.commutative)
        laws.push_back(Law::commutative);
    if (op.laws.idempotent)
        laws.push_back(Law::idempotent);
    if (op.append)
        laws.push_back(Law::append);
    return laws;
}

bool law_usable(const LawReport& report, Law law, const Operator& op)
{
    const auto claimed = claimed_laws(op);
    return std::ranges::find(claimed, law) != claimed.end() && !report.refuted(law);
}

}  // namespace segfold
