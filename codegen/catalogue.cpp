#include "codegen/catalogue.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/atomic.h"
#include "codegen/comment.h"
#include "codegen/embedded_kernels.h"
#include "codegen/tile_section.h"
#include "dsl/error.h"
#include "dsl/suggest.h"

namespace segfold {
namespace {

/// What a need may ask about.
FormulaNames facts_of(const Problem& problem)
{
    return {{"associative", problem.laws.associative},
            {"commutative", problem.laws.commutative},
            {"idempotent", problem.laws.idempotent},
            {"identity", problem.op.has_identity()},
            {"uses_position", uses_name(problem.op.lift, "position")},
            {"uses_segment", uses_name(problem.op.lift, "segment")},
            {"costly_combine", is_costly(problem.op)},
            {"atomic_combine", atomic_function(problem.op).has_value()},
            {"redux_combine", warp_function(problem.op).has_value()},
            {"element_bytes", element_bytes(problem.op)},
            {"state_bytes", state_bytes(problem.op)},
            {"cc", problem.target.compute_capability}};
}

// What a node does by itself, in additions: divisions and transcendental functions are some dozens of
// instructions.
std::int64_t own_operations(const ExpressionNode& node)
{
    constexpr std::int64_t kLong = 8;
    constexpr std::string_view kLongCalls[] = {"sqrt", "rsqrt", "exp", "exp2", "expm1", "log",
                                               "log2", "log1p", "pow", "sin",  "cos",   "tanh"};
    if (node.kind == ExpressionKind::binary && (node.symbol == "/" || node.symbol == "%"))
        return kLong;
    if (node.kind == ExpressionKind::call &&
        std::ranges::find(kLongCalls, std::string_view(node.name)) != std::end(kLongCalls))
        return kLong;
    return node.arguments.empty() ? 0 : 1;
}

std::int64_t operations(const Expression& expression)
{
    std::int64_t count = own_operations(*expression);
    for (const auto& argument : expression->arguments)
        count += operations(argument);
    return count;
}

std::string explain(const Formula& need, const Problem& problem)
{
    const auto& op = problem.op;
    const auto& text = need.text();
    if (text == "associative")
        return "needs an associative operator, and combine of operator " + op.name + " is refuted";
    if (text == "commutative" || text == "idempotent") {
        const bool declared = text == "commutative" ? op.laws.commutative : op.laws.idempotent;
        return "needs a" + std::string(text == "commutative" ? " " : "n ") + text +
               " operator, and operator " + op.name +
               (declared ? " is refuted to be one" : " does not declare that law");
    }
    if (text == "redux_combine")
        return "needs a sum, minimum, maximum or bitwise operation of one 32-bit integer, and combine of "
               "operator " +
               op.name + " is something else";
    if (text == "element_bytes > 0")
        return "needs a lift that reads elements, and that of operator " + op.name + " reads none";
    if (text == "identity")
        return "needs an identity, and operator " + op.name + " declares none";
    for (const std::string_view place : {"position", "segment"})
        if (text == "!uses_" + std::string(place))
            return "needs a lift that does not use " + std::string(place) + ", and that of operator " +
                   op.name + " does";
    const int cc = problem.target.compute_capability;
    if (text.starts_with("cc "))
        return "needs " + text + ", and the GPU has compute capability " + std::to_string(cc / 10) + "." +
               std::to_string(cc % 10);
    std::string values;
    for (const auto& [name, value] : facts_of(problem))
        if (text.find(name) != std::string::npos)
            values += (values.empty() ? "" : ", ") + name + " = " + std::to_string(value);
    return "needs " + text + ", and operator " + op.name + " has " + values;
}

std::string read_file(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in)
        throw InputError(path.string() + ": cannot be read");
    return text.str();
}

/// The borders below were measured on an H200: the share of the memory's rate of one stage crosses that of
/// the next.
constexpr std::int64_t kFewElements = std::int64_t{1} << 21;  ///< up to here latency counts, not bytes
constexpr std::int64_t kManySegments = 8192;                  ///< about as many as warps run at once

std::int64_t mean_length(const Shape& shape)
{
    return shape.num_segments > 0 ? shape.num_elements / shape.num_segments : 0;
}

/// Where joining lanes takes longer than reading what they fold, so that few lanes with much each are best.
bool joins_are_long(const Problem& problem) { return is_costly(problem.op) || state_bytes(problem.op) >= 16; }

/// Where elements are so short that instructions, not bytes, take the time.
bool is_narrow(const Problem& problem)
{
    const auto bytes = element_bytes(problem.op);
    return bytes > 0 && bytes <= 2;
}

/// Whether warp_stream reads such segments and such a lift.
bool can_stream(const Problem& problem)
{
    return problem.form == SegmentForm::offsets && element_bytes(problem.op) > 0 &&
           !uses_name(problem.op.lift, "position") && !uses_name(problem.op.lift, "segment");
}

/// Where order counts, stages that take a row of a segment at a time join lanes once a row; with wide states
/// that is slower than what joins them once a tile.
bool joins_are_dear(const Problem& problem)
{
    return !problem.laws.commutative && state_bytes(problem.op) >= 16;
}

/// The stage for segments that are all alike; empty where none is better than one that holds for any skew.
std::string_view stage_for_alike(const Problem& problem, const Shape& shape)
{
    const auto mean = mean_length(shape);
    const bool are_many = shape.num_segments >= kManySegments;
    const bool are_few_elements = shape.num_elements <= kFewElements;
    if (mean < 8 || (mean == 8 && (is_costly(problem.op) || is_narrow(problem))))
        return "thread_per_segment";
    const std::int64_t longest_for_few = joins_are_long(problem) || is_narrow(problem) ? 64 : 128;
    if (mean <= (are_few_elements ? longest_for_few : 192))
        return "group_per_segment";
    if (mean <= 1024 && (are_many || are_few_elements))
        return "warp_per_segment";
    if ((!problem.laws.commutative || joins_are_long(problem)) && mean <= 8192 && are_many)
        return "warp_per_segment";
    if (joins_are_dear(problem) && mean > 2048 && !are_few_elements)
        return "";
    const bool keeps_all_busy = shape.num_segments >= 256 && (problem.laws.commutative || mean <= 131072);
    if (keeps_all_busy || (are_few_elements && mean <= 65536))
        return "block_per_segment";
    return are_few_elements ? "group_or_grid" : "";
}

/// The same where segments have lengths of their own.
std::string_view stage_for_lengths(const Problem& problem, const Shape& shape)
{
    const auto mean = mean_length(shape);
    const auto longest = shape.longest;  // 0 where nobody knows
    // Where there are more segments than warps, less than a warp for each takes fewer turns.
    const bool are_alike = longest > 0 && longest <= 32 * mean && mean >= 8 && mean < 64;
    if (are_alike && shape.num_segments >= kManySegments) {
        // How far less than a warp for each is ahead of what streams, where anything can stream.
        if (can_stream(problem) && is_costly(problem.op))
            return shape.num_elements <= kFewElements / 2 ? "warp_per_segment" : "";
        const std::int64_t times = !can_stream(problem)      ? 2
                                   : joins_are_long(problem) ? 1
                                   : is_narrow(problem)      ? 2
                                                             : 4;
        if (shape.num_elements <= times * kFewElements)
            return "group_per_segment";
    }
    // Few elements take as long as a launch and one chain of reads. Then the shortest chain wins, unless one
    // long segment would keep its warp busy alone.
    if (shape.num_elements <= kFewElements) {
        if (longest > 1024 && longest <= 4 * mean && longest <= 65536)
            return "block_per_segment";
        if (longest > 0 && longest <= 3584)
            return mean < 8 && longest <= 64 ? "thread_per_segment" : "warp_per_segment";
        return problem.form == SegmentForm::offsets ? "group_or_grid" : "";
    }
    // The same for somewhat more elements, if much of them is one segment and its pieces are joined quickly.
    const bool has_giant = longest >= shape.num_elements / 4;
    if (has_giant && shape.num_elements <= 2 * kFewElements && !joins_are_long(problem) &&
        problem.form == SegmentForm::offsets)
        return "group_or_grid";
    // Where no segment is much longer than others, warps or blocks that take one each keep nobody waiting.
    const bool are_even = longest > 0 && longest <= 4 * mean && longest <= 8192;
    if (problem.form != SegmentForm::offsets || !are_even || mean < 256 || shape.num_segments < kManySegments)
        return "";
    if (joins_are_dear(problem) && mean > 2048)
        return "";
    return problem.laws.commutative && mean >= 2048 ? "block_per_segment" : "warp_per_segment";
}

std::string_view suited_stage(const Problem& problem, const Shape& shape)
{
    if (is_found(problem.form))
        return "run_stream";
    if (problem.form == SegmentForm::whole)
        return "grid_reduce";
    return problem.form == SegmentForm::uniform ? stage_for_alike(problem, shape)
                                                : stage_for_lengths(problem, shape);
}

/// A stage or a probe by its name.
template <class Named>
const Named& find_named(const std::vector<Named>& all, std::string_view name, const std::string& what)
{
    const auto found = std::ranges::find(all, name, &Named::name);
    if (found != all.end())
        return *found;
    std::vector<std::string_view> names;
    std::string list;
    for (const auto& other : all) {
        names.push_back(other.name);
        list += (list.empty() ? "" : ", ") + other.name;
    }
    throw InputError("unknown " + what + " '" + std::string(name) + "'; the " + what + "s are " +
                     (list.empty() ? "none" : list) + did_you_mean(name, names));
}

}  // namespace

FormulaNames plan_facts(const Problem& problem, const Shape& shape)
{
    auto facts = facts_of(problem);
    facts["index_bytes"] = problem.index_bits / 8;
    facts["block_shared_bytes"] = problem.target.block_shared_bytes;
    for (const auto form :
         {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets, SegmentForm::ranges})
        facts[std::string(name(form))] = problem.form == form;
    facts["num_elements"] = shape.num_elements;
    facts["num_segments"] = shape.num_segments;
    facts["longest_length"] = shape.longest;
    constexpr std::int64_t kUnknownMean = 64;
    facts["mean_length"] = shape.num_segments > 0 ? shape.num_elements / shape.num_segments : kUnknownMean;
    return facts;
}

bool is_costly(const Operator& op)
{
    constexpr std::int64_t kCheap = 12;
    std::int64_t count = 0;
    for (const auto& let : op.combine.lets)
        count += operations(let.value);
    for (const auto& assignment : op.combine.assignments)
        count += operations(assignment.value);
    return count > kCheap;
}

std::int64_t element_bytes(const Operator& op)
{
    std::int64_t bytes = 0;
    for (const auto* column : lifted_columns(op))
        bytes += size_bytes(column->type);
    return bytes;
}

const Catalogue& Catalogue::standard()
{
    static const Catalogue catalogue = [] {
        Catalogue result;
        for (const auto& file : embedded_kernels())
            result.add(std::string(file.path), std::string(file.text));
        result.order();
        return result;
    }();
    return catalogue;
}

Catalogue Catalogue::from_directory(const std::string& directory)
{
    const std::filesystem::path root(directory);
    if (!std::filesystem::is_directory(root / "stages"))
        throw InputError(directory + ": has no folder 'stages'; it must look like kernels/");
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        const auto extension = entry.path().extension();
        if (entry.is_regular_file() && (extension == ".cu" || extension == ".cuh"))
            paths.push_back(entry.path().lexically_relative(root).generic_string());
    }
    std::ranges::sort(paths);
    Catalogue result;
    for (const auto& path : paths) {
        auto text = read_file(root / path);
        if (const auto fault = find_comment_fault(text))
            throw SpecError(path + ":" + std::to_string(fault->line) + ": the comment " + fault->what);
        result.add(path, std::move(text));
    }
    result.order();
    return result;
}

void Catalogue::add(std::string path, std::string text)
{
    if (path.starts_with("stages/") || path.starts_with("ladder/"))
        stages_.push_back(read_stage(std::move(path), std::move(text)));
    else if (path.starts_with("probes/"))
        probes_.push_back(read_probe(std::move(path), std::move(text)));
    else
        parts_.emplace(std::move(path), std::move(text));
}

/// Sorts so that every stage follows the one it comes `after`; ties by name.
void Catalogue::order()
{
    std::ranges::sort(stages_, {}, &Stage::name);
    const auto twin = std::ranges::adjacent_find(stages_, {}, &Stage::name);
    if (twin != stages_.end())
        throw SpecError((twin + 1)->file + ": stage '" + twin->name + "' is already that of " + twin->file);
    std::vector<Stage> ordered;
    while (!stages_.empty()) {
        const auto ready = std::ranges::find_if(stages_, [&](const Stage& stage) {
            return stage.after.empty() ||
                   std::ranges::find(ordered, stage.after, &Stage::name) != ordered.end();
        });
        if (ready == stages_.end())
            throw SpecError(stages_.front().file + ": comes after '" + stages_.front().after +
                            "', which is no stage, or after itself");
        ordered.push_back(std::move(*ready));
        stages_.erase(ready);
    }
    stages_ = std::move(ordered);
}

const Stage& Catalogue::stage(std::string_view name) const { return find_named(stages_, name, "stage"); }

const Probe& Catalogue::probe(std::string_view name) const { return find_named(probes_, name, "probe"); }

std::string_view Catalogue::part(std::string_view path) const
{
    const auto found = parts_.find(path);
    if (found == parts_.end())
        throw SpecError("unknown part '" + std::string(path) + "'");
    return found->second;
}

std::optional<std::string> Catalogue::unmet(const Stage& stage, const Problem& problem) const
{
    if (!served_form(stage, problem.form)) {
        std::string forms;
        for (const auto form : stage.forms)
            forms += (forms.empty() ? "" : ", ") + std::string(name(form));
        return "takes segments given as " + forms + ", not as " + std::string(name(problem.form));
    }
    const auto facts = facts_of(problem);
    for (const auto& need : stage.needs)
        if (need.value(facts) == 0)
            return explain(need, problem);
    return std::nullopt;
}

std::string Catalogue::usable(const Problem& problem, bool rungs) const
{
    std::string list;
    for (const auto& stage : stages_)
        if (stage.is_rung == rungs && !unmet(stage, problem))
            list += (list.empty() ? "" : ", ") + stage.name;
    return list.empty() ? "none" : list;
}

void Catalogue::require(const Stage& stage, const Problem& problem) const
{
    if (const auto why = unmet(stage, problem))
        throw InputError(stage.name + ": " + *why + (stage.is_rung ? "; rungs" : "; stages") +
                         " that can serve: " + usable(problem, stage.is_rung));
}

const Stage& Catalogue::suited(const Problem& problem, const Shape& shape) const
{
    const auto facts = plan_facts(problem, shape);
    const Stage* best = nullptr;
    std::int64_t best_rank = 0;
    for (const auto& stage : stages_) {
        if (stage.is_rung)
            continue;
        const auto its_rank = rank(stage, facts);
        if ((best == nullptr || its_rank > best_rank) && !unmet(stage, problem)) {
            best = &stage;
            best_rank = its_rank;
        }
    }
    if (best != nullptr)
        return *best;
    std::string reasons;
    for (const auto& stage : stages_)
        if (!stage.is_rung)
            reasons += "\n    " + stage.name + ": " + *unmet(stage, problem);
    throw InputError("no stage can serve operator " + problem.op.name + " over segments given as " +
                     std::string(name(problem.form)) + reasons);
}

const Stage& Catalogue::rule_of_thumb(const Problem& problem, const Shape& shape) const
{
    // Last what can always serve, before it what holds for any skew, first what suits the shape.
    std::vector<std::string_view> order = {"warp_stream", "tile_scan", "warp_per_segment",
                                           "thread_per_segment"};
    if (const auto suited = suited_stage(problem, shape); !suited.empty()) {
        if (suited == "group_per_segment")  // which needs more of an operator than its neighbour
            order.insert(order.begin(), "warp_per_segment");
        order.insert(order.begin(), suited);
    }
    for (const auto name : order)
        for (const auto& stage : stages_)
            if (stage.name == name && !unmet(stage, problem))
                return stage;
    for (const auto& stage : stages_)
        if (!stage.is_rung && !unmet(stage, problem))
            return stage;
    std::string reasons;
    for (const auto& stage : stages_)
        if (!stage.is_rung)
            reasons += "\n    " + stage.name + ": " + *unmet(stage, problem);
    throw InputError("no stage can serve operator " + problem.op.name + " over segments given as " +
                     std::string(name(problem.form)) + reasons);
}

std::int64_t state_bytes(const Operator& op)
{
    std::size_t bytes = 0;
    std::size_t alignment = 1;
    const auto add = [&](std::size_t size) {
        bytes = (bytes + size - 1) / size * size + size;
        alignment = std::max(alignment, size);
    };
    for (const auto& field : op.state)
        add(size_bytes(field.type));
    if (!op.has_identity())
        add(1);  // the flag that says whether there is a state at all
    return static_cast<std::int64_t>((bytes + alignment - 1) / alignment * alignment);
}

}  // namespace segfold
