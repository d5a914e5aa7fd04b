#include "runtime/check/fault_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "dsl/error.h"
#include "dsl/rounding.h"
#include "runtime/check/smallest_configuration.h"
#include "runtime/check/trial.h"
#include "runtime/data/formats/written_array.h"
#include "runtime/data/shape.h"
#include "runtime/judge/compare.h"
#include "runtime/judge/value_text.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "runtime/simt/program.h"

namespace segfold::regress {
namespace {

using Elements = std::vector<std::vector<FieldValue>>;  ///< values by element and column

/// Number of copies of each candidate segment. With many copies in a row, the segment occurs at many
/// positions within a tile.
constexpr std::size_t kOccurrences = 36;
/// Most elements to put before a segment that shows no fault when it is the only one.
constexpr std::size_t kMostBefore = 36;
constexpr std::size_t kMostElements = 1 << 15;
/// Most elements of an input that is reported.
constexpr std::size_t kMostShown = 2100;
/// Number of lanes in a warp. Stages that reorder elements combine elements this far apart.
constexpr std::size_t kLanes = 32;
/// Least relative difference that counts as a fault, for operators that round.
constexpr double kClearly = 1e-2;

Elements operator+(Elements left, const Elements& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Elements times(const Elements& elements, std::size_t count)
{
    Elements all;
    for (std::size_t i = 0; i < count; ++i)
        all = std::move(all) + elements;
    return all;
}

/// Returns the elements of segments that may show the fault.
std::vector<Elements> candidates(const Operator& op, const CounterExample& example, Law law)
{
    std::vector<Elements> states;
    for (const auto& state : example.states)
        states.push_back(state.elements);
    std::vector<Elements> list;
    Elements zero(1);
    for (const auto& parameter : op.parameters)
        zero[0].push_back({parameter.type, 0, 0});
    if (law == Law::commutative) {
        const auto &a = states.at(0), &b = states.at(1);
        for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
            list.push_back(times(x, kLanes) + y);
            list.push_back(x + times(y, kLanes));
            // The first lane folds a zero element and then y; its neighbour folds x.
            for (const std::size_t lanes : {kLanes, 4 * kLanes})
                list.push_back(times(zero, 1) + x + times(zero, lanes - 1 - std::min(lanes - 1, x.size())) +
                               y);
        }
        list.push_back(times(a + b, kLanes + 1));
        return list;
    }
    Elements all;
    for (const auto& state : states)
        all = std::move(all) + state;
    if (all.empty()) {  // lanes without elements combine two identities
        list.emplace_back();
        all = zero;
    }
    for (const std::size_t count : {1, 2, 3, 8})
        list.push_back(times(all, count));
    if (states.size() == 3)
        for (const std::size_t count : {2, 3, 8}) {
            list.push_back(times(states[0], count) + states[1] + states[2]);
            list.push_back(states[0] + states[1] + times(states[2], count));
        }
    return list;
}

void store(const FieldValue& value, Type type, std::byte* at)
{
    const auto bits = is_float(type) ? bits_of_real(type, value.real) : value.bits;
    std::memcpy(at, &bits, size_bytes(type));
}

Workload make_workload(const Operator& op, const Elements& elements, const std::vector<std::int64_t>& offsets)
{
    Workload workload{op, {}, {}};
    for (std::size_t k = 0; k < op.parameters.size(); ++k) {
        const Type type = op.parameters[k].type;
        Array array(type, elements.size());
        for (std::size_t i = 0; i < elements.size(); ++i)
            store(elements[i].at(k), type, array.data() + i * size_bytes(type));
        workload.arrays.push_back(std::move(array));
    }
    workload.segments = segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets),
                                              static_cast<std::int64_t>(elements.size()));
    return workload;
}

double number(const Array& array, std::size_t i)
{
    switch (array.type()) {
        case Type::f16: return f16_to_f32(array.as<std::uint16_t>()[i]);
        case Type::bf16: return bf16_to_f32(array.as<std::uint16_t>()[i]);
        case Type::f32: return array.as<float>()[i];
        default: return array.as<double>()[i];
    }
}

bool differs(const Array& left, const Array& right, std::size_t i, bool bit_for_bit)
{
    const std::size_t bytes = size_bytes(left.type());
    if (std::memcmp(left.data() + i * bytes, right.data() + i * bytes, bytes) == 0)
        return false;
    if (!is_float(left.type()))
        return true;
    const double l = number(left, i), r = number(right, i);
    if (std::isnan(l) || std::isnan(r))
        return std::isnan(l) != std::isnan(r);
    return bit_for_bit || (l != r && !(std::fabs(l - r) <= kClearly * std::max(std::fabs(l), std::fabs(r))));
}

std::string results_text(const Results& results, std::int64_t segment)
{
    std::string text;
    for (const auto& field : results)
        text += (text.empty() ? "" : ", ") + value_text(field.array, segment);
    return results.size() == 1 ? text : "(" + text + ")";
}

/// Runs one stage on inputs built from given elements, and looks for wrong results.
class Shower {
public:
    /// `law` is the refuted law whose effect is searched for. `laws` are the laws on which stages rely; `law`
    /// is one of them.
    Shower(Session& session, const Operator& op, const OperatorLaws& laws, Law law)
        : session_(session), op_(op), laws_(laws), law_(law)
    {}

    struct Shown {
        std::int64_t segment;
        std::string given, expected;
        bool fails_check;
    };

    /// Returns the shortest segment whose results differ from the reference. Among segments of equal length,
    /// returns the last.
    std::optional<Shown> run(const Stage& stage, const std::map<std::string, int>& settings,
                             const Elements& elements, const std::vector<std::int64_t>& offsets)
    {
        const auto workload = make_workload(op_, elements, offsets);
        const auto laws = on_data(laws_, workload);
        if (!laws.has_sound_identity)
            return std::nullopt;
        const auto results = results_of(stage, settings, workload, laws);
        if (!results)
            return std::nullopt;
        // A wrong identity must not be mistaken for a wrong order. Therefore the results must differ without
        // the identity too.
        std::optional<Results> without_identity;
        if (law_ == Law::associative && laws.report.refuted(Law::identity)) {
            auto others = laws;
            others.without_identity = "it is refuted";
            without_identity = results_of(stage, settings, workload, others);
            if (!without_identity)
                return std::nullopt;
        }
        const Judge judge(workload, {.is_associative = laws.is_associative()});
        const auto right = judge.reference();
        const auto& segments = workload.segments;
        const auto is_wrong = [&](const Results& given, std::int64_t s, std::size_t k) {
            return differs(given[k].array, right[k].array, static_cast<std::size_t>(s), judge.bit_for_bit());
        };
        std::optional<std::int64_t> shortest;
        for (std::int64_t s = 0; s < segments.num_segments; ++s)
            for (std::size_t k = 0; k < right.size(); ++k)
                if (is_wrong(*results, s, k) && (!without_identity || is_wrong(*without_identity, s, k)) &&
                    (!shortest || segments.length(s) <= segments.length(*shortest)))
                    shortest = s;
        if (!shortest)
            return std::nullopt;
        return Shown{*shortest, results_text(*results, *shortest), results_text(right, *shortest),
                     !judge.compare(*results).agrees()};
    }

    [[nodiscard]] std::map<std::string, int> smallest(const Stage& stage) const
    {
        const auto workload = make_workload(op_, {}, {0});
        auto problem = make_problem(workload, laws_);
        problem.target = core(session_).backend().target();
        const auto configuration = smallest_configuration(stage, problem);
        return {configuration.begin(), configuration.end()};
    }

private:
    /// Returns the stage's results; nothing if the stage cannot run.
    [[nodiscard]] std::optional<Results> results_of(const Stage& stage,
                                                    const std::map<std::string, int>& settings,
                                                    const Workload& workload, const OperatorLaws& laws) const
    {
        auto problem = make_problem(workload, laws);
        problem.target = core(session_).backend().target();
        if (core(session_).catalogue().unmet(stage, problem))
            return std::nullopt;
        try {
            const auto plan = choose_plan({stage.name, settings}, problem, shape_of(workload), laws,
                                          core(session_).catalogue());
            return core(session_).backend().run(workload, &plan.emitted);
        } catch (const InputError&) {  // the settings contradict each other
            return std::nullopt;
        } catch (const simt::SimtError&) {
            return std::nullopt;
        }
    }

    Session& session_;
    const Operator& op_;
    const OperatorLaws& laws_;
    Law law_;
};

/// All candidates in one array. Each candidate occurs at several positions within a tile.
struct Pack {
    Elements elements;
    std::vector<std::int64_t> offsets = {0};

    void add(const Elements& segment)
    {
        elements = std::move(elements) + segment;
        offsets.push_back(static_cast<std::int64_t>(elements.size()));
    }
};

Pack pack(const std::vector<Elements>& list)
{
    Pack all;
    for (const auto& segment : list)
        for (std::size_t i = 0; i < kOccurrences && all.elements.size() + segment.size() <= kMostElements;
             ++i) {
            all.add(segment);
            if (!segment.empty())  // after the separator, the next copy begins an odd distance later
                all.add(times({segment.front()}, 1 + segment.size() % 2));
        }
    return all;
}

std::string column_text(const Workload& workload, std::size_t column)
{
    std::vector<std::string> values;
    for (std::int64_t i = 0; i < workload.segments.num_elements; ++i)
        values.push_back(value_text(workload.arrays[column], i));
    return written_array(values);
}

}  // namespace

std::optional<FaultInput> find_fault_input(Session& session, const Operator& op, const LawReport& report,
                                           Law law, double most_seconds)
{
    const auto begin = std::chrono::steady_clock::now();
    const auto* finding = report.find(law);
    const bool has_tables =
        std::ranges::any_of(op.parameters, [](const auto& parameter) { return parameter.table; });
    if (finding == nullptr || finding->verdict != segfold::Verdict::refuted || !finding->counter_example ||
        law == Law::idempotent || law == Law::append || has_tables ||
        (law == Law::commutative && report.refuted(Law::associative)))
        return std::nullopt;
    FaultInput fault;
    fault.law = law;
    for (const auto other : {Law::associative, Law::identity})
        if (other == law || report.refuted(other))
            fault.assumed.push_back(other);
    if (law == Law::commutative)
        fault.assumed.push_back(law);
    const auto laws = laws_assuming(op, report, fault.assumed);
    const auto list = candidates(op, *finding->counter_example, law);
    const auto all = pack(list);
    Shower shower(session, op, laws, law);
    for (const bool is_small : {false, true})
        for (const auto& stage : core(session).catalogue().stages()) {
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
            if (spent.count() > most_seconds)
                return std::nullopt;
            if (stage.is_rung)
                continue;
            fault.settings = is_small ? shower.smallest(stage) : std::map<std::string, int>();
            const auto found = shower.run(stage, fault.settings, all.elements, all.offsets);
            if (!found)
                continue;
            // Tries the segment alone, then after 1, 2, ... elements. At some distance, it has the same
            // position in a tile as when it showed the fault.
            const auto at = all.elements.begin() + all.offsets[static_cast<std::size_t>(found->segment)];
            const auto end = all.elements.begin() + all.offsets[static_cast<std::size_t>(found->segment) + 1];
            for (std::size_t before = 0; before <= kMostBefore; ++before) {
                Elements elements;
                if (before != 0 && at != end)
                    elements = times({*at}, before);
                elements.insert(elements.end(), at, end);
                if (elements.size() > kMostShown)
                    break;
                std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(elements.size())};
                if (before != 0)
                    offsets.insert(offsets.begin() + 1, static_cast<std::int64_t>(before));
                const auto shown = shower.run(stage, fault.settings, elements, offsets);
                if (!shown)
                    continue;
                const auto workload = make_workload(op, elements, offsets);
                for (std::size_t k = 0; k < op.parameters.size(); ++k)
                    fault.columns.push_back(column_text(workload, k));
                std::vector<std::string> borders;
                for (const auto offset : offsets)
                    borders.push_back(std::to_string(offset));
                fault.offsets = "[" + fmt::format("{}", fmt::join(borders, ", ")) + "]";
                fault.stage = stage.name;
                fault.num_elements = static_cast<std::int64_t>(elements.size());
                fault.segment = shown->segment;
                fault.given = shown->given;
                fault.expected = shown->expected;
                fault.fails_check = shown->fails_check;
                return fault;
            }
        }
    return std::nullopt;
}

}  // namespace segfold::regress
