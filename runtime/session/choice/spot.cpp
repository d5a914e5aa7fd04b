#include "runtime/session/choice/spot.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>

#include "dsl/error.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

std::atomic<std::uint64_t> num_kept = 0;

}  // namespace

std::uint64_t num_kept_on_the_spot() { return num_kept; }

bool gives_same_bits(const Operator& op, const OperatorLaws& laws)
{
    constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
    return is_exact(op) && laws.is_associative() && laws.refuted_by_nan.empty() && laws.assumed.empty() &&
           !laws.assumes_identity &&
           // If the data are known, they have already been checked for overflow.
           (laws.knows_data || (laws.spared_overflow.empty() && laws.most_elements == kAny));
}

void require_measured_stages(int num_stages)
{
    if (num_stages < 1)
        throw InputError(fmt::format("a plan measures {} stages; it measures 1 or more", num_stages));
}

std::vector<Point> spot_candidates(const Point& first, const FormulaNames& facts, const Problem& problem,
                                   const Catalogue& catalogue, int num_stages)
{
    std::vector<Point> points = {first};
    for (const auto& one : catalogue.ranked(facts, problem))
        if (std::ssize(points) < num_stages && one.stage->name != first.stage)
            points.push_back({one.stage->name, default_configuration(*one.stage, facts)});
    return points;
}

std::optional<std::size_t> fastest_of(std::span<const SpotTrial> trials)
{
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto& one = trials[i].measurement;
        if (one.outcome == MeasurementOutcome::correct &&
            (!best || one.milliseconds < trials[*best].measurement.milliseconds))
            best = i;
    }
    return best;
}

std::string measured_text(const Point& taken, std::span<const SpotTrial> trials)
{
    std::string told;
    for (const auto& [point, measurement] : trials)
        told += fmt::format("{}{} {}", told.empty() ? "" : ", ", point.stage,
                            measurement.outcome == MeasurementOutcome::correct
                                ? fmt::format("{:.4g} us", measurement.milliseconds * 1e3)
                                : "cannot run");
    return fmt::format("{}, measured here: {}", print(taken), told);
}

SpotRecords::SpotRecords(std::vector<TuningRecord> rows, std::string folder,
                         std::function<TimingFacts()> facts)
    : rows_(std::move(rows)), folder_(std::move(folder)), facts_(std::move(facts))
{}

std::vector<const TuningRecord*> SpotRecords::rows_of(const Question& question) const
{
    if (rows_.empty())
        return {};
    const auto wanted = class_of(question.problem);
    std::string op;  // made on first use, because it takes the operator's text
    std::map<std::string, std::string> hashes;
    std::map<Point, const TuningRecord*> last;
    for (const auto& row : rows_) {
        if (row.device != question.device || row.problem != wanted || !is_same(row.shape, question.shape))
            continue;
        if (op.empty())
            op = operator_hash(question.problem.op);
        if (row.op_hash != op || impossible(row.point, question.problem, question.shape, question.catalogue))
            continue;
        auto [hash, is_new] = hashes.try_emplace(row.point.stage);
        if (is_new)
            hash->second = stage_hash(question.catalogue.stage(row.point.stage), question.catalogue);
        if (hash->second == row.stage_hash)
            last[row.point] = &row;
    }
    std::vector<const TuningRecord*> found;
    for (const auto& [point, row] : last)
        found.push_back(row);
    return found;
}

bool SpotRecords::knows(const Operator& op) const
{
    const std::lock_guard lock(mutex_);
    return !rows_.empty() &&
           std::ranges::find(rows_, operator_hash(op), &TuningRecord::op_hash) != rows_.end();
}

std::vector<SpotTrial> SpotRecords::find(const Question& question) const
{
    const std::lock_guard lock(mutex_);
    std::vector<SpotTrial> trials;
    for (const auto* row : rows_of(question))
        trials.push_back({row->point, row->measurement});
    return trials;
}

Lookup SpotRecords::look_up(const Question& question) const
{
    const std::lock_guard lock(mutex_);
    Lookup lookup;
    const TuningRecord* best = nullptr;
    for (const auto* row : rows_of(question)) {
        if (row->measurement.outcome != MeasurementOutcome::correct)
            continue;
        lookup.considered.push_back({row->point, row->measurement.milliseconds, "measured on the spot"});
        if (best == nullptr || row->measurement.milliseconds < best->measurement.milliseconds)
            best = row;
    }
    if (best == nullptr)
        return lookup;
    std::ranges::stable_sort(lookup.considered, {}, &Considered::milliseconds);
    lookup.match = Match::spot;
    lookup.point = best->point;
    lookup.record = best->origin;
    lookup.predicted_milliseconds = best->measurement.milliseconds;
    lookup.reason = fmt::format(
        "the fastest of {} measured on the spot for {} in {} on {}, and any stage gives "
        "the same bits",
        count_text(std::ssize(lookup.considered), "plan"), count_text(question.shape.num_elements, "element"),
        count_text(question.shape.num_segments, "segment"), question.device.name);
    return lookup;
}

std::optional<Point> SpotRecords::fastest(const Question& question, std::span<const Point> candidates) const
{
    auto known = find(question);
    std::vector<SpotTrial> trials;
    for (const auto& point : candidates) {
        const auto found = std::ranges::find(known, point, &SpotTrial::point);
        if (found == known.end())
            return std::nullopt;
        trials.push_back(std::move(*found));
    }
    const auto best = fastest_of(trials);
    return best ? std::optional(trials[*best].point) : std::nullopt;
}

void SpotRecords::keep(const Question& question, std::int64_t bytes, std::span<const SpotTrial> trials)
{
    auto blank = blank_record(question.device, question.problem, question.shape, bytes);
    const auto facts = facts_();
    blank.driver = facts.driver;
    blank.compiler = facts.compiler;
    blank.phase = TuningPhase::spot;
    std::vector<TuningRecord> rows;
    for (const auto& [point, measurement] : trials) {
        auto& row = rows.emplace_back(blank);
        row.point = point;
        row.stage_hash = stage_hash(question.catalogue.stage(point.stage), question.catalogue);
        row.measurement = measurement;
        row.origin = "measured by this process";
    }
    const std::lock_guard lock(mutex_);
    if (!folder_.empty())
        try {
            RecordFile file(record_path(folder_, question.device));
            for (const auto& row : rows)
                file.append(row);
        } catch (const InputError&) {
            folder_.clear();  // a folder that cannot be written must not make a fold fail
        }
    std::ranges::move(rows, std::back_inserter(rows_));
    ++num_kept;
}

}  // namespace segfold
