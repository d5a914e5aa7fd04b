#include "runtime/check/relations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "runtime/check/elements_to_go_round.h"
#include "runtime/check/operators/derived_operators.h"
#include "runtime/check/scan_relations.h"
#include "runtime/check/spread_relations.h"
#include "runtime/judge/reference.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/simt/program.h"
#include "runtime/support/text_table.h"

namespace segfold::regress {
namespace {

using enum SegmentForm;

std::string none(const Operator&) { return {}; }

std::string knows_segments(const Operator& op)
{
    if (auto reason = running_results(op); !reason.empty())
        return reason;
    return lift_knows_segments(op) ? "lift reads where in its segment an element lies" : "";
}

std::string refuses_empties(const Operator& op)
{
    if (uses_name(op.lift, "segment") || (op.finish && uses_name(*op.finish, "segment")) ||
        (op.scan && uses_name(op.scan->block, "segment")))
        return "results depend on the number of their segment";
    return op.takes_empty_segments() ? "" : "an empty segment has no result";
}

/// Returns one segment of `n` elements in the given form.
Segments whole_as_one(SegmentForm form, std::int64_t n)
{
    if (form == whole)
        return whole_segments(n);
    return form == uniform ? uniform_segments(n, n) : segments_of(form, {n});
}

/// Folds one segment in each form and compares the results with the stage's fold of the form `whole`. If the
/// stage does not serve `whole`, compares with the reference. So do groups, which leave out some elements.
std::optional<Breach> attempt_one_segment(Trial& trial)
{
    const auto& op = trial.setting().op;
    for (const auto n : {trial.setting().num_elements, trial.border_length(1)}) {
        std::optional<Results> unsegmented;
        for (const auto form : trial.forms({groups, whole, uniform, offsets, ranges, flags, keys})) {
            const auto& data = trial.material(op, whole_as_one(form, n), "one segment");
            auto results = trial.run(data.workload);
            const auto comparison = unsegmented ? data.judge->compare(results, *unsegmented, "the whole")
                                                : data.judge->compare(results);
            if (auto breach = trial.breach(comparison))
                return breach;
            if (form == whole)
                unsegmented = std::move(results);
        }
    }
    return std::nullopt;
}

/// Combines the states of each group with joining_operator().
Results join(const Operator& op, const Results& states, Segments parts)
{
    Workload workload;
    workload.op = joining_operator(op);
    for (const auto& field : states)
        workload.arrays.push_back(field.array.copy());
    workload.segments = std::move(parts);
    return right_results(workload);
}

std::optional<Breach> attempt_fold_of_segments(Trial& trial)
{
    const auto op = state_operator(trial.setting().op);
    for (const auto form : trial.forms({uniform, offsets, ranges, flags, keys})) {
        // The joining operator has no `empty` part, so without an identity no segment may be empty.
        const auto segments = trial.usual_segments(form, op);
        if (segments.num_segments == 0)
            continue;
        const auto n = segments.num_elements;
        const auto& data = trial.material(op, whole_segments(n), "whole");
        std::optional<Results> unsegmented;
        if (!trial.forms({whole}).empty())
            unsegmented = trial.run(data.workload);
        const auto& parts = trial.material(op, segments.copy(), "usual");
        const auto joined =
            join(trial.setting().op, trial.run(parts.workload), whole_segments(segments.num_segments));
        const auto comparison = unsegmented ? data.judge->compare(joined, *unsegmented, "the whole")
                                            : data.judge->compare(joined);
        if (auto breach = trial.breach(comparison)) {
            breach->text = "the segments' results, combined in order, " + breach->text;
            return breach;
        }
    }
    return std::nullopt;
}

/// Compares the results of every form with the reference and with Thrust.
std::optional<Breach> attempt_agreement(Trial& trial)
{
    const auto& op = trial.setting().op;
    for (const auto form : trial.forms({whole, uniform, offsets, ranges, flags, keys, groups})) {
        const auto& data = trial.material(op, trial.usual_segments(form), "usual");
        const auto results = trial.run(data.workload);
        if (auto breach = trial.breach(data.judge->compare(results)))
            return breach;
        if (const auto& thrust = data.thrust(trial.setting().laws))
            if (auto breach = trial.breach(data.judge->compare(results, *thrust, "thrust")))
                return breach;
    }
    return std::nullopt;
}

/// Cuts each segment in two at a random place. Parts may be empty only if `empties` is true.
std::vector<std::int64_t> cut(const Trial& trial, const std::vector<std::int64_t>& lengths, bool empties,
                              std::vector<std::int64_t>& parts_of)
{
    std::vector<std::int64_t> parts;
    for (std::size_t segment = 0; segment < lengths.size(); ++segment) {
        const auto length = lengths[segment];
        const auto before = parts.size();
        const auto stream = 1000 + segment;
        if (empties) {
            parts.push_back(trial.lot(stream, length + 1));
        } else if (length > 1) {
            parts.push_back(1 + trial.lot(stream, length - 1));
        }
        parts.push_back(parts.size() > before ? length - parts.back() : length);
        parts_of.push_back(static_cast<std::int64_t>(parts.size() - before));
    }
    return parts;
}

std::optional<Breach> attempt_splitting(Trial& trial)
{
    const auto op = state_operator(trial.setting().op);
    for (const auto form : trial.forms({offsets, ranges, flags, keys})) {
        const bool empties = op.has_identity() && !is_found(form);
        const auto lengths = trial.lengths(empties);
        if (lengths.empty())
            continue;
        std::vector<std::int64_t> parts_of;
        const auto parts = cut(trial, lengths, empties, parts_of);
        const auto& data = trial.material(op, segments_of(form, lengths), "unsplit");
        const auto& split = trial.material(op, segments_of(form, parts), "split");
        const auto unsplit = trial.run(data.workload);
        const auto states = trial.run(split.workload);
        const auto joined = join(trial.setting().op, states, segments_of(offsets, parts_of));
        if (auto breach = trial.breach(data.judge->compare(joined, unsplit, "the unsplit run"))) {
            breach->text = "segments split in two, the parts combined, " + breach->text;
            breach->num_segments = data.workload.segments.num_segments;
            return breach;
        }
    }
    return std::nullopt;
}

/// Returns the results of all segments: for non-empty segments from `without`, for empty ones from
/// `reference`. The last `num_outputs` arrays hold one value per element and are copied from `without`.
Results with_empties(const Results& reference, const Results& without, const Segments& segments,
                     std::size_t num_outputs)
{
    Results all;
    for (std::size_t f = 0; f < reference.size(); ++f) {
        if (f + num_outputs >= reference.size()) {
            all.push_back({without[f].name, without[f].array.copy()});
            continue;
        }
        auto array = reference[f].array.copy();
        const auto width = size_bytes(array.type());
        std::size_t next = 0;
        for (std::int64_t segment = 0; segment < segments.num_segments; ++segment)
            if (segments.length(segment) != 0)
                std::memcpy(array.data() + static_cast<std::size_t>(segment) * width,
                            without[f].array.data() + next++ * width, width);
        all.push_back({reference[f].name, std::move(array)});
    }
    return all;
}

std::optional<Breach> attempt_empty_segments(Trial& trial)
{
    const auto& op = trial.setting().op;
    for (const auto form : trial.forms({offsets, ranges, groups})) {
        auto lengths = trial.lengths(true);
        lengths.insert(lengths.begin() + trial.lot(3, static_cast<std::int64_t>(lengths.size()) + 1), 2, 0);
        lengths.insert(lengths.begin(), 2, 0);
        lengths.insert(lengths.end(), 2, 0);
        const auto& data = trial.material(op, segments_of(form, lengths), "with empty segments");
        std::erase(lengths, 0);
        const auto& others = trial.material(op, segments_of(form, lengths), "without empty segments");
        const auto without = trial.run(others.workload);
        const auto results = trial.run(data.workload);
        const auto expected =
            with_empties(data.judge->reference(), without, data.judged().segments, op.outputs.size());
        if (auto breach =
                trial.breach(data.judge->compare(results, expected, "the run without empty segments")))
            return breach;
    }
    return std::nullopt;
}

std::optional<Breach> attempt_base_alignment(Trial& trial)
{
    for (const auto form : trial.forms({whole, uniform, offsets, ranges, groups})) {
        const auto& workload =
            trial.material(trial.setting().op, trial.usual_segments(form), "usual").workload;
        const auto usual = trial.run(workload);
        for (const int shift : {1, 2 + static_cast<int>(trial.lot(4, 2))}) {
            const auto results = trial.run(workload, {.shifted_elements = shift});
            if (auto breach = trial.unequal_bits(
                    results, usual,
                    fmt::format("with columns {} behind alignment", count_text(shift, "element"))))
                return breach;
        }
    }
    return std::nullopt;
}

/// Returns the workload's columns with new values, except in segments `kept`, `kept` + 2, ...
std::vector<Array> with_other_neighbours(const Trial& trial, const Workload& workload, std::int64_t kept)
{
    auto arrays = trial.setting().make_arrays(workload.op, workload.segments, trial.setting().seed + 1);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (workload.op.parameters[i].table) {
            arrays[i] = workload.arrays[i].copy();
            continue;
        }
        const auto width = static_cast<std::int64_t>(size_bytes(arrays[i].type()));
        for (auto segment = kept; segment < workload.segments.num_segments; segment += 2) {
            const auto at = workload.segments.begin(segment) * width;
            std::memcpy(arrays[i].data() + at, workload.arrays[i].data() + at,
                        static_cast<std::size_t>(workload.segments.length(segment) * width));
        }
    }
    return arrays;
}

/// Returns the results with the indices `first`, `first` + 2, ...
Results every_second(const Results& results, std::int64_t first)
{
    Results some;
    for (const auto& [name, array] : results) {
        const auto width = size_bytes(array.type());
        const auto skipped = static_cast<std::size_t>(first);
        Array kept(array.type(), (array.length() + 1 - skipped) / 2);
        for (std::size_t i = 0; i < kept.length(); ++i)
            std::memcpy(kept.data() + i * width, array.data() + (2 * i + skipped) * width, width);
        some.push_back({name, std::move(kept)});
    }
    return some;
}

std::optional<Breach> attempt_neighbours(Trial& trial)
{
    const auto kept = trial.lot(5, 2);
    for (const auto form : trial.forms({uniform, offsets, ranges, flags, keys})) {
        const auto& workload =
            trial.material(trial.setting().op, trial.usual_segments(form), "usual").workload;
        Workload changed;
        changed.op = workload.op;
        changed.segments = workload.segments.copy();
        changed.arrays = with_other_neighbours(trial, workload, kept);
        const auto usual = trial.run(workload);
        const auto results = trial.run(changed);
        const auto what = fmt::format("(of every second segment, from {} on) beside other neighbours", kept);
        if (auto breach = trial.unequal_bits(every_second(results, kept), every_second(usual, kept), what))
            return breach;
    }
    return std::nullopt;
}

std::optional<Breach> attempt_poisoned_scratch(Trial& trial)
{
    for (const auto form : trial.forms({whole, uniform, offsets, ranges, flags, keys, groups})) {
        const auto& workload =
            trial.material(trial.setting().op, trial.usual_segments(form), "usual").workload;
        const auto usual = trial.run(workload, {.scratch_poison = 0});
        for (const std::uint8_t poison : {0x01, 0xff}) {
            const auto results = trial.run(workload, {.scratch_poison = poison});
            const auto what = fmt::format("with 0x{:02x} in every byte of scratch memory", poison);
            if (auto breach = trial.unequal_bits(results, usual, what))
                return breach;
        }
    }
    return std::nullopt;
}

std::optional<Breach> attempt_repetition(Trial& trial)
{
    for (const auto form : trial.forms({whole, uniform, offsets, ranges, flags, keys, groups})) {
        const auto& workload =
            trial.material(trial.setting().op, trial.usual_segments(form), "usual").workload;
        const auto usual = trial.run(workload);
        const auto again = trial.run(workload, {.launches = 3});
        if (auto breach = trial.unequal_bits(again, usual, "at the third launch"))
            return breach;
        if (!trial.setting().backend.has_schedules())
            continue;
        const auto other = trial.run(workload, {.round = 1});
        if (auto breach = trial.unequal_bits(other, usual, "under another schedule"))
            return breach;
    }
    return std::nullopt;
}

constexpr std::array kRelations = {
    Relation{"agreement", "every stage, layout and back end gives what every other gives", none,
             attempt_agreement},
    Relation{"one_segment", "one segment of all elements equals the whole", none, attempt_one_segment},
    Relation{"fold_of_segments", "the segments' results, combined in order, equal the whole", knows_segments,
             attempt_fold_of_segments, associativity_missing},
    Relation{"splitting", "splitting segments anywhere changes nothing once the parts are combined",
             knows_segments, attempt_splitting, associativity_missing},
    Relation{"empty_segments", "empty segments have the operator's own result, and others do not notice them",
             refuses_empties, attempt_empty_segments},
    Relation{"base_alignment", "where arrays begin in memory changes no bit", none, attempt_base_alignment},
    Relation{"neighbours", "what other segments hold changes no bit", running_results, attempt_neighbours},
    Relation{"poisoned_scratch", "what scratch memory holds before changes no bit", none,
             attempt_poisoned_scratch},
    Relation{"repetition", "running again changes no bit", none, attempt_repetition},
    Relation{"last_of_scan", "the last running state of a segment is its fold", no_running_results,
             attempt_last_of_scan},
    Relation{"cut_scan", "running states of a segment cut in two, with the carry, are those of the whole",
             no_scan_to_cut, attempt_cut_scan, associativity_missing},
    Relation{"slices", "slices cut anywhere and joined in order change nothing", reason_against_slices,
             attempt_slices, associativity_missing},
    Relation{"devices", "several devices that slices are dealt to change nothing", reason_against_slices,
             attempt_devices, other_devices_missing},
    Relation{"ranks", "ranks that fold a share each change nothing",
             [](const Operator& op) { return reason_against_streams(op, LayoutKind::whole); }, attempt_ranks,
             ranks_missing},
};

}  // namespace

std::span<const Relation> relations() { return kRelations; }

const Relation& relation(std::string_view name)
{
    const auto found = std::ranges::find(kRelations, name, &Relation::name);
    if (found != kRelations.end())
        return *found;
    std::vector<std::string_view> names;
    for (const auto& known : kRelations)
        names.push_back(known.name);
    throw InputError(fmt::format("unknown relation '{}'; the relations are {}{}", name,
                                 fmt::join(names, ", "), did_you_mean(name, names)));
}

namespace {

/// True if relations are tried on the operator's scan instead of its fold.
bool scans_columns(const Operator& op) { return op.scan && !op.map && !has_rows(op); }

std::optional<std::string> unmet_by(const Operator& op, const Setting& setting, const Stage& stage)
{
    std::optional<std::string> first;
    for (const auto form : {whole, uniform, offsets, ranges, flags, keys, groups}) {
        Problem problem(op, form);
        problem.laws = setting.laws;
        problem.target = setting.backend.target();
        auto reason = setting.catalogue.unmet(stage, problem);
        if (!reason)
            return std::nullopt;
        // Prefers a reason about the operator, which explains more than a reason about the form.
        if (!first || first->starts_with("takes segments"))
            first = std::move(reason);
    }
    return first;
}

}  // namespace

std::optional<std::string> unmet(const Setting& setting, const Stage& stage)
{
    auto reason = unmet_by(setting.op, setting, stage);
    if (reason && setting.given != nullptr && !unmet_by(*setting.given, setting, stage))
        return fmt::format("serves operator {} as a whole, and relations try {}", setting.op.name,
                           tried_part(*setting.given));
    return reason;
}

std::string tried_part(const Operator& op)
{
    if (!has_rows(op) && op.outputs.empty())
        return {};
    if (scans_columns(op))
        return "running results with stages that give them, else the fold; segfold check tries all of it";
    return fmt::format("the fold{}{}; segfold check tries all of it",
                       has_rows(op) ? " of one feature, as a column of numbers" : "",
                       op.map    ? ", without map"
                       : op.scan ? ", without scan"
                                 : "");
}

RelationOutcome attempt(const Relation& relation, const Setting& setting, const Stage& stage, Tiles tiles,
                        Materials& materials)
{
    RelationOutcome outcome{relation.name,
                            stage.name,
                            tiles,
                            setting.seed,
                            setting.num_elements,
                            relation.objection(setting.op),
                            {}};
    if (outcome.objection.empty() && relation.missing != nullptr)
        outcome.objection = relation.missing(setting);
    if (!outcome.objection.empty())
        return outcome;
    if (const auto reason = unmet(setting, stage)) {
        outcome.objection = *reason;
        return outcome;
    }
    Trial trial(setting, stage, tiles, materials);
    const auto fault = [&](const std::exception& error) {
        outcome.breach = trial.breach(error.what());
        outcome.breach->is_fault = true;
    };
    const auto try_it = [&] { outcome.breach = relation.attempt(trial); };
    try {
        if (setting.ranks != nullptr)
            setting.ranks->together(try_it);  // if one rank fails, all fail
        else
            try_it();
    } catch (const simt::SimtError& error) {
        fault(error);
    } catch (const InternalError& error) {  // the kernel returned an impossible number of segments
        fault(error);
    }
    outcome.unjudged = trial.unjudged();
    if (!trial.has_run() && !outcome.breach)
        outcome.objection = "the stage takes segments in other forms";
    return outcome;
}

namespace {

std::int64_t elements_of(const RelationRequest& request, const Setting& setting, const Stage& stage)
{
    if (request.most_elements == 0)
        return request.num_elements;
    Problem problem(setting.op, offsets);
    problem.laws = setting.laws;
    problem.target = setting.backend.target();
    return elements_to_go_round(stage, problem, setting.catalogue, request.num_elements,
                                request.most_elements);
}

}  // namespace

std::vector<RelationOutcome> hold_relations(const NamedOperator& named, const RelationRequest& request,
                                            Backend& backend,
                                            const std::function<void(const std::string&)>& progress)
{
    std::vector<RelationOutcome> outcomes;
    // Relations apply to the fold of a single feature, or to running results of columns.
    const auto fold = without_outputs(of_one_feature(named.op));
    for (std::uint64_t i = 0; i < request.num_seeds; ++i) {
        Setting of_fold{fold,
                        named.laws,
                        request.catalogue,
                        backend,
                        request.num_elements,
                        request.seed + i,
                        request.make_arrays,
                        request.others,
                        request.ranks,
                        tried_part(named.op).empty() ? nullptr : &named.op};
        Setting of_scan{
            named.op,         named.laws,          request.catalogue, backend,      request.num_elements,
            request.seed + i, request.make_arrays, request.others,    request.ranks};
        Materials folded, scanned;
        for (const auto* stage : request.stages) {
            const bool scans = scans_columns(named.op) && !unmet(of_scan, *stage);
            auto& setting = scans ? of_scan : of_fold;
            setting.num_elements = elements_of(request, setting, *stage);
            for (const auto* relation : request.relations) {
                if (progress)
                    progress(fmt::format("{} {}: {}", named.name, stage->name, relation->name));
                for (const auto tiles : request.tiles)
                    outcomes.push_back(attempt(*relation, setting, *stage, tiles, scans ? scanned : folded));
            }
        }
    }
    return outcomes;
}

}  // namespace segfold::regress
