#include "runtime/session/shipped/shipped_texts.h"

#include <algorithm>
#include <set>

#include "dsl/check/rows.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/core.h"
#include "runtime/session/shipped/form_request.h"

namespace segfold {
namespace {

/// Returns the ways in which folds and plans may judge the operator's laws, as they know their data or not.
std::vector<OperatorLaws> judgements(const OperatorLaws& laws, const Operator& op)
{
    std::vector<OperatorLaws> all = {laws, on_finite_data(while_nothing_overflows(laws, op), op)};
    if (depends_on_data(laws) || laws.doubts_identity)
        for (std::size_t i = 0; i < 2; ++i) {
            all.push_back(all[i]);
            all.back().without_identity = "a plan does not know its data";
        }
    std::erase_if(all, [](const OperatorLaws& one) { return !one.has_sound_identity; });
    return all;
}

/// Returns the problems of folds and plans of an operator over segments of one form.
std::vector<Problem> problems_of(const Operator& op, SegmentForm form, const OperatorLaws& laws,
                                 const ExportOptions& options, const Target& target)
{
    std::vector<std::string> tables;
    for (const auto& parameter : op.parameters)
        if (parameter.table && !parameter.scalar)
            tables.push_back(parameter.name);
    std::vector<Problem> problems;
    for (const bool has_ends : {false, true})
        for (const bool checks_tables : {false, true}) {
            if ((has_ends && form != SegmentForm::ranges) || (checks_tables && tables.empty()))
                continue;
            auto& problem = problems.emplace_back(make_problem(op, form, options.index_bits, laws));
            problem.target = target;
            problem.key_bytes = options.key_bytes;
            problem.has_ends = has_ends;
            if (checks_tables)
                problem.checked_tables = tables;
        }
    return problems;
}

/// Returns shapes of all magnitudes: numbers of elements and mean lengths by octaves, with longest segments
/// unknown, equal, some times the mean, and half of all.
std::vector<Shape> shapes_of(const FormRequest& form, const ExportOptions& options, bool has_rows)
{
    constexpr int kLargest = 30;
    std::vector<std::int64_t> counts;
    for (int octave = 0; octave <= kLargest; ++octave)
        counts.push_back(std::int64_t{1} << octave);
    if (options.num_elements)
        counts = {*options.num_elements};
    std::vector<Shape> shapes;
    const auto add = [&](std::int64_t elements, std::int64_t length, std::int64_t longest, double padding) {
        Shape shape{elements, std::max<std::int64_t>(1, elements / length), longest, 0,
                    static_cast<std::int64_t>(padding * static_cast<double>(elements))};
        constexpr int kMostFeatureOctaves = 10;
        if (!has_rows)
            shapes.push_back(shape);
        for (int octave = 0; has_rows && octave <= kMostFeatureOctaves; octave += 2) {
            shape.num_features = std::int64_t{1} << octave;
            shapes.push_back(shape);
        }
    };
    const bool has_equal_lengths = form.form == SegmentForm::uniform || form.form == SegmentForm::whole;
    for (const auto elements : counts)
        for (std::int64_t length = 1; length <= elements; length *= 2) {
            const auto own = form.form == SegmentForm::whole ? elements
                             : form.is_length_given ? form.shape.num_elements / form.shape.num_segments
                                                    : length;
            add(elements, own, own, 1);
            if (has_equal_lengths && (form.form == SegmentForm::whole || form.is_length_given))
                break;
            if (has_equal_lengths)
                continue;
            add(elements, own, 0, 0);
            constexpr std::int64_t kLonger = 3, kMuchLonger = 20;
            add(elements, own, std::min(elements, kLonger * own), 1.6);
            add(elements, own, std::min(elements, kMuchLonger * own), 3);
            add(elements, own, std::min(elements, kMuchLonger * own), 1.05);
            add(elements, own, std::max(elements / 2, own), 4);
        }
    return shapes;
}

/// Returns the plans that the order of stages takes for any of `shapes`: each stage in all configurations
/// that it has for one of them.
std::set<Point> points_of(const Problem& problem, const std::vector<Shape>& shapes, const OperatorLaws& laws,
                          const Catalogue& catalogue, const ExportOptions& options)
{
    auto facts = plan_facts(problem);
    std::set<const Stage*> stages;
    for (const auto& shape : shapes)
        stages.insert(planned_point(options.plan, problem, facts = with_shape(std::move(facts), shape), laws,
                                    catalogue, nullptr)
                          .stage);
    std::set<Point> points;
    for (const auto& shape : shapes)
        for (const auto* stage : stages)
            points.insert({stage->name, configure(*stage, options.plan.settings,
                                                  facts = with_shape(std::move(facts), shape))});
    return points;
}

/// Adds the plans that searches have chosen for GPUs of this compute capability.
void add_recorded(std::set<Point>& points, const RecordStore& records, const Problem& problem, int capability,
                  const Catalogue& catalogue)
{
    const auto own = class_of(problem);
    for (const auto& row : records.rows())
        if (row.device.compute_capability == capability && row.problem == own &&
            row.phase >= TuningPhase::chosen && !impossible(row.point, problem, row.shape, catalogue))
            points.insert(row.point);
}

}  // namespace

void for_each_shipped(const Operator& op, int capability, const ExportOptions& options, Session& session,
                      const std::function<void(const Emitted& emitted, const std::string& stage)>& take)
{
    const auto& catalogue = core(session).catalogue();
    const auto records = options.plan.is_open() ? RecordStore::open(record_folder()) : RecordStore::of({});
    const auto laws_of_op = session.laws(op);
    require_sound_identity(laws_of_op, op);
    for (const auto& layout : options.layouts) {
        const auto form =
            parse_form(layout, options.plan.stage ? &catalogue.stage(*options.plan.stage) : nullptr);
        const auto shapes = shapes_of(form, options, has_rows(op));
        for (const auto& laws : judgements(laws_of_op, op))
            for (const auto& problem :
                 problems_of(op, form.form, laws, options, cuda::target_of_capability(capability))) {
                auto points = points_of(problem, shapes, laws, catalogue, options);
                add_recorded(points, records, problem, capability, catalogue);
                for (const auto& point : points) {
                    auto emitted = emit(problem, catalogue.stage(point.stage), point.configuration, catalogue,
                                        options.plan.numbers);
                    emitted.is_reproducible = options.plan.is_reproducible;
                    take(emitted, point.stage);
                }
            }
    }
}

}  // namespace segfold
