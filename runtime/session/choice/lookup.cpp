#include "runtime/session/choice/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "dsl/printer.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

// The largest distance() at which the rows of a shape count, in doublings.
constexpr double kFarthest = 1.5;
constexpr std::size_t kMostNear = 4;
constexpr std::size_t kMostSeeds = 16;
// The assumed time of a plan at a shape where it was not measured, relative to the shape's best time.
constexpr double kUnmeasured = 2;
// The least relative gain in time that counts. A plan measured at near shapes must gain as much to replace
// the rule of thumb's plan. A row of an earlier stage text must gain as much to outdo all present rows.
constexpr double kLeastGainOfRecord = 0.03;

double mean_length(const Shape& shape)
{
    return static_cast<double>(shape.num_elements) /
           static_cast<double>(std::max<std::int64_t>(shape.num_segments, 1));
}

double log2_of(double number) { return std::log2(std::max(number, 1.0)); }

std::string text_of(const Shape& shape)
{
    return fmt::format("{}{} in {}", count_text(shape.num_elements, "element"),
                       shape.num_features > 0 ? " of " + count_text(shape.num_features, "feature") : "",
                       count_text(shape.num_segments, "segment"));
}

/// The plans measured at one shape.
struct Measured {
    Shape shape;
    double away = 0;
    std::map<Point, const TuningRecord*> rows;
    const TuningRecord* best = nullptr;

    void add(const TuningRecord& record)
    {
        auto& row = rows[record.point];
        if (row == nullptr || record.phase >= row->phase)
            row = &record;
    }
};

/// Returns the row that decides for its own shape: the pinned row, else the row chosen last, else the fastest
/// row.
const TuningRecord* winner(const Measured& measured)
{
    const TuningRecord* best = nullptr;
    for (const auto& [point, row] : measured.rows) {
        const auto rank = std::max(row->phase, TuningPhase::ranked);
        const auto best_rank =
            best == nullptr ? TuningPhase::screened : std::max(best->phase, TuningPhase::ranked);
        if (best == nullptr || rank > best_rank ||
            (rank == best_rank &&
             (rank == TuningPhase::ranked ? row->measurement.milliseconds < best->measurement.milliseconds
                                          : row > best)))  // rows lie in the order of writing
            best = row;
    }
    return best;
}

/// Returns text that compares the deciding row with the other rows of its shape. Other rows may be faster,
/// because a search keeps its plan if a rival's lead may be chance.
std::string rank_text(const Measured& measured, const TuningRecord& row)
{
    const auto faster = std::ranges::count_if(measured.rows, [&](const auto& other) {
        return other.second->measurement.milliseconds < row.measurement.milliseconds;
    });
    const auto plans = count_text(std::ssize(measured.rows), "plan");
    if (faster == 0)
        return fmt::format("the fastest of {} measured there", plans);
    return fmt::format("and chosen of {} measured there: {} took less time, but {} faster beyond doubt",
                       plans, faster, faster == 1 ? "is not" : "none is");
}

/// Selects the rows of a problem's class that have correct results. Uses rows of GPUs for a GPU, and rows of
/// hosts for a host, because neither predicts the other.
class RowsOfClass {
public:
    RowsOfClass(const DeviceIdentity& device, const Problem& problem)
        : is_on_host_(is_host(device)), wanted_(class_here(class_of(problem)))
    {}

    [[nodiscard]] bool has(const TuningRecord& record) const
    {
        return is_host(record.device) == is_on_host_ &&
               record.measurement.outcome == MeasurementOutcome::correct &&
               class_here(record.problem) == wanted_;
    }

private:
    static bool is_host(const DeviceIdentity& device) { return device.compute_capability == 0; }
    [[nodiscard]] ProblemClass class_here(const ProblemClass& problem) const
    {
        return is_on_host_ ? folded_on_host(problem) : problem;
    }

    bool is_on_host_;
    ProblemClass wanted_;
};

class RecordSearcher {
public:
    RecordSearcher(const RecordStore& store, const Question& question) : store_(store), question_(question)
    {
        answer_.ignored = store.complaints();
        gather();
    }

    Lookup run()
    {
        if (const auto exact = std::ranges::find_if(
                shapes_, [&](const Measured& one) { return is_same(one.shape, question_.shape); });
            exact != shapes_.end())
            take_exact(*exact);
        else if (!shapes_.empty() && shapes_.front().away <= kFarthest)
            take_near();
        else
            take_none();
        if (has_outrun_)
            answer_.reason =
                "what was fastest at this very shape was an earlier text of its stage; " + answer_.reason;
        find_seeds();
        return std::move(answer_);
    }

private:
    void ignore(const TuningRecord& record, const std::string& why)
    {
        if (reported_.insert(record.point).second)
            answer_.ignored.push_back(
                fmt::format("{}: {} is ignored: {}", record.origin, print(record.point), why));
    }

    [[nodiscard]] bool is_stale(const TuningRecord& record)
    {
        const auto& catalogue = question_.catalogue;
        auto [known, is_new] = hashes_.try_emplace(record.point.stage);
        if (is_new)
            known->second = stage_hash(catalogue.stage(record.point.stage), catalogue);
        return known->second != record.stage_hash;
    }

    void gather()
    {
        const RowsOfClass rows(question_.device, question_.problem);
        for (const auto& record : store_.rows()) {
            if (!rows.has(record))
                continue;
            auto [known, is_new] = objections_.try_emplace(record.point);
            if (is_new)
                known->second =
                    impossible(record.point, question_.problem, question_.shape, question_.catalogue);
            if (known->second) {
                // Conditions may depend on sizes. A row is invalid only if its plan is impossible at the
                // row's own shape.
                if (impossible(record.point, question_.problem, record.shape, question_.catalogue))
                    ignore(record, *known->second);
                continue;
            }
            usable_.push_back(&record);
            if (record.device != question_.device)
                other_devices_.insert(record.device.name);
            else if (is_stale(record))
                stale_.push_back(&record);
            else if (record.shape.num_features == question_.shape.num_features)
                shape_of(record).add(record);
        }
        std::erase_if(shapes_, [&](const Measured& measured) {
            const bool is_gone = is_outrun(measured);
            has_outrun_ = has_outrun_ || (is_gone && is_same(measured.shape, question_.shape));
            return is_gone;
        });
        for (auto& shape : shapes_) {
            shape.away = distance(shape.shape, question_.shape);
            for (const auto& [point, row] : shape.rows)
                if (shape.best == nullptr ||
                    row->measurement.milliseconds < shape.best->measurement.milliseconds)
                    shape.best = row;
        }
        std::ranges::stable_sort(shapes_, {}, &Measured::away);
    }

    /// True if a row with an earlier text of its stage was clearly faster than all rows with present texts,
    /// so that the fastest plan of the shape is unknown. False if a person or a later search chose a present
    /// row.
    [[nodiscard]] bool is_outrun(const Measured& measured) const
    {
        double fastest = std::numeric_limits<double>::infinity();
        for (const auto& [point, row] : measured.rows)
            fastest = std::min(fastest, row->measurement.milliseconds);
        const auto* row = winner(measured);
        return std::ranges::any_of(stale_, [&](const TuningRecord* stale) {
            // Rows are stored in the order of writing, so a later address is a later row.
            const bool was_chosen_since = row->phase > TuningPhase::ranked && row > stale;
            return is_same(stale->shape, measured.shape) && stale->phase >= TuningPhase::ranked &&
                   row->phase != TuningPhase::pinned && !was_chosen_since &&
                   stale->measurement.milliseconds < (1 - kLeastGainOfRecord) * fastest;
        });
    }

    Measured& shape_of(const TuningRecord& record)
    {
        for (auto& shape : shapes_)
            if (is_same(shape.shape, record.shape))
                return shape;
        shapes_.push_back({record.shape, 0, {}, nullptr});
        return shapes_.back();
    }

    void take_exact(const Measured& measured)
    {
        const auto* row = winner(measured);
        answer_.match = Match::exact;
        answer_.point = row->point;
        answer_.record = row->origin;
        answer_.predicted_milliseconds = row->measurement.milliseconds;
        answer_.reason =
            row->phase == TuningPhase::pinned
                ? fmt::format("a person has pinned it for {} on {}", text_of(row->shape), row->device.name)
                : fmt::format("{} was tuned for {} on {}, {}", row->op, text_of(row->shape), row->device.name,
                              rank_text(measured, *row));
        for (const auto& [point, other] : measured.rows)
            answer_.considered.push_back({point, other->measurement.milliseconds, "measured"});
        std::ranges::stable_sort(answer_.considered, {}, &Considered::milliseconds);
    }

    [[nodiscard]] Point rule_of_thumb(const Shape& shape) const
    {
        const auto& stage = question_.catalogue.rule_of_thumb(question_.problem, shape);
        return {stage.name, default_configuration(stage, plan_facts(question_.problem, shape))};
    }

    /// Returns the time of a plan at a measured shape as a multiple of the shape's best time.
    [[nodiscard]] static double loss_at(const Measured& measured, const Point& point)
    {
        const auto row = measured.rows.find(point);
        return row == measured.rows.end()
                   ? kUnmeasured
                   : row->second->measurement.milliseconds / measured.best->measurement.milliseconds;
    }

    void take_near()
    {
        const auto within =
            std::ranges::find_if(shapes_, [](const Measured& shape) { return shape.away > kFarthest; });
        const auto count = std::min(static_cast<std::size_t>(within - shapes_.begin()), kMostNear);
        const Point own = rule_of_thumb(question_.shape);
        std::set<Point> points = {own};
        double weights = 0, logarithm = 0;
        for (std::size_t i = 0; i < count; ++i) {
            // If the longest segment is unknown, another stage may be slower by any factor.
            const bool is_known = shapes_[i].shape.longest > 0 && question_.shape.longest > 0;
            // If the rule of thumb takes different stages for the two shapes, measurements of other stages do
            // not apply.
            const bool is_alike = rule_of_thumb(shapes_[i].shape).stage == own.stage;
            for (const auto& [point, row] : shapes_[i].rows)
                if ((is_known && is_alike) || point.stage == own.stage)
                    points.insert(point);
            const double weight = 1 / std::max(shapes_[i].away, 0.01);
            const double growth = log2_of(static_cast<double>(question_.shape.num_elements)) -
                                  log2_of(static_cast<double>(shapes_[i].shape.num_elements));
            weights += weight;
            logarithm +=
                weight * (std::log(shapes_[i].best->measurement.milliseconds) + growth * std::log(2.0));
        }
        for (const auto& point : points) {
            double loss = 0;
            std::size_t measured = 0;
            for (std::size_t i = 0; i < count; ++i) {
                const bool is_there = shapes_[i].rows.contains(point);
                measured += is_there ? 1 : 0;
                // If the rule's plan for the wanted shape was not measured at shape i, use the rule's plan
                // for shape i instead.
                const double ratio = point == own && !is_there
                                         ? loss_at(shapes_[i], rule_of_thumb(shapes_[i].shape))
                                         : loss_at(shapes_[i], point);
                loss += std::log(ratio) / std::max(shapes_[i].away, 0.01) / weights;
            }
            answer_.considered.push_back(
                {point, std::exp(logarithm / weights + loss),
                 fmt::format("{:.2f} times the best of {} near shape{}, measured at {} of them",
                             std::exp(loss), count, count == 1 ? "" : "s", measured)});
        }
        std::ranges::stable_sort(answer_.considered, {}, &Considered::milliseconds);
        const auto& best = answer_.considered.front();
        const auto& rule = *std::ranges::find(answer_.considered, own, &Considered::point);
        const bool gains = best.milliseconds < (1 - kLeastGainOfRecord) * rule.milliseconds;
        const auto& taken = gains ? best : rule;
        const auto& nearest = shapes_.front();
        answer_.match = Match::near_shape;
        answer_.point = taken.point;
        answer_.predicted_milliseconds = taken.milliseconds;
        const auto row = nearest.rows.find(taken.point);
        answer_.record = (row == nearest.rows.end() ? nearest.best : row->second)->origin;
        answer_.reason = fmt::format(
            "near shape: nothing {}was measured at {}, and {} over the {} nearest shape{} on {}; "
            "the nearest has {}",
            has_outrun_ ? "as fast " : "", text_of(question_.shape),
            gains ? std::string("it loses least")
                  : fmt::format("nothing gains {:.0f} % on the rule of thumb", 100 * kLeastGainOfRecord),
            count, count == 1 ? "" : "s", question_.device.name, text_of(nearest.shape));
    }

    void take_none()
    {
        const auto problem = print(class_of(question_.problem));
        if (!shapes_.empty()) {
            answer_.reason = fmt::format(
                "{} was tuned for this class of problem, but the nearest shape, {}, is {:.1f} doublings away "
                "and {} is the limit",
                question_.device.name, text_of(shapes_.front().shape), shapes_.front().away, kFarthest);
        } else if (!stale_.empty()) {
            answer_.reason =
                "the fastest rows of this device were measured with earlier texts of their stages, and "
                "only seed a search";
        } else if (!other_devices_.empty()) {
            answer_.match = Match::other_device;
            answer_.reason = fmt::format(
                "other device: the records for this class of problem are of {}, and this is {}; they only "
                "seed a search",
                fmt::join(other_devices_, ", "), question_.device.name);
        } else {
            answer_.reason = fmt::format("no record for {} on any device", problem);
        }
    }

    void find_seeds()
    {
        struct Winner {
            bool is_other;
            double away;
            const TuningRecord* row;
        };
        std::vector<Winner> winners;
        for (const auto* row : usable_)
            if (row->phase >= TuningPhase::ranked)
                winners.push_back(
                    {row->device != question_.device, distance(row->shape, question_.shape), row});
        std::ranges::stable_sort(winners, [](const Winner& first, const Winner& second) {
            return std::tuple(first.row->phase == TuningPhase::ranked, first.is_other, first.away,
                              first.row->measurement.milliseconds) <
                   std::tuple(second.row->phase == TuningPhase::ranked, second.is_other, second.away,
                              second.row->measurement.milliseconds);
        });
        for (const auto& one : winners)
            if (answer_.seeds.size() < kMostSeeds &&
                std::ranges::find(answer_.seeds, one.row->point) == answer_.seeds.end())
                answer_.seeds.push_back(one.row->point);
    }

    const RecordStore& store_;
    const Question& question_;
    Lookup answer_;
    std::vector<Measured> shapes_;  ///< shapes measured on this device with present texts, nearest first
    std::vector<const TuningRecord*> usable_;
    std::vector<const TuningRecord*> stale_;  ///< rows of this device with earlier stage texts
    bool has_outrun_ = false;                 ///< is_outrun() for the wanted shape
    std::map<Point, std::optional<std::string>> objections_;
    std::map<std::string, std::string, std::less<>> hashes_;
    std::set<Point> reported_;
    std::set<std::string> other_devices_;
};

}  // namespace

std::string_view name(Match match)
{
    constexpr std::array<std::string_view, 5> names = {"exact", "near shape", "spot", "other device", "none"};
    return names[static_cast<std::size_t>(match)];
}

double distance(const Shape& first, const Shape& second)
{
    // A plan for rows of features serves only one row length.
    if (first.num_features != second.num_features)
        return std::numeric_limits<double>::infinity();
    const auto apart = [](double a, double b) { return log2_of(a) - log2_of(b); };
    const double elements =
        apart(static_cast<double>(first.num_elements), static_cast<double>(second.num_elements));
    const double mean = apart(mean_length(first), mean_length(second));
    // Skew has half the weight of mean length, because it changes times less.
    double skew = 0;
    if (first.longest > 0 && second.longest > 0)
        skew = 0.5 * apart(static_cast<double>(first.longest) / std::max(mean_length(first), 1.0),
                           static_cast<double>(second.longest) / std::max(mean_length(second), 1.0));
    // Half the weight, because the padding of the same lengths, sorted and shuffled, may differ by a factor
    // of 2^5.
    double padding = 0;
    if (first.padded > 0 && second.padded > 0)
        padding =
            0.5 * (apart(static_cast<double>(first.padded), static_cast<double>(second.padded)) - elements);
    return std::sqrt(elements * elements + mean * mean + skew * skew + padding * padding);
}

Lookup look_up(const RecordStore& store, const Question& question)
{
    return RecordSearcher(store, question).run();
}

bool knows_class(const RecordStore& store, const DeviceIdentity& device, const Problem& problem)
{
    const RowsOfClass rows(device, problem);
    return std::ranges::any_of(store.rows(), [&](const auto& record) { return rows.has(record); });
}

bool is_same(const Shape& first, const Shape& second)
{
    return first.num_elements == second.num_elements && first.num_segments == second.num_segments &&
           first.num_features == second.num_features &&
           (first.longest == second.longest || first.longest == 0 || second.longest == 0) &&
           (first.padded == second.padded || first.padded == 0 || second.padded == 0);
}

}  // namespace segfold
