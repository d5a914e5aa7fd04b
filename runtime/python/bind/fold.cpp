// Folds of arrays that Python has handed in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/context.h"
#include "runtime/python/bind/array_out.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"

namespace segfold::python {
namespace {

Type index_type(const Call& call) { return call.num_elements() > kMaxNarrowIndex ? Type::i64 : Type::i32; }

void warn(const std::vector<std::string>& warnings)
{
    for (const auto& text : warnings) {
        static const nb::handle category =
            nb::object(nb::module_::import_("segfold._results").attr("FoldWarning")).release();
        if (PyErr_WarnEx(category.ptr(), text.c_str(), 2) != 0)
            throw nb::python_error();
    }
}

/// What a fold of the host's arrays needs and gives; it may outlive the call.
struct HostFold {
    std::shared_ptr<TypedOperator> typed;
    std::shared_ptr<Session> session;
    std::vector<ArrayView> inputs;
    SegmentsView segments;
    FoldOptions options;
    std::shared_ptr<Folded> folded;
};

/// Copies what a fold has given into the caller's array.
void store(const std::string& field, const Array& array, const ArrayIn& out)
{
    const auto target = out.mutable_view();
    if (target.type != array.type())
        throw InputError(fmt::format("the results of '{}' are {}, and the array for them holds {}", field,
                                     dtype_name(array.type()), dtype_name(target.type)));
    if (target.length < static_cast<std::int64_t>(array.length()))
        throw InputError(
            fmt::format("the results of '{}' are {} segments, and the array for them has room for {}", field,
                        array.length(), target.length));
    if (array.bytes() != 0)
        std::memcpy(target.data, array.data(), array.bytes());
}

/// Arrays of results on a GPU: the caller's or new ones.
class DeviceResults {
public:
    DeviceResults(const Call& call, Session& session) : call_(call), session_(session)
    {
        const auto& op = call.op();
        const auto room = call.finds_segments() ? call.num_elements() : num_segments();
        if (call.segments().kind == LayoutKind::keys)
            add(call.segments().first.type, room);
        for (const auto& result : op.results)
            add(result.type, room);
        if (call.finds_segments())
            add_word(index_type(call));
    }

    /// In the operator's order, without keys.
    [[nodiscard]] std::span<const MutableArrayView> fields() const
    {
        return std::span(views_).subspan(call_.segments().kind == LayoutKind::keys ? 1 : 0,
                                         call_.op().results.size());
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
    /// After the run: what the caller gets.
    [[nodiscard]] nb::object finish(std::uintptr_t stream)
    {
        std::int64_t length = num_segments();
        if (call_.finds_segments()) {
            length = read_count(stream);
            objects_.pop_back();
        } else if (!is_ordered_by_stream(call_.model().kind())) {
            synchronize(stream);
        }
        for (auto& object : objects_)
            object = finished(call_.model().kind(), object, length);
        return results_of(call_, std::move(objects_));
    }

private:
    [[nodiscard]] std::int64_t num_segments() const
    {
        const auto& segments = call_.segments();
        switch (segments.kind) {
            case LayoutKind::whole:
                return 1;
            case LayoutKind::uniform:
                return segments.uniform_length > 0 ? call_.num_elements() / segments.uniform_length : 0;
            case LayoutKind::offsets:
                return std::max<std::int64_t>(segments.first.length - 1, 0);
            default:
                return segments.first.length;
        }
    }
    void add(Type type, std::int64_t room)
    {
        const auto& out = call_.out();
        if (objects_.size() < out.size()) {
            views_.push_back(out[objects_.size()].mutable_view());
            objects_.push_back(nb::borrow(out[objects_.size()].object()));
            return;
        }
        objects_.push_back(new_on_device(call_.model(), type, room, session_));
        made_.emplace_back(objects_.back(), "results", Access::write);
        views_.push_back(made_.back().mutable_view());
    }
    /// The number of segments, which a kernel writes.
    void add_word(Type type)
    {
        objects_.push_back(new_on_device(call_.model(), type, 1, session_));
        made_.emplace_back(objects_.back(), "results", Access::write);
        views_.push_back(made_.back().mutable_view());
    }
    void synchronize(std::uintptr_t stream)
    {
        const cuda::CurrentContext current(*session_.backend().context());
        const nb::gil_scoped_release released;
        cuda::check(cuda::driver().cuStreamSynchronize(reinterpret_cast<cuda::CUstream>(stream)),
                    "cuStreamSynchronize");
    }
    [[nodiscard]] std::int64_t read_count(std::uintptr_t stream)
    {
        std::int64_t wide = 0;
        std::int32_t narrow = 0;
        const bool is_wide = views_.back().type == Type::i64;
        const cuda::CurrentContext current(*session_.backend().context());
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
    std::vector<nb::object> objects_;
    std::vector<ArrayIn> made_;
    std::vector<MutableArrayView> views_;
};

/// A plan for a call; with the program of `similar` where there is one.
std::shared_ptr<const PlanCache::Entry> make_entry(const Call& call, const PlanKey& key,
                                                   const std::shared_ptr<const PlanCache::Entry>& similar)
{
    const auto session = session_of_gpu(call.words().session, key.device);
    const nb::gil_scoped_release released;
    const auto entry = std::make_shared<PlanCache::Entry>(PlanCache::Entry{key, session, nullptr});
    if (similar) {
        entry->plan = std::make_shared<Plan>(similar->plan->copy());
        if (similar->key.num_elements != key.num_elements || similar->key.num_entries != key.num_entries)
            entry->plan->resize(call.segments(), call.num_elements());
    } else {
        entry->plan = std::make_shared<Plan>(
            session->plan(call.op(), call.segments(), call.num_elements(), call.words().plan_options()));
    }
    return entry;
}

}  // namespace

nb::object results_of(const Call& call, std::vector<nb::object> arrays)
{
    if (arrays.size() == 1)
        return std::move(arrays.front());
    auto& known = call.typed()->result_class[call.segments().kind == LayoutKind::keys ? 1 : 0];
    if (known == nullptr) {
        nb::list names;
        for (const auto& name : call.field_names())
            names.append(name);
        // The module keeps every class that it has made.
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
    const auto& words = call.words();
    const auto fold = std::make_shared<HostFold>();
    *fold = {call.typed(), session, call.inputs(), call.segments(), {words.request, words.check, {}},
             nullptr};
    auto work = [fold] {
        fold->folded = std::make_shared<Folded>(
            fold->session->fold(fold->typed->op, fold->inputs, fold->segments, fold->options));
    };
    if (call.num_elements() < kElementsOfAShortFold && !words.check) {
        const nb::gil_scoped_release released;
        work();
    } else {
        run_interruptible(work, call.arrays());
    }
    const std::shared_ptr<const Folded> folded = fold->folded;
    warn(folded->warnings());
    if (!folded->agrees())
        throw InternalError(
            fmt::format("results differ from what they should be: {}", fmt::join(folded->check(), "; ")));
    std::vector<const Array*> arrays;
    if (call.segments().kind == LayoutKind::keys)
        arrays.push_back(&*folded->results().keys);
    for (const auto& result : folded->results())
        arrays.push_back(&result.array);
    std::vector<nb::object> objects;
    const auto names = call.field_names();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (call.out().empty()) {
            objects.push_back(host_array(call.model().kind(), *arrays[i], folded));
            continue;
        }
        store(names[i], *arrays[i], call.out()[i]);
        objects.push_back(finished(Kind::other, nb::borrow(call.out()[i].object()), folded->num_segments()));
    }
    return results_of(call, std::move(objects));
}

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
    const auto& segments = call.segments();
    const PlanKey key{segments.kind,
                      segments.first.type,
                      call.num_elements(),
                      segments.kind == LayoutKind::uniform ? segments.uniform_length : segments.first.length,
                      model.device(),
                      stream,
                      words.key()};
    auto& plans = call.typed()->plans;
    auto entry = plans.find(key);
    if (!entry) {
        entry = make_entry(call, key, plans.find_similar(key));
        plans.add(entry);
        warn(entry->plan->warnings());
    }
    return run_on_device(call, *entry->plan, *entry->session, stream);
}

}  // namespace segfold::python
