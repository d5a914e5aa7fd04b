// Folds arrays that a Python caller passes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/backends/cuda/driver/launch_sequence.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/python/bind/names.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/core.h"

namespace segfold::python {
namespace {

Type index_type(const Call& call)
{
    return index_bits_for({call.num_elements()}) == 64 ? Type::i64 : Type::i32;
}

/// Returns an upper bound on the number of elements that a fold reads. Ranges may overlap, so each range may
/// hold all elements.
std::int64_t most_items(const Call& call)
{
    std::int64_t items = call.num_elements();
    if (call.segments().kind == LayoutKind::ranges &&
        __builtin_mul_overflow(items, call.segments().first.length, &items))
        return std::numeric_limits<std::int64_t>::max();
    return items;
}

/// Copies a result of a fold to the caller's array `out`.
void store(const std::string& field, const Array& array, const ArrayIn& out, bool is_output)
{
    const auto target = out.mutable_view();
    if (target.type != array.type())
        throw InputError(fmt::format("the results of '{}' are {}, and the array for them holds {}", field,
                                     dtype_name(array.type()), dtype_name(target.type)));
    if (target.length < static_cast<std::int64_t>(array.length())) {
        const auto width = std::max<std::size_t>(array.row_length(), 1);
        throw InputError(fmt::format("the results of '{}' are {} {}, and the array for them has room for {}",
                                     field, array.length() / width, is_output ? "elements" : "segments",
                                     out.num_entries()));
    }
    if (array.bytes() != 0)
        std::memcpy(target.data, array.data(), array.bytes());
}

/// The arrays on a GPU to which a fold writes. They are the caller's or new.
class DeviceResults {
public:
    DeviceResults(const Call& call, Session& session) : call_(call), session_(session)
    {
        const auto& fields = call.typed()->fields;
        const auto room = call.finds_segments() ? call.num_elements() : num_segments();
        if (has_keys())
            add(call.segments().first.type, {room});
        for (std::size_t i = 0; i < fields.size(); ++i)
            add(fields[i].type, call.shape_of(length_of(call, i, room)));
        if (call.finds_segments())
            add_word(index_type(call));
    }

    /// Returns the arrays of results, without keys, in the operator's order.
    [[nodiscard]] std::span<const MutableArrayView> fields() const
    {
        return std::span(views_).subspan(has_keys() ? 1 : 0, call_.typed()->fields.size());
    }
    [[nodiscard]] SegmentsView segments() const
    {
        auto segments = call_.segments();
        if (call_.finds_segments())
            segments.num_found = views_.back();
        if (segments.kind == LayoutKind::keys)
            segments.found_keys = views_.front();
        return segments;
    }
    /// Returns the results for the caller. Must be called after the run.
    [[nodiscard]] nb::object finish(std::uintptr_t stream)
    {
        std::int64_t length = num_segments();
        if (call_.finds_segments()) {
            length = read_count(stream);
        } else if (!is_ordered_by_stream(call_.model().kind())) {
            synchronize(stream);
        }
        std::vector<nb::object> results;
        const auto& arrays = call_.out().empty() ? made_ : call_.out();
        for (std::size_t i = 0; i < call_.typed()->fields.size() + (has_keys() ? 1 : 0); ++i) {
            const bool is_keys = has_keys() && i == 0;
            const auto field = has_keys() ? i - 1 : i;
            results.push_back(finished(call_.model().kind(), arrays[i],
                                       is_keys ? length : length_of(call_, field, length)));
            if (!is_keys && call_.typed()->is_output(field))
                results.back() = call_.put_back_on_device(results.back());
        }
        if (has_keys())
            tell_of_keys(call_, results.front());
        return results_of(call_, std::move(results));
    }

private:
    [[nodiscard]] std::int64_t num_segments() const { return num_segments_of(call_); }
    [[nodiscard]] bool has_keys() const { return call_.segments().kind == LayoutKind::keys; }
    void add(Type type, const ShapeOut& room)
    {
        const auto& out = call_.out();
        if (views_.size() < out.size()) {
            views_.push_back(out[views_.size()].mutable_view());
            return;
        }
        made_.emplace_back(new_on_device(call_.model(), type, room, session_), "results", Access::write,
                           room.holds());
        views_.push_back(made_.back().mutable_view());
    }
    /// Adds an array of one number, to which a kernel writes the number of segments.
    void add_word(Type type)
    {
        made_.emplace_back(new_on_device(call_.model(), type, {1}, session_), "results", Access::write);
        views_.push_back(made_.back().mutable_view());
    }
    void synchronize(std::uintptr_t stream)
    {
        const cuda::CurrentContext current(*core(session_).backend().context());
        const nb::gil_scoped_release released;
        cuda::check(cuda::driver().cuStreamSynchronize(reinterpret_cast<cuda::CUstream>(stream)),
                    "cuStreamSynchronize");
    }
    [[nodiscard]] std::int64_t read_count(std::uintptr_t stream)
    {
        std::int64_t wide = 0;
        std::int32_t narrow = 0;
        const bool is_wide = views_.back().type == Type::i64;
        const cuda::CurrentContext current(*core(session_).backend().context());
        const auto queue = reinterpret_cast<cuda::CUstream>(stream);
        const auto address = reinterpret_cast<cuda::CUdeviceptr>(views_.back().data);
        const nb::gil_scoped_release released;
        cuda::check(is_wide ? cuda::driver().cuMemcpyDtoHAsync(&wide, address, sizeof wide, queue)
                            : cuda::driver().cuMemcpyDtoHAsync(&narrow, address, sizeof narrow, queue),
                    "cuMemcpyDtoHAsync");
        cuda::check(cuda::driver().cuStreamSynchronize(queue), "cuStreamSynchronize");
        return is_wide ? wide : narrow;
    }

    const Call& call_;
    Session& session_;
    std::vector<ArrayIn> made_;
    std::vector<MutableArrayView> views_;
};

/// True if the caller's arrays have the types of the results and are long enough.
bool fits_out(const Call& call)
{
    const auto& out = call.out();
    const auto num_segments = num_segments_of(call);
    const std::size_t num_keys = call.gives_keys() ? 1 : 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const bool is_keys = i < num_keys;
        const auto type = is_keys ? call.found()->keys->type() : call.typed()->fields[i - num_keys].type;
        const auto length = is_keys ? num_segments : length_of(call, i - num_keys, num_segments);
        if (out[i].view().type != type || out[i].num_entries() < length)
            return false;
    }
    return true;
}

/// Returns a kept plan for a call on the host; null if the call needs an ordinary fold. If the plan has found
/// the segments, the call uses them from then on.
std::shared_ptr<Plan> kept_plan(Call& call, Session& session, const std::shared_ptr<Fold>& fold)
{
    if (call.words().check || call.model().kind() == Kind::jax || fold->segments.kind == LayoutKind::groups)
        return nullptr;
    const auto planned = core(session).plan_for(fold, [&](std::int64_t num_elements, const auto& work) {
        run_by_size(num_elements, kElementsOfAShortNativeFold, work, call.arrays());
    });
    if (fold->found && !call.found())
        call.take_found(fold->found);
    if (!planned.kept || !fits_out(call))
        return nullptr;
    warn_of_caches();
    warn(planned.told, &call.typed()->told);
    warn(planned.kept->plan->warnings(), &call.typed()->told);
    return planned.kept->plan;
}

/// Returns the keys of the segments that were found, as an array of the caller's library.
nb::object found_keys(const Call& call)
{
    const auto& keys = *call.found()->keys;
    if (!call.out().empty()) {
        store(call.field_names().front(), keys, call.out().front(), false);
        return finished(Kind::other, call.out().front(), call.found()->num_segments);
    }
    auto object = new_on_host(call.model().kind(), keys.type(), {call.found()->num_segments});
    store(call.field_names().front(), keys, ArrayIn(object, "keys", Access::write), false);
    return object;
}

/// Runs a plan on the host. Writes results to the caller's arrays, or to new ones.
nb::object run_on_host(Call& call, const std::shared_ptr<Plan>& plan, const std::shared_ptr<Session>& session,
                       const std::shared_ptr<const Fold>& fold)
{
    const auto& fields = call.typed()->fields;
    struct Run {
        std::shared_ptr<Plan> plan;
        std::shared_ptr<Session> session;
        std::shared_ptr<const Fold> fold;
        std::vector<MutableArrayView> results;
    };
    const auto run = std::make_shared<Run>(Run{plan, session, fold, {}});
    const auto kind = call.model().kind();
    const auto num_segments = num_segments_of(call);
    const bool is_new = call.out().empty();
    const std::size_t num_keys = call.gives_keys() ? 1 : 0;
    auto keys = num_keys != 0 ? found_keys(call) : nb::object();
    if (num_keys != 0)
        tell_of_keys(call, *call.found()->keys);
    auto& arrays = call.arrays();  // keeps results alive too while the plan runs
    const auto first = arrays.size() + (is_new ? 0 : num_keys);
    call.hold_out_among_arrays();
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (is_new) {
            const auto shape = call.shape_of(length_of(call, i, num_segments));
            arrays.emplace_back(new_on_host(kind, fields[i].type, shape), fields[i].name, Access::write,
                                shape.holds());
        }
        run->results.push_back(arrays[first + i].mutable_view());
    }
    const auto work = [run] { run->plan->run(run->fold->inputs, run->fold->segments, run->results); };
    const bool is_native = core(*session).backend().name() == "cpu" && cpu::reason_without_compiler().empty();
    run_by_size(plan->num_items(), is_native ? kElementsOfAShortNativeFold : kElementsOfAShortFold, work,
                arrays);
    std::vector<nb::object> objects;
    if (num_keys != 0)
        objects.push_back(std::move(keys));
    for (std::size_t i = 0; i < fields.size(); ++i)
        objects.push_back(
            finished(is_new ? kind : Kind::other, arrays[first + i], length_of(call, i, num_segments)));
    return results_of(call, std::move(objects));
}

}  // namespace

std::shared_ptr<Fold> fold_of(const Call& call, Session& session)
{
    return std::make_shared<Fold>(Fold{call.typed()->plans_in(session), call.inputs(),
                                       call.segments_on_host(), call.num_elements(), call.plan_options(),
                                       call.found()});
}

std::int64_t num_segments_of(const Call& call)
{
    const auto& segments = call.segments();
    switch (segments.kind) {
        case LayoutKind::whole: return 1;
        case LayoutKind::uniform:
            return segments.uniform_length > 0 ? call.num_elements() / segments.uniform_length : 0;
        case LayoutKind::offsets: return std::max<std::int64_t>(segments.first.length - 1, 0);
        case LayoutKind::groups: return segments.num_groups.value_or(0);
        default: return segments.first.length;
    }
}

nb::object run_on_host(Call& call, const std::shared_ptr<Plan>& plan, const std::shared_ptr<Session>& session)
{
    return run_on_host(call, plan, session, fold_of(call, *session));
}

nb::object results_of(const Call& call, std::vector<nb::object> arrays)
{
    if (call.has_key_columns())
        arrays.insert(arrays.begin(), call.keys_of_segments());
    if (arrays.size() == 1)
        return std::move(arrays.front());
    auto& known = call.typed()->result_class[call.gives_keys() || call.has_key_columns() ? 1 : 0];
    if (known == nullptr) {
        nb::list names;
        for (const auto& name : call.result_names())
            names.append(name);
        // The pointer stays valid, because the module keeps every class that it makes.
        known =
            nb::object(nb::module_::import_("segfold._results").attr("result_class")(nb::tuple(names))).ptr();
    }
    nb::list values;
    for (auto& array : arrays)
        values.append(array);
    return nb::handle(known).attr("_make")(values);
}

nb::object fold_on_host(Call& call, const std::shared_ptr<Session>& session)
{
    const auto fold = fold_of(call, *session);
    if (const auto plan = kept_plan(call, *session, fold))
        return run_on_host(call, plan, session, fold);
    const auto& words = call.words();
    const auto into = std::make_shared<std::shared_ptr<Folded>>();
    auto work = [fold, session, into, options = FoldOptions{words.plan.request, words.check, {}}] {
        const auto folds =
            fold->segments.kind == LayoutKind::groups ? &SessionCore::fold_groups : &SessionCore::fold_anew;
        *into = std::make_shared<Folded>(
            (core(*session).*folds)(fold->op(), fold->inputs, fold->segments, options));
    };
    run_by_size(most_items(call), words.check ? 0 : kElementsOfAShortFold, work, call.arrays());
    const std::shared_ptr<const Folded> folded = *into;
    warn(folded->warnings(), &call.typed()->told);
    warn_of_caches();
    if (!folded->agrees())
        raise_check(fmt::format("results differ from what they should be: {}; {}",
                                fmt::join(folded->check(), "; "),
                                call.where_to_look(folded->doubtful_laws())));
    if (folded->num_overflowed() != 0)
        warn({"check=True could not judge all results: " + folded->overflow()});
    if (folded->num_unjudged() != 0)
        warn({"check=True could not judge all results: " + folded->unjudged()});
    std::vector<nb::object> objects;
    std::vector<const Array*> arrays;
    if (call.gives_keys())
        tell_of_keys(call, call.found() ? *call.found()->keys : *folded->results().keys);
    if (call.gives_keys() && call.found())
        objects.push_back(found_keys(call));
    else if (call.gives_keys())
        arrays.push_back(&*folded->results().keys);
    for (const auto& result : folded->results())
        arrays.push_back(&result.array);
    const auto names = call.field_names();
    const auto num_outputs = call.op().outputs.size();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto place = objects.size();
        const bool is_output = i + num_outputs >= arrays.size();
        if (call.out().empty()) {
            objects.push_back(host_array(call.model().kind(), *arrays[i], folded));
            continue;
        }
        store(names[place], *arrays[i], call.out()[place], is_output);
        objects.push_back(finished(Kind::other, call.out()[place],
                                   is_output ? call.num_elements() : folded->num_segments()));
    }
    return results_of(call, std::move(objects));
}

std::shared_ptr<const KeptPlan> make_plan_on_device(Session& session, OperatorPlans& plans,
                                                    const PlanKey& key, const SegmentsView& segments,
                                                    const PlanOptions& options)
{
    const auto similar = plans.find_similar(key);
    auto plan = similar ? similar->plan->copy() : session.plan(plans.op, segments, key.num_elements, options);
    if (similar &&
        (similar->key.num_elements != key.num_elements || similar->key.num_entries != key.num_entries))
        plan.resize(segments, key.num_elements);
    auto kept = std::make_shared<const KeptPlan>(key, std::move(plan));
    plans.add(kept);
    return kept;
}

namespace {

/// Runs a kept plan while its stream is being captured into a CUDA graph. The plan's kernels become part of
/// the graph.
nb::object run_into_graph(const Call& call, OperatorPlans& plans, const PlanKey& key, Session& session)
{
    if (call.finds_segments())
        throw InputError(
            fmt::format("{} mark segments whose number is read back from the GPU, and its stream is captured "
                        "into a graph, "
                        "for which nothing can be waited; give offsets",
                        name(call.segments().kind)));
    const auto kept = plans.find_on_any_stream(key);
    if (!kept)
        throw InputError(fmt::format(
            "the stream is captured into a graph, where no kernel can be compiled, and operator {} was not "
            "called with arrays of these sizes yet; call it once before the capture",
            call.op().name));
    return run_on_device(call, *kept->plan, session, key.stream);
}

}  // namespace

nb::object run_on_device(const Call& call, Plan& plan, Session& session, std::uintptr_t stream)
{
    DeviceResults results(call, session);
    const auto segments = results.segments();
    {
        const nb::gil_scoped_release released;
        plan.run(call.inputs(), segments, results.fields(), reinterpret_cast<CUstream_st*>(stream));
    }
    return results.finish(stream);
}

nb::object fold(Call& call)
{
    const auto& words = call.words();
    if (!call.is_on_device())
        return fold_on_host(call, session_of(words.session));
    if (words.check)
        throw InputError(
            "check=True compares results on the host, and the arrays lie on a GPU; fold copies of them on "
            "the host");
    const auto& model = call.model();
    const auto stream = current_stream(model);
    const auto session = session_of_gpu(words.session, model.device());
    if (call.segments().kind == LayoutKind::groups)
        call.settle_groups_on_device(core(*session));
    PlanKey key(call.segments(), call.num_elements(), call.plan_options(), core(*session).num_findings());
    key.is_on_device = true;
    key.stream = stream;
    auto& plans = *call.typed()->plans_in(*session);
    if (cuda::is_captured(reinterpret_cast<cuda::CUstream>(stream)))
        return run_into_graph(call, plans, key, *session);
    auto kept = plans.find(key);
    if (!kept) {
        {
            const nb::gil_scoped_release released;
            kept = make_plan_on_device(*session, plans, key, call.segments(), call.plan_options());
        }
        warn(kept->plan->warnings(), &call.typed()->told);
        warn_of_caches();
    }
    return run_on_device(call, *kept->plan, *session, stream);
}

}  // namespace segfold::python
