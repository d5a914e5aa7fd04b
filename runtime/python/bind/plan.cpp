// Defines the Python class Plan.
#include "runtime/session/plan.h"

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/python/bind/verbs.h"
#include "runtime/session/core.h"
#include "runtime/support/text_table.h"

namespace segfold::python {
namespace {

constexpr const char* kMeasure = "measure";

/// Describes, for messages, how the caller gave the segments.
std::string text_of_way(LayoutKind kind, bool has_key_columns)
{
    if (has_key_columns)
        return "keys of several columns";
    return kind == LayoutKind::whole  ? "no segments"
           : kind == LayoutKind::keys ? "one column of keys"
                                      : fmt::format("segments by {}", name(kind));
}

/// A plan, and everything that its runs need.
class PyPlan {
public:
    /// If `num_stages` is above 1, compiles this number of stages in parallel, for measure().
    explicit PyPlan(const Call& call, int num_stages = 1)
        : op_(call.op()),
          words_(call.words()),
          session_(call.is_on_device() ? session_of_gpu(words_.session, call.model().device())
                                       : session_of(words_.session)),
          kind_(call.segments().kind),
          num_groups_(call.segments().num_groups),
          has_key_columns_(call.has_key_columns()),
          num_features_(call.num_features()),
          is_on_device_(call.is_on_device())
    {
        {
            auto options = call.plan_options();
            options.request.measured_stages = num_stages;
            const nb::gil_scoped_release released;
            plan_ = std::make_shared<Plan>(
                session_->plan(op_.fixed().op, call.segments(), call.num_elements(), options));
        }
        warn_of_caches();
    }

    nb::object run(const nb::args& arrays, const nb::kwargs& words)
    {
        Call call(op_, arrays, words);
        call.set_num_groups(num_groups_);
        require_fits(call);
        if (!call.words().sorts_keys && words_.sorts_keys.value_or(false))
            call.sort_by_keys();
        if (is_on_device_)
            return run_on_device(call, *plan_, *session_, current_stream(call.model()));
        // These calls need a fold instead of the plan. A plan on a GPU accepts only arrays on the GPU, only a
        // fold reports the number of found segments, and arrays of JAX cannot be written.
        if (core(*session_).backend().context() != nullptr || call.finds_segments() ||
            call.model().kind() == Kind::jax) {
            require_sizes(call);
            auto own = words_;
            if (call.words().key_order)
                own.key_order = call.words().key_order;
            call.set_words(own);
            return fold_on_host(call, session_);
        }
        return run_on_host(call, plan_, session_);
    }

    /// Times up to `num_stages` stages on the arrays of the call, and keeps the fastest.
    void measure(const Call& call, int num_stages)
    {
        if (!is_on_device_ &&
            (core(*session_).backend().context() != nullptr || call.model().kind() == Kind::jax))
            throw InputError(
                fmt::format("{}= times runs on arrays where they lie, of a GPU, or of NumPy on the back "
                            "end cpu; runs of this plan copy their arrays",
                            kMeasure));
        const auto segments = is_on_device_ ? call.segments() : call.segments_on_host();
        auto* stream = is_on_device_ ? reinterpret_cast<CUstream_st*>(current_stream(call.model())) : nullptr;
        const nb::gil_scoped_release released;
        plan_->measure(call.inputs(), segments, stream, num_stages);
        if (!call.finds_segments() || is_on_device_ || plan_->stage().empty())
            return;
        // Runs that are replaced by folds use the measured stage too.
        words_.plan.request.stage = plan_->stage();
        words_.plan.request.settings = plan_->settings();
    }

    void resize(const nb::args& arrays, const nb::kwargs& words)
    {
        Call call(op_, arrays, words);
        call.set_num_groups(num_groups_);
        require_fits(call);
        {
            const nb::gil_scoped_release released;
            plan_->resize(call.segments(), call.num_elements());
        }
        warn(plan_->warnings(), &op_.fixed().told);
    }

    [[nodiscard]] PyPlan copy() const
    {
        auto other = *this;
        const nb::gil_scoped_release released;
        other.plan_ = std::make_shared<Plan>(plan_->copy());
        return other;
    }

    [[nodiscard]] Plan& plan() const { return *plan_; }
    [[nodiscard]] const PyOperator& op() const { return op_; }
    [[nodiscard]] std::string backend() const { return std::string(core(*session_).backend().name()); }
    [[nodiscard]] std::string description() const { return core(*session_).backend().description(); }

private:
    void require_fits(const Call& call) const
    {
        if (call.is_on_device() != is_on_device_)
            throw InputError(fmt::format("the arrays lie on {}, and the plan of {} was made for arrays on {}",
                                         call.is_on_device() ? "a GPU" : "the host", op_.name(),
                                         is_on_device_ ? "a GPU" : "the host"));
        if (call.segments().kind != kind_ &&
            (call.has_key_columns() || has_key_columns_ || words_.sorts_keys.value_or(false)))
            throw InputError(fmt::format("the plan of {} was made for {}, and is given {}; make another plan",
                                         op_.name(), text_of_way(kind_, has_key_columns_),
                                         text_of_way(call.segments().kind, call.has_key_columns())));
        if (call.num_features() != num_features_)
            throw InputError(
                fmt::format("the arrays have rows of {}, and the plan of {} was made for "
                            "rows of {}; make another plan",
                            count_text(call.num_features(), "feature"), op_.name(), num_features_));
        if (!key_of(call.words().plan).empty() || call.words().check ||
            call.words().session != SessionChoice())
            throw InputError(
                "stage, backend, settings and the like are given when a plan is made, not when it is run");
    }

    /// Throws the errors of Plan::run() for wrong sizes. Called before a fold that replaces a run of the
    /// plan.
    void require_sizes(const Call& call) const
    {
        const nb::gil_scoped_release released;
        plan_->require_sizes(call.segments(), call.num_elements());
    }

    PyOperator op_;
    FoldWords words_;
    std::shared_ptr<Session> session_;
    std::shared_ptr<Plan> plan_;
    LayoutKind kind_;
    std::optional<std::int64_t> num_groups_;
    bool has_key_columns_;
    std::int64_t num_features_;
    bool is_on_device_;
};

}  // namespace

void bind_plan(nb::module_& module)
{
    using namespace nb::literals;
    nb::class_<PyPlan>(
        module, "Plan", nb::is_weak_referenceable(),
        "A stage compiled for an operator, segments and sizes; called with arrays of these sizes, it folds "
        "them.\n\n"
        "On a GPU a call queues kernels on the current stream of the arrays' library and waits for nothing. "
        "One "
        "stream at a time runs a plan that has scratch memory; another one takes a :meth:`copy`.")
        .def("__call__", &PyPlan::run,
             nb::sig("def __call__(self, "
                     "*columns: typing.Any, offsets: typing.Any = None, lengths: typing.Any = None, keys: "
                     "typing.Any = None, "
                     "flags: typing.Any = None, ranges: typing.Any = None, uniform: int | None = None, "
                     "sort_keys: bool | None = None, by: typing.Any = None, out: typing.Any = None, **named: "
                     "typing.Any) -> typing.Any"),
             "Folds arrays as a call of the operator does. Raises InputError where sizes are not the "
             "plan's.\n\n"
             "Without ``sort_keys`` it sorts by key if the plan was made so.")
        .def(
            "resize", &PyPlan::resize,
            nb::sig("def resize(self, "
                    "*columns: typing.Any, offsets: typing.Any = None, lengths: typing.Any = None, keys: "
                    "typing.Any = None, "
                    "flags: typing.Any = None, ranges: typing.Any = None, uniform: int | None = None, "
                    "**named: typing.Any) -> None"),
            "Prepares the same program for the sizes of these arrays; may allocate and wait. The stage stays "
            "the one that was chosen for the first sizes; :meth:`explain` says under ``resized`` what a new "
            "plan would take. Raises InputError where segments are given in another way.")
        .def("copy", &PyPlan::copy, "The same plan with scratch memory of its own, for another stream.")
        .def(
            "move_to",
            [](PyPlan& plan, std::uintptr_t stream) {
                plan.plan().move_to(reinterpret_cast<CUstream_st*>(stream));
            },
            "stream"_a, "Lets another stream (its handle) run the plan; what was queued before must be done.")
        .def(
            "require_tables_read_inside",
            [](PyPlan& plan, std::uintptr_t stream) {
                const nb::gil_scoped_release released;
                plan.plan().require_tables_read_inside(reinterpret_cast<CUstream_st*>(stream));
            },
            "stream"_a = 0,
            "Waits for the stream; raises InputError where a run has read a table outside of its length.")
        .def(
            "explain",
            [](const PyPlan& plan) {
                nb::dict facts;
                for (const auto& [name, value] : plan.plan().explain())
                    facts[name.c_str()] = value;
                return facts;
            },
            nb::sig("def explain(self) -> dict[str, str]"),
            "Why this plan, as a dictionary of words: ``plan``, ``lookup``, ``why``, ...")
        .def_prop_ro("operator", &PyPlan::op, nb::rv_policy::copy, "The operator, of fixed types.")
        .def_prop_ro(
            "stage", [](const PyPlan& plan) { return plan.plan().stage(); },
            "The name of the stage; empty for a back end without stages.")
        .def_prop_ro(
            "chosen_by", [](const PyPlan& plan) { return plan.plan().chosen_by(); },
            "Who chose the stage: ``\"asked for\"``, ``\"measured here\"``, ``\"spot record\"``, "
            "``\"tuning record\"``, ``\"measured rows\"``, ...")
        .def_prop_ro(
            "source", [](const PyPlan& plan) { return plan.plan().source(); },
            "The emitted text that runs; empty for a back end without stages.")
        .def_prop_ro("backend", &PyPlan::backend, "The back end: ``\"cuda\"``, ``\"simt\"``, ...")
        .def_prop_ro("device", &PyPlan::description, "What runs it: the GPU, or the host's threads.")
        .def_prop_ro(
            "warnings", [](const PyPlan& plan) { return plan.plan().warnings(); },
            "What should be known before relying on results.")
        .def_prop_ro(
            "scratch_bytes", [](const PyPlan& plan) { return plan.plan().scratch_bytes(); },
            "Bytes of scratch memory on the GPU.")
        .def("__repr__",
             [](const PyPlan& plan) {
                 return fmt::format("<segfold.Plan {} by {} on {}>", plan.op().name(),
                                    plan.plan().stage().empty() ? "a sequential fold" : plan.plan().stage(),
                                    plan.backend());
             })
        .def("_repr_html_", [](const nb::object& self) {
            return nb::module_::import_("segfold._html").attr("plan_html")(self);
        });
    module.def(
        "plan",
        [](const nb::args& all, const nb::kwargs& words) {
            if (all.size() == 0)
                throw nb::type_error(
                    "plan() takes an operator first, as sf.standard.sum or "
                    "sf.operator(\"sum\"), and then its arrays; none is given");
            const nb::object given = all[0];
            const auto arrays = nb::steal<nb::args>(PyTuple_GetSlice(all.ptr(), 1, PY_SSIZE_T_MAX));
            PyOperator* op = nullptr;
            if (!nb::try_cast(given, op))
                throw nb::type_error(
                    fmt::format(
                        "plan() takes an operator, as sf.standard.sum or sf.operator(\"sum\"), and {} "
                        "is given",
                        nb::repr(given).c_str())
                        .c_str());
            const Call call(*op, arrays, words, {kMeasure});
            if (!call.out().empty() || call.words().check)
                throw InputError("out= and check= belong to a call, not to a plan");
            const auto value = words.contains(kMeasure) ? nb::object(words[kMeasure]) : nb::none();
            const auto num_stages =
                value.is_none() ? 1 : value_of<int>(kMeasure, value, "how many stages are measured");
            PyPlan plan(call, num_stages);
            if (!value.is_none())
                plan.measure(call, num_stages);
            warn(plan.plan().warnings(), &call.typed()->told);
            return plan;
        },
        nb::sig(
            "def plan(operator: Operator, /, *columns: typing.Any, offsets: typing.Any = None, lengths: "
            "typing.Any = None, keys: typing.Any = None, "
            "flags: typing.Any = None, ranges: typing.Any = None, uniform: int | None = None, "
            "stage: str | None = None, settings: dict[str, int] | None = None, reproducible: bool = False, "
            "backend: str = 'auto', device: int | None = None, kernels: typing.Any = None, "
            "assume: typing.Any = (), validate: bool = False, trust_tables: bool = False, "
            "assume_finite: bool = False, longest: int = 0, sort_keys: bool = False, by: typing.Any = None, "
            "sort: bool = True, first: str | None = None, measure: int | None = None, **named: typing.Any) "
            "-> Plan"),
        "Chooses and compiles a plan for arrays and segments such as these, whose sizes, types and place "
        "count.\n\n"
        "Takes the words of a call of the operator, but for ``out`` and ``check``; raises what a call "
        "raises, and warns once of what a call would warn of. It knows no data: where NaN alone makes an "
        "operator not associative, the results of segments with NaN may depend on the stage.\n\n"
        "With a number for measure, so many stages of the measured order run on these arrays, and the "
        "fastest is kept; the times are kept too, and another such plan takes them. "
        "Where combine rounds, last bits may differ from those of the first. ``first='fast'`` counts the "
        "time "
        "to compile.");
}

}  // namespace segfold::python
