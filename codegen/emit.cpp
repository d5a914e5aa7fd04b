#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "codegen/section/append_functions.h"
#include "codegen/section/map_section.h"
#include "codegen/section/operator_section.h"
#include "codegen/section/tile_section.h"
#include "codegen/weave/comment.h"
#include "codegen/weave/kernel_parameters.h"
#include "codegen/weave/line_map.h"
#include "codegen/weave/mention.h"
#include "codegen/weave/weave.h"
#include "dsl/check/rows.h"

namespace segfold {
namespace {

constexpr std::string_view kStepItemsSize = "step_items", kMapItemsSize = "map_items";

/// Returns a sentence that names the fields whose type in State differs from the type in the operator's text;
/// empty if there are none.
std::string short_places_note(const Problem& problem)
{
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < problem.op.state.size(); ++i)
        if (problem.op.state[i].type != problem.written.state[i].type)
            fields.push_back(problem.op.state[i].name);
    return fields.empty()
               ? ""
               : fmt::format("\nStates keep {} in 32 bits, as indices are; results have all bits.\n",
                             fmt::join(fields, ", "));
}

using NumberValues = std::map<std::string, int, std::less<>>;

/// Returns the comment at the top of a text. It lists the tunables whose constants occur in the text below.
/// `words` holds the words of that text.
std::string heading(const Problem& problem, const Stage& stage, const Configuration& configuration,
                    const NumberValues& numbers, Numbers place, const Identifiers& words)
{
    const auto is_mentioned = [&](const std::string& name) {
        if (numbers.contains(name))
            return place == Numbers::constant &&
                   (words.contains(name) || words.contains(constant_name("most_" + name)));
        return words.contains(constant_name(name)) || words.contains(constant_name("most_" + name));
    };
    const auto segments = problem.form == SegmentForm::whole ? std::string("One segment")
                          : problem.form == SegmentForm::uniform
                              ? "Segments of one length"
                              : fmt::format("Segments given as {}", name(problem.form));
    const auto keys = problem.form == SegmentForm::keys     ? fmt::format(" of {} bytes", problem.key_bytes)
                      : problem.form == SegmentForm::groups ? fmt::format(" of {}", name(problem.number_type))
                                                            : "";
    std::string text = fmt::format("{}: {}\n{}{}, {}-bit indices.\n", stage.name, stage.title, segments, keys,
                                   problem.index_bits);
    for (const auto& [name, value] : configuration)
        if (is_mentioned(name))
            text += fmt::format("{} = {}\n", name, value);
    const auto origin =
        fmt::format("\nEmitted by segfold from kernels/{}; edit that file instead.\n", stage.file);
    return comment_lines(text + '\n') + operator_comment(problem.written) +
           comment_lines(short_places_note(problem) + origin) + '\n';
}

/// Returns the names that a text's conditions may use, with their values.
Facts text_facts(const Problem& problem)
{
    auto facts = problem_facts(problem);
    facts["at_launch"] = 0;
    facts["finds_offsets"] = 0;
    return facts;
}

/// Returns the stage's text. Appends the line that includes the map's kernel if a CUDA stage does not run the
/// operator's map itself.
std::string whole_text(const Stage& stage, const Operator& op)
{
    return op.map && !is_fused(stage) && stage.dialect == Dialect::cuda
               ? fmt::format("{}//% use {}\n", stage.text, has_rows(op) ? kMapRowsPart : kMapPart)
               : stage.text;
}

/// Moves the launch of the map's kernel to the end. Adds scratch memory for results that the caller does not
/// get. If no kernel stores results (the stage runs the map itself, or there is no map), this memory has one
/// unused entry.
void settle_outputs(Emitted& emitted, const Operator& op, const Stage& stage)
{
    if (op.outputs.empty())
        return;
    std::ranges::stable_partition(emitted.launches,
                                  [](const auto& launch) { return launch.kernel != kMapKernel; });
    for (std::size_t i = 0; !op.keeps_results && i < op.results.size(); ++i)
        emitted.scratch.push_back({"result of " + op.results[i].name,
                                   static_cast<std::int64_t>(size_bytes(op.results[i].type)),
                                   Formula(stage.place, is_fused(stage) || !op.map ? "1"
                                                        : has_rows(op) ? "num_segments * num_features"
                                                                       : "num_segments"),
                                   false, static_cast<int>(i)});
}

std::int64_t element_bytes(const std::string& element, const Problem& problem)
{
    if (element == "State")
        return state_bytes(problem.op);
    if (element == "Columns")
        return std::max<std::int64_t>(columns_bytes(problem.op), 1);
    if (element == "Key")
        return problem.key_bytes;
    return element == "Index"  ? problem.index_bits / 8
           : element == "bool" ? 1
           : element == "u16"  ? 2
           : element == "u64"  ? 8
                               : 4;
}

void check_parameters(const Emitted& emitted, const std::string& file)
{
    for (const auto& launch : emitted.launches)
        for (const auto& parameter : launch.parameters) {
            const bool known =
                parameter == "inputs" || parameter == "segments" || parameter == "results" ||
                emitted.numbers.contains(parameter) ||
                std::ranges::find(emitted.scratch, parameter, &EmittedScratch::name) != emitted.scratch.end();
            if (!known)
                throw SpecError(
                    file + ": kernel '" + launch.kernel + "' has the parameter '" + parameter +
                    "'; parameters are inputs, segments, results, the names of scratch buffers, and numbers");
        }
}

/// Returns the values of the names in `number` lines. Each name must be a tunable or a size that does not
/// depend on the workload. Throws SpecError for any other name.
NumberValues values_of(const std::vector<std::string>& numbers, const Stage& stage, const FormulaNames& sizes)
{
    NumberValues values;
    for (const auto& number : numbers) {
        const bool is_known =
            std::ranges::find(stage.tunables, number, &Tunable::name) != stage.tunables.end() ||
            std::ranges::any_of(stage.sizes, [&](const auto& size) { return size.first == number; });
        if (!is_known || !sizes.contains(number))
            throw SpecError(stage.place + ": number '" + number +
                            "' is neither a tunable nor a size above the last needs, suits, where or fits");
        values[number] = static_cast<int>(sizes.at(number));
    }
    return values;
}

/// Returns the number of items that a lane takes at a time: the stage's size `name`, or else
/// kFewestStepItems. `name` is step_items for the fold and map_items for the map.
int lane_items(const Stage& stage, const FormulaNames& sizes, std::string_view name)
{
    const auto* items = sizes.find(name);
    if (items == nullptr)
        return kFewestStepItems;
    if (*items != 4 && *items != 8 && *items != 16)
        throw SpecError(fmt::format("{}: {} is {}; it must be 4, 8 or 16", stage.place, name, *items));
    return static_cast<int>(*items);
}

/// Returns plan_facts() without the facts that differ between workloads.
FormulaNames facts_without_shape(const Problem& problem)
{
    auto facts = plan_facts(problem);
    for (const auto* shape :
         {"num_elements", "num_segments", "mean_length", "longest_length", "padded_elements", "num_features"})
        facts.erase(shape);
    return facts;
}

/// True if no `where` condition is false. Ignores conditions with names that are not in `known`.
bool is_allowed(const Stage& stage, FormulaNames known)
{
    for (const auto& [name, formula] : stage.sizes)
        if (formula.is_over(known))
            known[name] = formula.value(known);
    return std::ranges::none_of(
        stage.where, [&](const auto& where) { return where.is_over(known) && where.value(known) == 0; });
}

/// True if is_allowed() is true for at least one combination of values of the tunables `open`.
bool is_allowed(const Stage& stage, FormulaNames& known, std::span<const Tunable* const> open)
{
    if (open.empty())
        return is_allowed(stage, known);
    return std::ranges::any_of(open.front()->values, [&](int value) {
        known[open.front()->name] = value;
        return is_allowed(stage, known, open.subspan(1));
    });
}

/// Returns the greatest value that a tunable has in any allowed configuration with the same text. Such a
/// configuration may differ from `configuration` in tunables that are numbers, and in tunables that `words`
/// does not contain.
int greatest_value(const Stage& stage, const Tunable& tunable, const Configuration& configuration,
                   const NumberValues& numbers, const FormulaNames& facts, const Identifiers& words)
{
    FormulaNames known = facts;
    std::vector<const Tunable*> open;
    for (const auto& other : stage.tunables)
        if (numbers.contains(other.name) && other.name != tunable.name)
            open.push_back(&other);
        else if (numbers.contains(other.name) || words.contains(constant_name(other.name)))
            known[other.name] = configuration.at(other.name);
    auto values = tunable.values;
    std::ranges::sort(values, std::greater());
    // If the conditions exclude even `configuration` itself, returns the tunable's greatest value.
    if (!is_allowed(stage, known, open))
        return values.front();
    return *std::ranges::find_if(values, [&](int value) {
        known[tunable.name] = value;
        return is_allowed(stage, known, open);
    });
}

/// Returns the constants of a text for the stage's tunables. Each tunable NAME gives a constant kMostNAME.
///
/// A tunable without a `//% number` line also gives kNAME. A tunable with such a line also gives NAME, unless
/// its value is passed at launch. If it is, kMostNAME is the greatest value that the text's other constants
/// allow. In all other cases, kMostNAME is the tunable's value.
std::vector<NamedConstant> constants_of(const Stage& stage, const Configuration& configuration,
                                        const NumberValues& numbers, Numbers place, const FormulaNames& facts,
                                        std::string_view written)
{
    const auto words = words_of(written);
    std::vector<NamedConstant> constants;
    for (const auto& [name, value] : configuration) {
        const bool is_number = numbers.contains(name);
        if (!is_number)
            constants.emplace_back(constant_name(name), value);
        const auto most = constant_name("most_" + name);
        if (is_number && place == Numbers::at_launch && words.contains(most))
            constants.emplace_back(
                most, greatest_value(stage, *std::ranges::find(stage.tunables, name, &Tunable::name),
                                     configuration, numbers, facts, words));
        else
            constants.emplace_back(most, value);
    }
    if (place == Numbers::constant)
        constants.insert(constants.end(), numbers.begin(), numbers.end());
    return constants;
}

/// Adds a constant kNAME for each `let` size that does not depend on the workload. If numbers are passed at
/// launch, the size must not depend on a number either. Skips sizes that the text `written` defines itself.
void add_sizes(std::vector<NamedConstant>& constants, const std::vector<Size>& sizes, const Problem& problem,
               const Configuration& configuration, const NumberValues& numbers, Numbers place,
               std::string_view written)
{
    auto known = facts_without_shape(problem);
    for (const auto& [name, value] : configuration)
        if (place == Numbers::constant || !numbers.contains(name))
            known[name] = value;
    for (const auto& [name, formula] : sizes)
        if (formula.is_over(known)) {
            const auto value = known[name] = formula.value(known);
            const bool is_own =
                name == kStepItemsSize || name == kMapItemsSize ||  // the generated sections define these
                written.find(" " + constant_name(name.text()) + " =") != std::string_view::npos;
            if (!is_own && std::in_range<int>(value))
                constants.emplace_back(constant_name(name.text()), static_cast<int>(value));
        }
}

/// Maps the lines of a text to their origins. From its top, the text consists of `above`, the first
/// `parts_above_tiles` parts, `tiles`, the other parts, and the stage's own text.
std::shared_ptr<const LineMap> lines_of(std::string_view above, std::string_view tiles,
                                        const TracedWoven& woven, std::ptrdiff_t parts_above_tiles,
                                        const Catalogue& catalogue)
{
    auto map = std::make_shared<LineMap>();
    map->add_generated(above);
    for (std::ptrdiff_t i = 0; i < std::ssize(woven.part_lines); ++i) {
        if (i == parts_above_tiles)
            map->add_generated(tiles);
        const auto& part = woven.part_lines[static_cast<std::size_t>(i)];
        map->add(catalogue.shown(part.file), part.lines);
    }
    if (parts_above_tiles == std::ssize(woven.part_lines))
        map->add_generated(tiles);
    map->add(catalogue.shown(woven.body_lines.file), woven.body_lines.lines);
    return map;
}

/// Inserts code at the beginning of every kernel with inputs. This code reports reads past a table's end.
/// `lines` holds the origin of each line of `text`.
void add_outside_reads(std::string& text, std::vector<int>& lines)
{
    constexpr std::string_view parameter = "Inputs inputs", body = "\n{\n";
    for (auto at = text.find(parameter); at != text.npos; at = text.find(parameter, at + 1))
        if (const auto begin = text.find(body, at); begin != text.npos) {
            const auto place = begin + body.size();
            const auto line =
                std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
            lines.insert(lines.begin() + line, 0);
            text.insert(place, "    const OutsideReads outside_reads{inputs};\n");
        }
}

}  // namespace

std::string part_text(std::string_view path, const Problem& problem, const Catalogue& catalogue)
{
    const auto part = catalogue.part(path);
    return weave(part.place.empty() ? path : part.place, part.text, text_facts(problem),
                 [&](std::string_view used) { return catalogue.part(used); })
        .body;
}

Emitted emit(const Problem& asked, const Stage& stage, const Configuration& configuration,
             const Catalogue& catalogue, Numbers place)
{
    catalogue.require(stage, asked);
    Problem problem = asked;
    problem.form = *served_form(stage, asked.form);
    const auto read_part = [&](std::string_view path) { return catalogue.part(path); };
    auto facts = text_facts(problem);
    facts["at_launch"] = place == Numbers::at_launch ? 1 : 0;
    if (finds_offsets(stage, problem.form)) {
        facts["finds_offsets"] = 1;
        facts["allows_empty"] = facts["tells_empty"] = 0;  // flags and keys have no empty segments
    }
    for (const auto& [tunable, value] : configuration)
        facts[tunable] = value;
    const auto text = whole_text(stage, problem.op);
    auto traced = weave_traced(stage.place, text, facts, read_part);
    auto& woven = traced.woven;
    const bool is_native = stage.dialect == Dialect::native;
    if (!problem.checked_tables.empty() && !is_native) {
        add_outside_reads(woven.body, traced.body_lines.lines);
        for (std::size_t i = 0; i < woven.parts.size(); ++i)
            add_outside_reads(woven.parts[i], traced.part_lines[i].lines);
    }
    auto plumbing = read_plumbing(stage.place, woven.directives);

    const auto all_sizes = plumbing.sizes;
    Emitted emitted;
    emitted.stage = stage.name;
    emitted.dialect = stage.dialect;
    emitted.is_associative = problem.laws.associative;
    emitted.form = problem.form;
    emitted.index_bits = problem.index_bits;
    emitted.state_bytes = state_bytes(problem.op);
    emitted.configuration = configuration;
    emitted.checked_tables = problem.checked_tables;
    // Removes the sizes that only choose the configuration. Formulas that are evaluated at launch do not use
    // them.
    const auto is_settled = [&](const auto& size) {
        return std::ranges::any_of(stage.sizes,
                                   [&](const auto& settled) { return settled.first == size.first; });
    };
    std::erase_if(plumbing.sizes, is_settled);
    emitted.sizes = std::move(plumbing.sizes);
    for (auto& scratch : plumbing.scratch)
        emitted.scratch.push_back(
            {scratch.name, element_bytes(scratch.element, problem), scratch.count, scratch.zero});
    const auto sizes = names_of(stage, configuration, plan_facts(problem, {}));
    const auto numbers = values_of(woven.numbers, stage, sizes);
    if (place == Numbers::at_launch)
        emitted.numbers = numbers;
    const auto written = fmt::format("{}{}", fmt::join(woven.parts, ""), woven.body);
    for (auto& launch : plumbing.launches)
        emitted.launches.push_back(
            {launch.kernel, kernel_parameters(launch.kernel, written, stage.place, stage.dialect),
             launch.grid, launch.block, launch.shared ? launch.shared->value(sizes) : 0});
    check_parameters(emitted, stage.place);
    settle_outputs(emitted, problem.op, stage);

    // If numbers are constants of the text, the size of dynamic shared memory is one, too. The text can then
    // assert that its arrays fit.
    auto constants =
        constants_of(stage, configuration, numbers, place, facts_without_shape(problem), written);
    add_sizes(constants, all_sizes, problem, configuration, numbers, place, written);
    for (const auto& launch : emitted.launches)
        if (launch.shared_bytes > 0 && place == Numbers::constant)
            constants.emplace_back("kDynamicSharedBytes", static_cast<int>(launch.shared_bytes));
    const int map_items = lane_items(stage, sizes, kMapItemsSize);
    // The generated pieces for tiles and items stand after the parts that they use and before the parts that
    // use them.
    const auto generated = is_native ? std::vector<Piece>()
                                     : tile_section(problem, {lane_items(stage, sizes, kStepItemsSize),
                                                              sizes.contains(kMapItemsSize)});
    const auto works_on_items = std::ranges::find_if(
        woven.parts, [&](const auto& part) { return !keep_mentioned(generated, words_of(part)).empty(); });
    const auto users = fmt::format("{}{}", fmt::join(works_on_items, woven.parts.end(), ""), woven.body);
    auto tiles = keep_mentioned(generated, words_of(users));
    if (!tiles.empty())
        tiles += '\n';
    const auto below =
        fmt::format("{}{}{}", fmt::join(woven.parts.begin(), works_on_items, ""), tiles, users);
    const auto read_type = [&](std::string_view path) { return part_text(path, problem, catalogue); };
    for (const auto* counted : {"segments.num_items", "segments.offsets"})
        emitted.counts_items = emitted.counts_items || below.find(counted) != below.npos;
    auto words = words_of(below);
    const auto title = heading(problem, stage, configuration, numbers, place, words);
    const auto above =
        title +
        keep_mentioned(operator_section(problem, constants, read_type, stage.dialect, map_items),
                       std::move(words)) +
        '\n';
    emitted.source = above + below;
    emitted.lines = lines_of(above, tiles, traced, works_on_items - woven.parts.begin(), catalogue);
    // A text that consists of parts alone ends with a blank line, which is removed.
    while (emitted.source.ends_with("\n\n"))
        emitted.source.pop_back();
    check_emitted(emitted.source, problem.written);
    return emitted;
}

}  // namespace segfold
