#include "runtime/session/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/backends/cpu/program.h"
#include "runtime/data/workload.h"
#include "runtime/session/apart.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/device_plan.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

std::string_view place_text(Place place) { return place == Place::device ? "a device" : "the host"; }

void require_array(std::string_view what, Type type, std::int64_t length, Place place, Type wanted_type,
                   std::int64_t wanted_length, Place wanted_place, bool at_least = false)
{
    require_type(what, type);
    if (place != wanted_place)
        throw InputError(fmt::format("{} lie on {}; the plan takes arrays of {}", what, place_text(place),
                                     place_text(wanted_place)));
    if (type != wanted_type)
        throw InputError(fmt::format("{} are {}; the plan takes {}", what, name(type), name(wanted_type)));
    if (at_least ? length < wanted_length : length != wanted_length)
        throw InputError(fmt::format("{} are {}; the plan is for {}{}", what, length,
                                     at_least ? "at least " : "", wanted_length));
}

/// Keeps the memory for converted offsets between runs, because new pages would cost more time than the
/// conversion.
class OffsetsRoom {
public:
    Array take()
    {
        const std::lock_guard lock(mutex_);
        return std::exchange(kept_, {});
    }
    void give(Array array)
    {
        const std::lock_guard lock(mutex_);
        kept_ = std::move(array);
    }

private:
    std::mutex mutex_;
    Array kept_;
};

OffsetsRoom& offsets_room()
{
    static auto* room = new OffsetsRoom;  // never destroyed, because runs may continue while the process ends
    return *room;
}

void require_options(const Operator& op, const PlanOptions& options)
{
    require_longest(options.longest);
    require_measured_stages(options.request.measured_stages);
    if (options.num_features < 1)
        throw InputError(fmt::format("the plan of {} is for rows of {}; a row has at least 1", op.name,
                                     count_text(options.num_features, "feature")));
    if (options.num_features != 1 && !has_rows(op))
        throw InputError(
            fmt::format("the plan is for rows of {} features, and operator {} has no rows; leave "
                        "the number of features at 1",
                        options.num_features, op.name));
}

}  // namespace

Plan::State::State(PlanParts made_of, const SegmentsView& segments, std::int64_t num_elements)
    : parts(std::make_shared<const PlanParts>(std::move(made_of))),
      known_longest(parts->options.longest),
      sizes(sizes_of_plan(parts->options, segments, num_elements))
{
    const auto* context = parts->backend->context();
    is_on_device = context != nullptr;
    num_items = sizes.sizes.num_elements;
    if (!parts->backend->runs_stages())
        return;
    if (parts->options.request.measured_stages > 1 && known_longest == 0)
        known_longest = std::min(longest_of(segments, context), sizes.sizes.num_elements);
    if (sizes.form == SegmentForm::ranges)
        ranges = shape_of_ranges(segments, num_elements);
    count_items(sizes, ranges);
    auto laws = plan_laws(parts->laws);
    auto problem = problem_of(sizes, laws);
    auto facts = plan_facts(problem);
    const bool asks_records = parts->chooser.asks_records_of(problem);
    basis = std::make_shared<const Basis>(Basis{std::move(laws), std::move(problem), std::move(facts),
                                                asks_records, std::make_shared<PlanPrograms>()});
    auto chosen = choose(sizes);
    program = basis->programs->add(*std::move(chosen.plan));
    explanation = std::make_shared<const Explanation>(std::move(chosen.explanation));
    warnings = std::move(chosen.warnings);
    sizes_at_choice = sizes;
    scalar_doubt = doubt_of_scalars(parts->op, parts->laws.report);
    begin_rivals(segments, parts->options.request.measured_stages);
    if (is_on_device)
        device = std::make_unique<DevicePlan>(
            *context, parts->op, std::shared_ptr<const PlanChoice>(program, choice()), sizes, parts->options);
    load_native();
}

Plan::State::State(const State& other)
    : parts(other.parts),
      known_longest(other.known_longest),
      basis(other.basis),
      program(other.program),
      explanation(other.explanation),
      warnings(other.warnings),
      sizes(other.sizes),
      sizes_at_choice(other.sizes_at_choice),
      ranges(other.ranges),
      device(other.device ? std::make_unique<DevicePlan>(*other.device, sizes) : nullptr),
      is_on_device(other.is_on_device),
      scalar_doubt(other.scalar_doubt),
      judged(other.judged)
{
    load_native();
}

Plan::State::State(const State& other, const PlanSizes& other_sizes, const std::optional<Shape>& read,
                   std::int64_t longest)
    : parts(other.parts),
      known_longest(longest),
      basis(other.basis),
      explanation(other.explanation),
      warnings(other.warnings),
      sizes(other_sizes),
      sizes_at_choice(other.sizes_at_choice),
      ranges(read),
      scalar_doubt(other.scalar_doubt),
      judged(other.judged)
{
    const auto& [laws, problem, facts, asks_records, programs] = *basis;
    const auto& chooser = parts->chooser;
    const auto shape = shape_for(sizes);
    const auto& request = parts->options.request;
    const auto looked_up = asks_records ? chooser.look_up(problem, shape, laws, request) : Lookup();
    if (request.first == First::fast) {  // the compiled program serves these sizes too
        program = other.program;
        load_native();
        return;
    }
    const auto point =
        planned_point(request, problem, with_shape(facts, shape), laws, *chooser.catalogue, &looked_up);
    program = programs->get(
        point, [&] { return choice_of(point, request, problem, *chooser.catalogue, chooser.texts.get()); });
    load_native();
}

Plan::State::~State() = default;

void Plan::State::load_native()
{
    num_items = ranges ? ranges->num_elements : sizes.sizes.num_elements;
    // Ranges are bound in each run, which first counts their elements.
    if (is_native() && sizes.form != SegmentForm::ranges)
        bind_native(sizes.sizes);
}

bool Plan::State::is_native() const
{
    return program && choice()->emitted.dialect == Dialect::native && !is_found(sizes.form) &&
           cpu::reason_without_compiler().empty();
}

void Plan::State::bind_native(const SegmentSizes& to)
{
    native = std::make_unique<cpu::Program>(program->native(parts->op), choice()->emitted, to);
}

void Plan::State::run_on_host(std::span<const ArrayView> inputs, const SegmentsView& segments,
                              std::span<const MutableArrayView> results)
{
    if (is_native())
        return run_native(inputs, segments, results);
    auto workload = borrow_as_they_lie(parts->op, inputs, segments);
    require_items(workload.segments);
    const auto found = [&] {
        const std::lock_guard lock(*parts->turn);
        return parts->backend->run(workload, choice() ? &choice()->emitted : nullptr);
    }();
    for (std::size_t i = 0; i < results.size(); ++i)
        if (found[i].array.bytes() != 0)
            std::memcpy(results[i].data, found[i].array.data(), found[i].array.bytes());
    store_found(workload.segments, segments);
}

void Plan::State::run_native(std::span<const ArrayView> inputs, const SegmentsView& segments,
                             std::span<const MutableArrayView> results)
{
    const auto& op = parts->op;
    auto lent = borrow_segments(op, segments, sizes.sizes.num_elements, sizes.sizes.num_features,
                                offsets_room().take());
    require_items(lent);
    check_segments(op, lent);
    const auto given = sizes_of(lent, sizes.sizes.num_features);
    if (!native || native->sizes() != given)
        bind_native(given);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        native->bind_input(i, inputs[i]);
    native->bind_segments(lent);
    // No kernel stores outputs of elements outside of all ranges.
    if (given.num_items < given.num_elements)
        for (const auto& result : results.last(op.outputs.size()))
            std::memset(
                result.data, 0,
                static_cast<std::size_t>(given.num_elements * given.num_features) * size_bytes(result.type));
    native->run(results);
    Results none;  // unused: native texts find no segments, and only record group numbers
    take_found(none, native->found(), lent, 0);
    if (native->has_read_outside())
        refuse_noted_reads(borrow_as_they_lie(op, inputs, segments), native->outside());
    if (lent.offsets.data() != segments.first.data)
        offsets_room().give(std::move(lent.offsets));
}

Plan make_plan(PlanParts parts, const SegmentsView& segments, std::int64_t num_elements)
{
    require_options(parts.op, parts.options);
    require_place(parts, segments);
    if (segments.kind == LayoutKind::groups && (!parts.backend->runs_stages() || parts.backend->interprets()))
        refuse_layout(segments.kind);
    return Plan(std::make_unique<Plan::State>(std::move(parts), segments, num_elements));
}

Plan::Plan(std::unique_ptr<State> state) : state_(std::move(state)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

Plan::State& Plan::state() const
{
    if (!state_)
        throw InputError("this plan has been moved from; use the one that it was moved to");
    return *state_;
}

void Plan::run(std::span<const ArrayView> inputs, const SegmentsView& segments,
               std::span<const MutableArrayView> results, CUstream_st* stream)
{
    auto& state = this->state();
    if (segments.kind == LayoutKind::groups && state.sizes.form == SegmentForm::groups &&
        !segments.num_groups) {
        auto numbered = segments;
        numbered.num_groups = state.sizes.sizes.num_segments;
        return run(inputs, numbered, results, stream);
    }
    const std::lock_guard lock(state.mutex);
    const auto& op = state.parts->op;
    const auto place = state.is_on_device ? Place::device : Place::host;
    const auto& sizes = state.sizes.sizes;
    if (inputs.size() != op.parameters.size())
        require_inputs(op, inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto& input = inputs[i];
        const auto width = parameter.row ? sizes.num_features : 1;
        const bool is_placed = input.place == place || (parameter.scalar && input.place == Place::host);
        if (parameter.row && input.num_features != sizes.num_features)
            throw InputError(fmt::format(
                "'{}' has rows of {}, and the plan of {} was made for rows of {}; lend it "
                "as rows_of(array, {}), or make another plan, with PlanOptions::num_features = {}",
                parameter.name, count_text(input.num_features, "feature"), op.name, sizes.num_features,
                sizes.num_features, input.num_features));
        if (!parameter.row)
            require_numbers(op, parameter, input);
        if (input.type == parameter.type && is_placed &&
            (parameter.scalar  ? input.length == 1
             : parameter.table ? input.length % width == 0
                               : input.length == sizes.num_elements * width)) {
            if (input.length < 0 || input.length > kMostLentElements ||
                (input.data == nullptr && input.length != 0))
                require_address(fmt::format("the elements of '{}'", parameter.name), input.data,
                                input.length);
            continue;
        }
        const bool is_in_rows = parameter.row && !parameter.table && input.length % width == 0;
        require_array(fmt::format("the {} of '{}'", is_in_rows ? "rows" : "elements", parameter.name),
                      input.type, is_in_rows ? input.length / width : input.length, input.place,
                      parameter.type,
                      parameter.scalar  ? 1
                      : parameter.table ? input.length / width * width
                      : is_in_rows      ? sizes.num_elements
                                        : sizes.num_elements * width,
                      is_placed ? input.place : place);
    }
    require_segments(state, segments, sizes.num_elements, place);
    const bool has_outputs = !op.outputs.empty();
    const auto fields =
        has_outputs ? returned_fields(op) : std::vector<ResultField>();  // copies only if there are outputs
    const auto num_fields = has_outputs ? fields.size() : op.results.size();
    if (results.size() != num_fields)
        throw InputError(fmt::format("operator {} has {}, and is given {} for its results", op.name,
                                     count_text(static_cast<std::int64_t>(num_fields), "result field"),
                                     count_text(std::ssize(results), "array")));
    const auto room =
        sizes.num_features * (is_found(state.sizes.form) ? sizes.num_elements : sizes.num_segments);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto& result = results[i];
        const auto& field = has_outputs ? fields[i] : op.results[i];
        const auto needed =
            i + op.outputs.size() >= num_fields ? sizes.num_elements * sizes.num_features : room;
        if (result.type == field.type && result.place == place && result.length >= needed) {
            if (result.data == nullptr && needed != 0)
                require_address(fmt::format("the results of '{}'", field.name), result.data, result.length);
            continue;
        }
        const bool is_in_rows = has_rows(op) && result.length % sizes.num_features == 0;
        const auto width = is_in_rows ? sizes.num_features : 1;
        require_array(fmt::format("the {} of '{}'", is_in_rows ? "rows" : "results", field.name), result.type,
                      result.length / width, result.place, field.type, needed / width, place, true);
    }
    if (is_found(state.sizes.form)) {
        const auto require = [&](const MutableArrayView& array, std::string_view what, Type type,
                                 std::int64_t length) {
            if (!state.device && !is_lent(array))
                return;
            require_array(what, array.type, array.length, array.place, type, length, place, true);
            if (array.data == nullptr && length != 0)
                require_address(what, array.data, array.length);
        };
        require(segments.num_found, "num_found", index_type(sizes.index_bits), 1);
        if (state.sizes.form == SegmentForm::keys)
            require(segments.found_keys, "found_keys", segments.first.type, sizes.num_elements);
    }
    state.require_scalars(inputs);
    require_apart(
        {op, inputs, segments, results, room, sizes.num_elements * sizes.num_features, sizes.num_elements});
    if (!state.device) {
        state.run_on_host(inputs, segments, results);
        return;
    }
    if (state.device->run(inputs, segments, results, stream))
        state.was_captured = true;
}

void Plan::require_sizes(const SegmentsView& segments, std::int64_t num_elements) const
{
    const auto& state = this->state();
    const std::lock_guard lock(this->state().mutex);
    require_segments(state, segments, num_elements, segments.place());
}

void Plan::resize(const SegmentsView& segments, std::int64_t num_elements)
{
    const std::lock_guard lock(state().mutex);
    require_place(*state().parts, segments);
    auto sizes = sizes_of_plan(state().parts->options, segments, num_elements);
    auto ranges = sizes.form == SegmentForm::ranges ? shape_of_ranges(segments, num_elements) : std::nullopt;
    state().count_items(sizes, ranges);
    if (ranges && !state().is_on_device)  // the plan's wider indices serve these sizes too
        sizes.sizes.index_bits = std::max(sizes.sizes.index_bits, state().sizes.sizes.index_bits);
    require_resizable(state(), sizes);
    if (state().device)
        state().device = std::make_unique<DevicePlan>(*state().device, sizes);
    const bool overflowed = state().may_overflow(state().sizes);
    state().sizes = sizes;
    state().rivals.clear();
    state().known.reset();
    state().was_measured = false;
    state().ranges = ranges;
    if (!overflowed && state().may_overflow(sizes))
        std::ranges::move(overflow_warnings(state().parts->laws, state().parts->op, "a plan"),
                          std::back_inserter(state().warnings));
    state().load_native();
}

std::optional<Plan> Plan::for_sizes(const SegmentsView& segments, std::int64_t num_elements,
                                    std::int64_t longest) const
{
    const std::lock_guard lock(state().mutex);
    const auto& now = state();
    if (!now.choice() || now.is_on_device)
        return std::nullopt;
    require_longest(longest);
    require_place(*now.parts, segments);
    auto sizes = sizes_of_plan(now.parts->options, segments, num_elements);
    const auto read =
        sizes.form == SegmentForm::ranges ? shape_of_ranges(segments, num_elements) : std::nullopt;
    now.count_items(sizes, read);
    if (!is_resizable(now.sizes, sizes))
        return std::nullopt;
    return Plan(std::make_unique<State>(now, sizes, read, longest));
}

Plan Plan::copy() const
{
    const std::lock_guard lock(state().mutex);
    return Plan(std::make_unique<State>(state()));
}

void Plan::move_to(CUstream_st* stream)
{
    if (state().device)
        state().device->move_to(stream);
}

void Plan::require_tables_read_inside(CUstream_st* stream)
{
    if (!state().device)
        return;  // host back ends throw during the run
    if (state().device->has_met_other_numbers(stream))
        throw InputError(fmt::format(
            "the plan of {} is for {}, and an element has a larger number; such elements are left out",
            state().parts->op.name, count_text(state().sizes.sizes.num_segments, "group")));
    const auto tables = state().device->tables_read_outside(stream);
    if (!tables.empty())
        throw InputError(fmt::format("operator {} has read outside of {} '{}'; such reads give 0",
                                     state().parts->op.name, tables.size() == 1 ? "the table" : "the tables",
                                     fmt::join(tables, "', '")));
}

std::int64_t Plan::num_items() const { return state().num_items; }

bool Plan::takes_scalars(std::span<const ArrayView> inputs)
{
    const std::lock_guard lock(state().mutex);
    try {
        state().require_scalars(inputs);
    } catch (const InputError&) {
        return false;
    }
    return true;
}

const std::string& Plan::stage() const
{
    return state().choice() ? state().choice()->stage->name : state().nothing;
}

std::string Plan::chosen_by() const { return state().choice() ? state().choice()->chosen_by() : ""; }

std::map<std::string, int> Plan::settings() const
{
    if (!state().choice())
        return {};
    const auto& chosen = state().choice()->emitted.configuration;
    return {chosen.begin(), chosen.end()};
}

const std::string& Plan::source() const
{
    return state().choice() ? state().choice()->emitted.source : state().nothing;
}

std::vector<std::pair<std::string, std::string>> Plan::explain() const
{
    if (!state().choice())
        return {};
    const std::lock_guard lock(state().mutex);
    auto explanation = state().explained();
    explanation.scratch_bytes = scratch_bytes();
    explanation.on_host = !state().device;
    return segfold::explain(explanation);
}

const std::vector<std::string>& Plan::warnings() const { return state().warnings; }

std::int64_t Plan::scratch_bytes() const { return state().device ? state().device->scratch_bytes() : 0; }

}  // namespace segfold
