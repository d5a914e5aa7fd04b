#include "runtime/measure/times/static_costs.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "codegen/emit.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/compile/cubin.h"
#include "runtime/backends/cuda/library.h"

namespace segfold::regress {
namespace {

constexpr std::size_t kTextsAtATime = 48;  // number of source texts compiled between two progress reports

constexpr std::int64_t kRegisterMargin = 8;
constexpr std::int64_t kInstructionMargin = 64;
constexpr std::int64_t kInstructionShare = 4;  // divisor: a quarter of the instructions

/// A member of StaticCost, and the increase that is tolerated if the compiler differs.
struct CostField {
    const char* name;
    std::int64_t StaticCost::*value;
    std::int64_t (*margin)(std::int64_t then);
};

std::int64_t no_margin(std::int64_t) { return 0; }

constexpr std::array kFields = {
    CostField{"registers", &StaticCost::registers, [](std::int64_t) { return kRegisterMargin; }},
    CostField{"spill_bytes", &StaticCost::spill_bytes, no_margin},
    CostField{"stack_bytes", &StaticCost::stack_bytes, no_margin},
    CostField{"shared_bytes", &StaticCost::shared_bytes, no_margin},
    CostField{"instructions", &StaticCost::instructions,
              [](std::int64_t then) { return std::max(kInstructionMargin, then / kInstructionShare); }},
};

/// Returns the number in an architecture's name, such as 90 for "sm_90".
int capability_of(const std::string& architecture)
{
    return std::stoi(architecture.substr(architecture.find('_') + 1));
}

/// Returns the form `whole` and the stage's first segmented form, if the stage serves them.
std::vector<SegmentForm> measured_forms(const Stage& stage, const NamedOperator& named,
                                        const Catalogue& catalogue)
{
    const auto serves = [&](SegmentForm form) {
        Problem problem(named.op, form);
        problem.laws = named.laws;
        return std::ranges::find(stage.forms, form) != stage.forms.end() && !catalogue.unmet(stage, problem);
    };
    std::vector<SegmentForm> forms;
    if (serves(SegmentForm::whole))
        forms.push_back(SegmentForm::whole);
    for (const auto form : {SegmentForm::offsets, SegmentForm::keys})
        if (serves(form) &&
            (forms.empty() || forms.back() == SegmentForm::whole || finds_offsets(stage, form)))
            forms.push_back(form);
    return forms;
}

void add_resources(StaticCost& cost, const cuda::Compiled& compiled)
{
    for (const auto& kernel : compiled.resources) {
        cost.registers = std::max<std::int64_t>(cost.registers, kernel.registers);
        cost.spill_bytes += kernel.spill_store_bytes + kernel.spill_load_bytes;
        cost.stack_bytes = std::max<std::int64_t>(cost.stack_bytes, kernel.stack_bytes);
        cost.shared_bytes = std::max<std::int64_t>(cost.shared_bytes, kernel.static_shared_bytes);
    }
    for (const auto& [name, count] : cuda::instruction_counts(compiled.cubin))
        cost.instructions += count;
}

}  // namespace

bool StaticCost::same_case(const StaticCost& other) const
{
    const auto key = [](const StaticCost& cost) {
        return std::tie(cost.op, cost.stage, cost.form, cost.architecture);
    };
    return key(*this) == key(other);
}

bool StaticVerdict::any_worse() const { return std::ranges::any_of(changes, &StaticChange::is_worse); }

StaticCosts static_costs(std::span<const NamedOperator> ops, std::span<const Stage* const> stages,
                         const Catalogue& catalogue, std::span<const std::string> architectures,
                         const std::function<void(std::size_t, std::size_t)>& progress)
{
    StaticCosts result;
    result.compiler = "NVRTC " + cuda::nvrtc().version();
    const auto known = cuda::supported_architectures();
    std::vector<cuda::CompileRequest> requests;
    for (const auto& named : ops)
        for (const auto* stage : stages)
            for (const auto form : measured_forms(*stage, named, catalogue)) {
                Problem problem(named.op, form);
                problem.laws = named.laws;
                for (const auto& architecture : architectures) {
                    problem.target.compute_capability = capability_of(architecture);
                    if (std::ranges::find(known, architecture) == known.end() ||
                        catalogue.unmet(*stage, problem))
                        continue;
                    const auto configuration = default_configuration(*stage, plan_facts(problem));
                    const auto emitted = emit(problem, *stage, configuration, catalogue);
                    requests.push_back({emitted.source, stage->name + ".cu", architecture, {}});
                    StaticCost cost;
                    cost.op = named.name;
                    cost.stage = stage->name;
                    cost.form = name(form);
                    cost.configuration = segfold::print(configuration);
                    cost.architecture = architecture;
                    result.costs.push_back(std::move(cost));
                }
            }
    for (std::size_t begin = 0; begin < requests.size(); begin += kTextsAtATime) {
        if (progress)
            progress(begin, requests.size());
        const auto part =
            std::span(requests).subspan(begin, std::min(kTextsAtATime, requests.size() - begin));
        const auto compiled = cuda::compile_many(part);
        for (std::size_t i = 0; i < compiled.size(); ++i)
            add_resources(result.costs[begin + i], compiled[i]);
    }
    return result;
}

StaticVerdict compare(const StaticCosts& now, const StaticCosts& baseline)
{
    StaticVerdict verdict;
    verdict.same_compiler = now.compiler == baseline.compiler;
    for (const auto& cost : now.costs) {
        const auto then = std::ranges::find_if(
            baseline.costs, [&](const StaticCost& other) { return other.same_case(cost); });
        if (then == baseline.costs.end()) {
            ++verdict.num_new;
            continue;
        }
        ++verdict.num_compared;
        for (const auto& field : kFields) {
            const auto before = (*then).*field.value;
            const auto after = cost.*field.value;
            const auto margin = verdict.same_compiler ? 0 : field.margin(before);
            if (after > before + margin || after < before - margin)
                verdict.changes.push_back({cost, field.name, before, after});
        }
    }
    for (const auto& then : baseline.costs)
        verdict.num_missing +=
            std::ranges::none_of(now.costs, [&](const StaticCost& cost) { return cost.same_case(then); });
    return verdict;
}

}  // namespace segfold::regress
