// segfold regress: segmented against unsegmented, and now against then.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dsl/error.h"
#include "dsl/standard_operators.h"
#include "runtime/cli/executor.h"
#include "runtime/cli/generated_arrays.h"
#include "runtime/cli/json.h"
#include "runtime/cli/operator_argument.h"
#include "runtime/cli/operator_laws.h"
#include "runtime/cli/plan.h"
#include "runtime/cli/regress_view.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/verbs.h"
#include "runtime/cuda/context.h"
#include "runtime/regress/relations.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kElementsOnGpu = std::int64_t{1} << 18;
constexpr std::int64_t kElementsOnHost = std::int64_t{1} << 11;
constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
constexpr std::int64_t kMostSeeds = 1000000;
constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;
constexpr Flag kOwnFlags[] = {{"stage", "STAGE|all"}, {"relation", "NAME"}, {"elements", "N"}, {"seed", "S"},
                              {"repeat", "K"},        {"kernels", "DIR"},   {"tiles", "TILES"}};
constexpr std::string_view kTilesNames[] = {"chosen", "smallest"};

/// Exact and not commutative, with and without an identity, with empty results of its own, rounding, and with
/// a finish.
constexpr std::string_view kStandardOperators[] = {"trace_i32", "affine_u32", "keep_first_i32",
                                                   "sum_i32",   "sum_f32",    "mean_variance_f32"};

std::vector<Operator> operators(const Arguments& arguments)
{
    if (names_operator(arguments))
        return operator_arguments(arguments);
    for (const auto& flag : kOperatorFlags)
        arguments.refuse(flag.name, "is a part of an operator, and none is named");
    std::vector<Operator> all;
    for (const auto name : kStandardOperators)
        all.push_back(standard_operator(name));
    return all;
}

std::string quoted(const std::string& word)
{
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,^+";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos)
        return word;
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// The words by which the command line named an operator: those of the user, or a standard one.
std::string operator_words(const Arguments& arguments, std::size_t place)
{
    if (!names_operator(arguments))
        return std::string(kStandardOperators[place]);
    std::string words;
    if (!arguments.operands().empty()) {
        auto list = arguments.operands()[0];
        for (std::size_t i = 0; i < place; ++i)
            list.erase(0, list.find(',') + 1);
        words = quoted(list.substr(0, list.find(',')));
    }
    for (const auto& flag : kOperatorFlags)
        if (arguments.has(flag.name)) {
            words += fmt::format("{}--{}", words.empty() ? "" : " ", flag.name);
            if (!flag.value.empty())
                words += " " + quoted(*arguments.value(flag.name));
        }
    return words;
}

std::vector<const Stage*> stages(const Arguments& arguments, const Catalogue& catalogue)
{
    const auto asked = arguments.value("stage").value_or("all");
    if (asked != "all")
        return {&catalogue.stage(asked)};
    std::vector<const Stage*> all;
    for (const auto& stage : catalogue.stages())
        all.push_back(&stage);
    return all;
}

std::vector<Array> make_arrays(const Operator& op, const Segments& segments, std::uint64_t seed)
{
    std::map<std::string, Array> named;
    complete_arrays(op, segments, {seed, ValueRange::uniform}, named);
    std::vector<Array> arrays;
    for (const auto& parameter : op.parameters)
        arrays.push_back(std::move(named.at(parameter.name)));
    return arrays;
}

/// How large the data is, in which order it comes, and which configurations fold it.
struct RelationRequest {
    std::int64_t num_elements = 0;
    std::uint64_t seed = 7;
    std::uint64_t num_seeds = 1;
    std::vector<const regress::Relation*> relations;
    std::vector<const Stage*> stages;
    std::vector<regress::Tiles> tiles;
};

RelationRequest relation_request(const Arguments& arguments, const Catalogue& catalogue, bool on_gpu)
{
    RelationRequest request;
    request.num_elements =
        arguments.integer("elements", 1, kMostElements).value_or(on_gpu ? kElementsOnGpu : kElementsOnHost);
    request.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, kLargestSeed).value_or(7));
    request.num_seeds = static_cast<std::uint64_t>(arguments.integer("repeat", 1, kMostSeeds).value_or(1));
    if (const auto wanted = arguments.value("relation"))
        request.relations = {&regress::relation(*wanted)};
    else
        for (const auto& relation : regress::relations())
            request.relations.push_back(&relation);
    request.stages = stages(arguments, catalogue);
    // Small tiles cross many borders with the few elements that simt can take in a short time.
    request.tiles = {regress::Tiles::smallest};
    if (on_gpu)
        request.tiles.push_back(regress::Tiles::chosen);
    if (const auto asked = arguments.choice("tiles", kTilesNames))
        request.tiles = {static_cast<regress::Tiles>(*asked)};
    return request;
}

std::vector<regress::RelationOutcome> hold_relations(const Operator& op, const RelationRequest& request,
                                                     const Catalogue& catalogue, regress::Runner& runner,
                                                     Progress& progress)
{
    const auto laws = quick_laws(op);
    if (!laws.has_sound_identity)
        throw InputError(
            fmt::format("operator {} states an identity that is none, and every stage relies on it; "
                        "'segfold check' shows the counter-example",
                        op.name));
    std::vector<regress::RelationOutcome> outcomes;
    for (std::uint64_t i = 0; i < request.num_seeds; ++i) {
        const regress::Setting setting{
            op, laws.usable, catalogue, runner, request.num_elements, request.seed + i, make_arrays};
        regress::Materials materials;
        for (const auto* stage : request.stages)
            for (const auto* relation : request.relations) {
                progress.show(fmt::format("{} {}: {}", op.name, stage->name, relation->name));
                for (const auto tiles : request.tiles)
                    outcomes.push_back(regress::attempt(*relation, setting, *stage, tiles, materials));
            }
    }
    return outcomes;
}

/// A stage that was asked for by name must be able to serve some operator.
void require_asked_stage(const Arguments& arguments, const RegressReport& report)
{
    if (arguments.value("stage").value_or("all") == "all")
        return;
    std::string reason;
    for (const auto& relations : report.relations)
        for (const auto& outcome : relations.outcomes) {
            if (outcome.objection.empty())
                return;
            reason = outcome.stage + ": " + outcome.objection;
        }
    throw InputError(reason);
}

}  // namespace

int verb_regress(const Words& words)
{
    const Arguments arguments("regress", words, join({kOperatorFlags, kBackendFlags, kOwnFlags}), 1);
    const auto ops = operators(arguments);
    const Kernels kernels(arguments);
    const Executor executor(arguments);
    if (!executor.runs_stages())
        throw InputError(
            fmt::format("--backend {}: regress runs stages, which take cuda or simt; both are "
                        "compared with the reference and Thrust anyway",
                        name(executor.backend())));
    const auto runner = executor.runner();
    const auto request =
        relation_request(arguments, kernels.catalogue(), executor.backend() == Backend::cuda);
    Progress progress;
    RegressReport report;
    report.backend = fmt::format("{}: {}", name(executor.backend()), executor.description());
    report.num_elements = request.num_elements;
    report.replay_words = fmt::format("--backend {}", name(executor.backend()));
    for (const auto flag : {"device", "schedule-seed", "kernels"})
        if (const auto value = arguments.value(flag))
            report.replay_words += fmt::format(" --{} {}", flag, quoted(*value));
    for (std::size_t i = 0; i < ops.size(); ++i)
        report.relations.push_back({operator_words(arguments, i),
                                    hold_relations(ops[i], request, kernels.catalogue(), *runner, progress)});
    progress.clear();
    require_asked_stage(arguments, report);
    if (arguments.json())
        write_json(json_of(report));
    else
        write_output(print(report));
    return report.exit_code();
}

}  // namespace segfold::cli
