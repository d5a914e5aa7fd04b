// Computes the sizes of plans and runs, compares them, and describes them in messages.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/data/workload.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/plan_state.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// Returns the index width of a plan: 32 or 64 bits.
///
/// The type of an index array on a device decides, because kernels read the array unchanged. On a GPU the sum
/// of the lengths of ranges does not matter, because no stage counts the elements of ranges.
int index_bits_of(const ArrayView& view, std::string_view what, const SegmentSizes& sizes)
{
    const int needed = index_bits_for({sizes.num_elements, sizes.num_segments});
    if (view.place == Place::host)
        return needed;
    if (view.type != Type::i32 && view.type != Type::i64)
        throw InputError(
            fmt::format("{} on a device are {}; they must be i32 or i64", what, name(view.type)));
    if (view.type == Type::i32 && needed == 64)
        throw InputError(fmt::format("{} on a device are i32, and {} need i64", what,
                                     index_bits_for({sizes.num_elements}) == 64
                                         ? count_text(sizes.num_elements, "element")
                                         : count_text(sizes.num_segments, "segment")));
    return view.type == Type::i64 ? 64 : 32;
}

std::string text_of_groups(const PlanSizes& plan)
{
    return fmt::format("{} by numbers of {}", count_text(plan.sizes.num_segments, "group"),
                       name(plan.number_type));
}

/// Describes segments for messages. Names the index width only on a device, because arrays on the host are
/// converted.
std::string text_of_segments(const PlanSizes& plan, Place place)
{
    const auto count = count_text(plan.sizes.num_segments, "segment");
    if (plan.kind == LayoutKind::whole)
        return "one segment";
    if (plan.kind == LayoutKind::uniform)
        return fmt::format("{} of {}", count, plan.sizes.uniform_length);
    if (plan.kind == LayoutKind::groups)
        return text_of_groups(plan) + (place == Place::device ? " on a device" : "");
    const auto width =
        plan.kind == LayoutKind::keys ? fmt::format(" of {}", count_text(plan.key_bytes, "byte"))
        : place == Place::device      ? fmt::format(" of {}", name(index_type(plan.sizes.index_bits)))
                                      : "";
    return fmt::format("{} by {}{}{}", is_found(plan.form) ? "segments" : count, name(plan.kind), width,
                       place == Place::device ? " on a device" : "");
}

/// Describes the layout and the types of segments, which resize() cannot change.
std::string text_of_way(const PlanSizes& plan, bool names_bits)
{
    std::string text = fmt::format("segments by {}", name(plan.kind));
    if (plan.kind == LayoutKind::whole)
        text = "one segment";
    else if (plan.kind == LayoutKind::uniform)
        text = "segments of one length";
    else if (plan.kind == LayoutKind::groups)
        text = text_of_groups(plan);
    else if (plan.kind == LayoutKind::keys)
        text += fmt::format(" of {}", count_text(plan.key_bytes, "byte"));
    return names_bits ? fmt::format("{} with {}-bit indices", text, plan.sizes.index_bits) : text;
}

/// True if a run counts the elements of ranges. No stage of a GPU's plan counts them.
bool counts_items(const Plan::State& state, const PlanSizes& sizes)
{
    return sizes.form == SegmentForm::ranges && !state.is_on_device;
}

}  // namespace

bool is_resizable(const PlanSizes& plan, const PlanSizes& given)
{
    return given.kind == plan.kind && given.sizes.index_bits == plan.sizes.index_bits &&
           given.key_bytes == plan.key_bytes && given.number_type == plan.number_type &&
           (given.form != SegmentForm::groups || given.sizes.num_segments == plan.sizes.num_segments);
}

PlanSizes plan_sizes(const SegmentsView& view, std::int64_t num_elements)
{
    if (num_elements < 0)
        throw InputError(fmt::format("{} elements; a number of them is not negative", num_elements));
    for (const auto* array : {&view.first, &view.second})
        if (array->length < 0)
            throw InputError(
                fmt::format("an array of segments by {} has a length of {}; a length is not negative",
                            name(view.kind), array->length));
    for (const auto* array : {&view.first, &view.second})
        if (!is_type(array->type))
            require_type(fmt::format("the segments by {}", name(view.kind)), array->type);
    PlanSizes plan;
    plan.kind = view.kind;
    auto& sizes = plan.sizes;
    sizes.num_elements = num_elements;
    sizes.num_items = num_elements;
    sizes.index_bits = index_bits_for({num_elements});
    const auto per_element = [&](const char* what) {
        if (view.first.length != num_elements)
            throw InputError(fmt::format("{} for {}; one for each is needed",
                                         count_text(view.first.length, what),
                                         count_text(num_elements, "element")));
    };
    switch (view.kind) {
        case LayoutKind::whole: sizes.num_segments = 1; break;
        case LayoutKind::uniform:
            plan.form = SegmentForm::uniform;
            sizes.uniform_length = view.uniform_length;
            sizes.num_segments = uniform_segments(num_elements, view.uniform_length).num_segments;
            sizes.index_bits = index_bits_for({num_elements, view.uniform_length});
            break;
        case LayoutKind::offsets:
            plan.form = SegmentForm::offsets;
            if (view.first.length < 1)
                throw InputError("no offsets; there is one more than segments");
            sizes.num_segments = view.first.length - 1;
            sizes.index_bits = index_bits_of(view.first, "offsets", sizes);
            break;
        case LayoutKind::lengths:
            plan.form = SegmentForm::offsets;
            sizes.num_segments = view.first.length;
            sizes.index_bits = index_bits_of(view.first, "lengths", sizes);
            break;
        case LayoutKind::ranges:
            plan.form = SegmentForm::ranges;
            sizes.num_segments = view.first.length;
            if (view.second.length != view.first.length)
                throw InputError(fmt::format("{} and {}; there is one of each for a segment",
                                             count_text(view.first.length, "begin"),
                                             count_text(view.second.length, "end")));
            if (view.first.place == Place::device && view.second.type != view.first.type)
                throw InputError(fmt::format("begins on a device are {} and ends {}; both are of one type",
                                             name(view.first.type), name(view.second.type)));
            sizes.index_bits = index_bits_of(view.first, "ranges", sizes);
            break;
        case LayoutKind::flags:
            plan.form = SegmentForm::flags;
            per_element("flag");
            if (view.first.place == Place::device && size_bytes(view.first.type) != 1)
                throw InputError(fmt::format("flags on a device are {}; they must be bool, i8 or u8",
                                             name(view.first.type)));
            break;
        case LayoutKind::keys:
            plan.form = SegmentForm::keys;
            per_element("key");
            plan.key_bytes = static_cast<int>(size_bytes(view.first.type));
            break;
        case LayoutKind::groups:
            if (view.group_order)
                refuse_layout(view.kind);
            plan.form = SegmentForm::groups;
            if (view.first.length != num_elements)
                throw InputError(fmt::format("{} numbers of groups for {}; one for each is needed",
                                             view.first.length, count_text(num_elements, "element")));
            if (!is_integer(view.first.type))
                throw InputError(
                    fmt::format("the numbers of groups are {}; they are integers", name(view.first.type)));
            if (!view.num_groups || *view.num_groups < 0)
                throw InputError(
                    "a plan of groups needs their number, 0 or more: groups(numbers, num_groups)");
            plan.number_type = view.first.type;
            sizes.num_segments = *view.num_groups;
            sizes.index_bits = index_bits_for({num_elements, sizes.num_segments});
            break;
        default: refuse_layout(view.kind);
    }
    return plan;
}

PlanSizes sizes_of_plan(const PlanOptions& options, const SegmentsView& segments, std::int64_t num_elements)
{
    auto sizes = plan_sizes(segments, num_elements);
    check_num_features("the plan", options.num_features);
    const auto most = kMostLentElements / std::max<std::int64_t>(options.num_features, 1);
    if (const auto count = std::max(sizes.sizes.num_elements, sizes.sizes.num_segments); count > most)
        throw InputError(fmt::format(
            "the plan is for {} {}{}; it can have {} at most", count,
            count == sizes.sizes.num_elements ? "elements" : "segments",
            options.num_features > 1 ? fmt::format(" of {} features", options.num_features) : "", most));
    sizes.sizes.num_features = options.num_features;
    return sizes;
}

void Plan::State::count_items(PlanSizes& of, const std::optional<Shape>& counted) const
{
    if (!counts_items(*this, of))
        return;
    std::int64_t items = 0;
    if (counted)
        items = counted->num_elements;
    else if (__builtin_mul_overflow(of.sizes.num_elements, of.sizes.num_segments, &items))
        items = std::numeric_limits<std::int64_t>::max();
    of.sizes.index_bits = std::max(of.sizes.index_bits, index_bits_for({items}));
}

void Plan::State::require_items(Segments& segments) const
{
    if (segments.form != SegmentForm::ranges || !choice())
        return;
    if (segments.index_bits() > sizes.sizes.index_bits)
        throw InputError(fmt::format(
            "the plan of {} is for ranges of at most {} in all, and is given ranges of {}; make another plan",
            parts->op.name, count_text(kMaxNarrowIndex, has_rows(parts->op) ? "row" : "element"),
            segfold::num_items(segments)));
    segments = with_index_bits(std::move(segments), sizes.sizes.index_bits);
}

void require_segments(const Plan::State& state, const SegmentsView& segments, std::int64_t num_elements,
                      Place place)
{
    const auto& op = state.parts->op;
    const bool is_array = segments.kind != LayoutKind::whole && segments.kind != LayoutKind::uniform;
    const bool is_placed = !is_array || segments.first.place == place;
    auto given = sizes_of_plan(state.parts->options, segments, num_elements);
    if (counts_items(state, given))  // ranges are counted later, after the run has checked them
        given.sizes.index_bits = state.sizes.sizes.index_bits;
    if (is_placed && given == state.sizes)
        return;
    const auto now = state.sizes.sizes.num_elements;
    const auto text_of_elements = [&](std::int64_t count) {
        return fmt::format("{} in ", count_text(count, has_rows(op) ? "row" : "element"));
    };
    throw InputError(fmt::format(
        "the plan of {} is for {}{}, and is given {}{}; {}", op.name, text_of_elements(now),
        text_of_segments(state.sizes, place), num_elements == now ? "" : text_of_elements(num_elements),
        text_of_segments(given, is_array ? segments.first.place : place),
        is_placed && is_resizable(state.sizes, given) ? "resize() takes others" : "make another plan"));
}

void require_place(const PlanParts& parts, const SegmentsView& segments)
{
    if (parts.backend->context() != nullptr)
        return;
    for (const auto* array : {&segments.first, &segments.second})
        if (array->place == Place::device)
            throw InputError(
                fmt::format("the segments by {} lie on a device, and the back end {} of the plan of {} folds "
                            "arrays of the host; lend them there",
                            name(segments.kind), parts.backend->name(), parts.op.name));
}

void require_resizable(const Plan::State& state, const PlanSizes& given)
{
    const auto& now = state.sizes;
    if (is_resizable(now, given))
        return;
    const bool names_bits = given.sizes.index_bits != now.sizes.index_bits;
    throw InputError(
        fmt::format("the plan of {} is for {}, and resize() is given {}; it takes other numbers of "
                    "elements{}, so make another plan",
                    state.parts->op.name, text_of_way(now, names_bits), text_of_way(given, names_bits),
                    now.form == SegmentForm::groups ? "" : " and segments"));
}

}  // namespace segfold
