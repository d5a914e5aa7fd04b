#include "runtime/session/shipped/shipped_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/core.h"
#include "runtime/session/shipped/form_request.h"

namespace segfold {
namespace {

/// Returns the sets of laws on which folds and plans of the operator may rely. They differ in what is known
/// of the data.
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

/// Returns the problems that folds and plans of an operator have over segments of one form.
std::vector<Problem> problems_of(const Operator& op, SegmentForm form, const OperatorLaws& laws,
                                 const ExportOptions& options, const Target& target)
{
    std::vector<std::string> tables;
    for (const auto& parameter : op.parameters)
        if (parameter.table && !parameter.scalar)
            tables.push_back(parameter.name);
    std::vector<Problem> problems;
    const auto add = [&](bool has_ends, bool checks_tables, Type number_type) {
        auto& problem = problems.emplace_back(make_problem(op, form, options.index_bits, laws));
        problem.target = target;
        problem.key_bytes = options.key_bytes;
        problem.has_ends = has_ends;
        problem.number_type = number_type;
        if (checks_tables)
            problem.checked_tables = tables;
    };
    for (const bool checks_tables : {false, true}) {
        if (checks_tables && tables.empty())
            continue;
        add(false, checks_tables, Type::i32);
        if (form == SegmentForm::ranges)
            add(true, checks_tables, Type::i32);
        if (form == SegmentForm::groups)
            add(false, checks_tables, Type::i64);
    }
    return problems;
}

/// Returns shapes of all magnitudes. Numbers of elements and mean lengths are powers of two. For each pair
/// the longest segment is unknown, equal to the mean, a few times the mean, or half of all elements.
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
            if (form.form == SegmentForm::groups) {
                add(elements, own, elements, 0);
                continue;
            }
            add(elements, own, 0, 0);
            constexpr std::int64_t kLonger = 3, kMuchLonger = 20;
            add(elements, own, std::min(elements, kLonger * own), 1.6);
            add(elements, own, std::min(elements, kMuchLonger * own), 3);
            add(elements, own, std::min(elements, kMuchLonger * own), 1.05);
            add(elements, own, std::max(elements / 2, own), 4);
        }
    return shapes;
}

/// Plans for shapes. `all` has each stage in all its configurations. `first` has the plans that the order
/// takes, each with a shape for which it is taken.
struct ShippedPoints {
    std::set<Point> all;
    std::map<Point, Shape> first;
};

/// Returns the plans for `shapes`. A stage that the order takes for any shape comes in all configurations
/// that it has for these shapes.
ShippedPoints points_of(const Problem& problem, const std::vector<Shape>& shapes, const OperatorLaws& laws,
                        const Catalogue& catalogue, const ExportOptions& options)
{
    ShippedPoints points;
    auto facts = plan_facts(problem);
    if (catalogue.ranked(facts, problem).empty())
        return points;
    std::set<const Stage*> stages;
    std::exception_ptr refusal;
    for (const auto& shape : shapes) {
        facts = with_shape(std::move(facts), shape);
        try {
            const auto planned = planned_point(options.plan, problem, facts, laws, catalogue, nullptr);
            stages.insert(planned.stage);
            points.first.try_emplace({planned.stage->name, planned.configuration}, shape);
        } catch (const InputError&) {
            refusal = std::current_exception();  // too many groups for tables; such groups are sorted instead
        }
    }
    if (stages.empty() && refusal)
        std::rethrow_exception(refusal);
    for (const auto& shape : shapes) {
        facts = with_shape(std::move(facts), shape);
        for (const auto* stage : stages)
            try {
                points.all.insert({stage->name, configure(*stage, options.plan.settings, facts)});
            } catch (const InputError&) {
                // The stage does not take this shape. The order takes another stage for it.
            }
    }
    return points;
}

/// Returns the plan of a shape whose segments are on a device, where they are not converted. Returns nothing
/// if no stage can read them.
std::optional<PlanChoice> device_choice(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                                        const Catalogue& catalogue, const ExportOptions& options)
{
    ScratchRoom room;
    room.sizes = {.num_elements = shape.num_elements,
                  .num_segments = shape.num_segments,
                  .num_items = shape.num_elements,
                  .uniform_length = shape.longest,
                  .index_bits = problem.index_bits,
                  .num_features = std::max<std::int64_t>(1, shape.num_features)};
    room.lying = problem.form;
    try {
        return choose_plan(options.plan, problem, shape, laws, catalogue, nullptr, &room);
    } catch (const InputError&) {
        return std::nullopt;
    } catch (const SpecError&) {
        return std::nullopt;  // this number of segments needs more blocks than a grid has
    }
}

/// Adds the plans that searches have chosen on GPUs of this compute capability.
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
                      const std::function<void(const Emitted& emitted)>& take)
{
    const auto& catalogue = core(session).catalogue();
    const auto records = options.plan.is_open() ? RecordStore::open(record_folder()) : RecordStore::of({});
    const auto laws_of_op = session.laws(op);
    require_sound_identity(laws_of_op, op);
    for (const auto& layout : options.layouts) {
        bool is_taken = false;
        const auto take_one = [&](const Emitted& emitted) {
            is_taken = true;
            take(emitted);
        };
        std::vector<FormRequest> forms = {
            parse_form(layout, options.plan.stage ? &catalogue.stage(*options.plan.stage) : nullptr)};
        if (layout.starts_with(name(LayoutKind::groups)) && !options.plan.stage)
            forms.push_back({SegmentForm::groups, forms.front().shape});  // for kernels of unsorted groups
        for (const auto& form : forms) {
            const auto shapes = shapes_of(form, options, has_rows(op));
            for (const auto& laws : judgements(laws_of_op, op))
                for (const auto& problem :
                     problems_of(op, form.form, laws, options, cuda::target_of_capability(capability))) {
                    auto [points, first] = points_of(problem, shapes, laws, catalogue, options);
                    for (const auto& [point, shape] : first)
                        if (const auto choice = device_choice(problem, shape, laws, catalogue, options))
                            take_one(choice->emitted);
                    if (problem.has_ends)
                        continue;  // only plans on a device read the ends of ranges
                    add_recorded(points, records, problem, capability, catalogue);
                    for (const auto& point : points)
                        take_one(choice_of({&catalogue.stage(point.stage), point.configuration}, options.plan,
                                           problem, catalogue, nullptr)
                                     .emitted);
                }
        }
        if (!is_taken)
            throw InputError(
                fmt::format("no stage of a GPU takes operator {} over segments given as {}, so there is "
                            "nothing to export for them",
                            op.name, layout));
    }
}

}  // namespace segfold
