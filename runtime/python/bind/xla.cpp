// Folds within XLA programs, which JAX compiles. They are handlers of XLA's foreign function interface.
//
// A call carries the text of its operator and the name of its layout, so that another process can run a
// program that XLA has stored. Plans are made at the first run and kept for each size, as for calls outside
// of XLA.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cfenv>
#include <map>
#include <mutex>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/verbs.h"
#include "runtime/session/core.h"

#if __has_include(<xla/ffi/api/c_api.h>)
#include <xla/ffi/api/c_api.h>
#define SEGFOLD_HAS_XLA 1
#endif

namespace segfold::python {
namespace {

constexpr int kHost = -1;  ///< stands for the host where the ordinal of a GPU is expected

/// The session that runs an operator's folds, and the plans kept for the operator.
struct Target {
    std::shared_ptr<Session> session;
    std::shared_ptr<OperatorPlans> plans;
};

Target target_of(const Operator& op, int device)
{
    auto session = device == kHost ? session_of({.backend = "cpu"}) : session_of_gpu({}, device);
    auto plans = core(*session).plans_of(op);
    return {std::move(session), std::move(plans)};
}

SegmentsView segments_of(std::string_view layout, std::int64_t uniform_length, const ArrayView& first,
                         const ArrayView& second)
{
    if (layout == "offsets")
        return offsets(first);
    if (layout == "lengths")
        return lengths(first);
    if (layout == "ranges")
        return ranges(first, second);
    return layout == "uniform" ? uniform(uniform_length) : whole();
}

/// Makes and compiles a plan for these sizes, so that warnings and errors appear before the first run. Makes
/// none for ranges on the host, because their values are not known yet.
void prepare(PyOperator& op, const std::string& layout, std::int64_t uniform_length,
             const std::string& index_type, std::int64_t num_entries, std::int64_t num_elements,
             std::int64_t num_features, int device)
{
    if (layout == "ranges" && device == kHost)
        return;
    auto& typed = op.fixed();
    const auto target = target_of(typed.op, device);
    const auto place = device == kHost ? Place::host : Place::device;
    const ArrayView array(find_type(index_type).value_or(Type::i32), nullptr, num_entries, place);
    const auto segments = segments_of(layout, uniform_length, array, array);
    PlanOptions options;
    options.num_features = num_features;
    std::vector<std::string> warnings;
    {
        const nb::gil_scoped_release released;
        if (device == kHost) {
            try {
                warnings = target.session->plan(typed.op, segments, num_elements, options).warnings();
            } catch (const SpecError&) {
                // If a law is refuted for some data, no plan can be made. Each fold on the host then checks
                // the law on its own data.
            }
        } else {
            PlanKey key(segments, num_elements, options, core(*target.session).num_findings());
            key.is_on_device = true;
            warnings =
                make_plan_on_device(*target.session, *target.plans, key, segments, options)->plan->warnings();
        }
    }
    warn(warnings, &typed.told);
    warn_of_caches();
}

#ifdef SEGFOLD_HAS_XLA

std::optional<Type> type_of(XLA_FFI_DataType type)
{
    switch (type) {
        case XLA_FFI_DataType_S32: return Type::i32;
        case XLA_FFI_DataType_S64: return Type::i64;
        default: return std::nullopt;
    }
}

std::int64_t size_of(const XLA_FFI_Buffer& buffer)
{
    std::int64_t size = 1;
    for (std::int64_t i = 0; i < buffer.rank; ++i)
        size *= buffer.dims[i];
    return size;
}

/// Returns the number of values of `type` in a buffer. If JAX lacks 64-bit types, the buffer holds each such
/// value as two 32-bit halves.
std::int64_t count_of(const XLA_FFI_Buffer& buffer, Type type)
{
    const bool is_halved = buffer.dtype == XLA_FFI_DataType_U32 && size_bytes(type) == 8;
    return is_halved ? size_of(buffer) / 2 : size_of(buffer);
}

/// The attributes and buffers of one fold in an XLA program.
struct XlaCall {
    std::string_view text, layout;
    std::int64_t uniform_length = 0;
    std::vector<const XLA_FFI_Buffer*> arguments, results;

    explicit XlaCall(const XLA_FFI_CallFrame& frame)
    {
        for (std::int64_t i = 0; i < frame.attrs.size; ++i) {
            const std::string_view name(frame.attrs.names[i]->ptr, frame.attrs.names[i]->len);
            const auto text = [&] {
                const auto* span = static_cast<const XLA_FFI_ByteSpan*>(frame.attrs.attrs[i]);
                return std::string_view(span->ptr, span->len);
            };
            if (name == "operator")
                this->text = text();
            else if (name == "layout")
                layout = text();
            else if (name == "uniform")
                uniform_length = *static_cast<const std::int64_t*>(
                    static_cast<const XLA_FFI_Scalar*>(frame.attrs.attrs[i])->value);
        }
        for (std::int64_t i = 0; i < frame.args.size; ++i)
            arguments.push_back(static_cast<const XLA_FFI_Buffer*>(frame.args.args[i]));
        for (std::int64_t i = 0; i < frame.rets.size; ++i)
            results.push_back(static_cast<const XLA_FFI_Buffer*>(frame.rets.rets[i]));
    }
};

/// Returns the ordinal of the GPU with the arrays of a call. XLA's own ordinals may differ.
int device_of(const XlaCall& call)
{
    int ordinal = 0;
    for (const auto* buffers : {&call.results, &call.arguments})
        for (const auto* buffer : *buffers)
            if (buffer->data != nullptr && size_of(*buffer) != 0) {
                cuda::check(
                    cuda::driver().cuPointerGetAttribute(&ordinal, cuda::kPointerDeviceOrdinal,
                                                         reinterpret_cast<cuda::CUdeviceptr>(buffer->data)),
                    "cuPointerGetAttribute");
                return ordinal;
            }
    return ordinal;
}

/// Returns the target for an operator's text, and creates it for the first fold. Called by threads of XLA.
const Target& known_target(std::string_view text, int device)
{
    // Never freed, because threads of XLA may still run while the process exits.
    static auto* mutex = new std::mutex;
    static auto* targets = new std::map<int, std::map<std::string, Target, std::less<>>>;
    {
        const std::lock_guard lock(*mutex);
        const auto& known = (*targets)[device];
        if (const auto found = known.find(text); found != known.end())
            return found->second;
    }
    const auto op = parse_printed(std::string(text));
    auto made = [&] {
        const nb::gil_scoped_acquire acquired;
        return target_of(op, device);
    }();
    const std::lock_guard lock(*mutex);
    return (*targets)[device].try_emplace(std::string(text), std::move(made)).first->second;
}

/// The arrays of a call, with the types declared by the operator.
struct XlaFold {
    std::vector<ArrayView> inputs;
    std::vector<MutableArrayView> results;
    SegmentsView segments;
    std::int64_t num_elements = 0;
    PlanOptions options;

    XlaFold(const XlaCall& call, const Operator& op, Place place)
    {
        const auto fields = returned_fields(op);
        const auto num_segment_arrays = call.layout == "ranges"                                ? 2u
                                        : call.layout == "offsets" || call.layout == "lengths" ? 1u
                                                                                               : 0u;
        if (call.arguments.size() != op.parameters.size() + num_segment_arrays ||
            call.results.size() != fields.size())
            throw InternalError(fmt::format("a program of XLA gives operator {} {} arrays for {} results",
                                            op.name, call.arguments.size(), call.results.size()));
        for (std::size_t i = 0; i < op.parameters.size(); ++i) {
            const auto& parameter = op.parameters[i];
            const auto& buffer = *call.arguments[i];
            inputs.emplace_back(parameter.type, buffer.data, count_of(buffer, parameter.type), place);
            if (parameter.row && buffer.rank > 1)
                inputs.back().num_features = options.num_features = buffer.dims[1];
            if (!parameter.table)
                num_elements = buffer.dims[0];
        }
        ArrayView arrays[2];
        for (std::size_t i = 0; i < num_segment_arrays; ++i) {
            const auto& buffer = *call.arguments[op.parameters.size() + i];
            const auto type = type_of(buffer.dtype);
            if (!type)
                throw InternalError("a program of XLA gives segments of another type than int32 or int64");
            arrays[i] = {*type, buffer.data, size_of(buffer), place};
        }
        segments = segments_of(call.layout, call.uniform_length, arrays[0], arrays[1]);
        for (std::size_t i = 0; i < fields.size(); ++i)
            results.emplace_back(fields[i].type, call.results[i]->data,
                                 count_of(*call.results[i], fields[i].type), place);
    }
};

void fold_on_host(const XlaCall& call)
{
    const auto& target = known_target(call.text, kHost);
    const auto& op = target.plans->op;
    const XlaFold given(call, op, Place::host);
    const auto fold = std::make_shared<Fold>(
        Fold{target.plans, given.inputs, given.segments, given.num_elements, given.options});
    const auto planned =
        core(*target.session).plan_for(fold, [](std::int64_t, const std::function<void()>& work) { work(); });
    if (planned.kept)
        planned.kept->plan->run(given.inputs, fold->segments, given.results);
    else
        (void)core(*target.session).fold_anew(op, given.inputs, given.segments, {.results = given.results});
}

void fold_on_gpu(const XlaCall& call, void* stream)
{
    const auto& target = known_target(call.text, device_of(call));
    const XlaFold given(call, target.plans->op, Place::device);
    PlanKey key(given.segments, given.num_elements, given.options, core(*target.session).num_findings());
    key.is_on_device = true;
    key.stream = reinterpret_cast<std::uintptr_t>(stream);
    auto kept = target.plans->find(key);
    if (!kept)
        kept = make_plan_on_device(*target.session, *target.plans, key, given.segments, given.options);
    kept->plan->run(given.inputs, given.segments, given.results, static_cast<CUstream_st*>(stream));
}

/// Sets the default floating-point arithmetic in the current thread as long as this object lives. XLA's
/// threads flush subnormal numbers to zero.
class PlainArithmetic {
public:
    PlainArithmetic()
    {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~PlainArithmetic() { std::fesetenv(&before_); }
    PlainArithmetic(const PlainArithmetic&) = delete;
    PlainArithmetic& operator=(const PlainArithmetic&) = delete;

private:
    std::fenv_t before_{};
};

/// Runs `work` and converts its exceptions to XLA errors.
template <class Work>
XLA_FFI_Error* guarded(const XLA_FFI_CallFrame& frame, const Work& work)
{
    const auto error_of = [&](const char* message, XLA_FFI_Error_Code code) {
        XLA_FFI_Error_Create_Args error{};
        error.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
        error.message = message;
        error.errc = code;
        return frame.api->XLA_FFI_Error_Create(&error);
    };
    try {
        return work();
    } catch (const InputError& error) {
        return error_of(error.what(), XLA_FFI_Error_Code_INVALID_ARGUMENT);
    } catch (const SpecError& error) {
        return error_of(error.what(), XLA_FFI_Error_Code_INVALID_ARGUMENT);
    } catch (const std::exception& error) {
        return error_of(error.what(), XLA_FFI_Error_Code_INTERNAL);
    } catch (...) {  // the caller is C code, which cannot handle exceptions
        return error_of("a fold failed for a reason without words", XLA_FFI_Error_Code_INTERNAL);
    }
}

/// Minor version of the interface in the header of the installed XLA. Early releases of XLA state this
/// version only in the header.
int xla_minor = XLA_FFI_API_MINOR;

/// If XLA asks for the handler's version of the interface, answers and returns true. The answer is the lower
/// of XLA's version and this header's version. Both are right, because handlers use only parts of the
/// interface that have not changed since 0.1.
bool has_answered(const XLA_FFI_CallFrame& frame)
{
    if (frame.extension_start == nullptr || frame.extension_start->type != XLA_FFI_Extension_Metadata)
        return false;
    auto& version =
        reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame.extension_start)->metadata->api_version;
    version.major_version = XLA_FFI_API_MAJOR;
    version.minor_version =
        std::min(XLA_FFI_API_MINOR, frame.api == nullptr ? xla_minor : frame.api->api_version.minor_version);
    return true;
}

XLA_FFI_Error* run_on_host(XLA_FFI_CallFrame* frame)
{
    if (has_answered(*frame) || frame->stage != XLA_FFI_ExecutionStage_EXECUTE)
        return nullptr;
    return guarded(*frame, [&]() -> XLA_FFI_Error* {
        const PlainArithmetic plain;
        fold_on_host(XlaCall(*frame));
        return nullptr;
    });
}

XLA_FFI_Error* run_on_gpu(XLA_FFI_CallFrame* frame)
{
    if (has_answered(*frame) || frame->stage != XLA_FFI_ExecutionStage_EXECUTE)
        return nullptr;
    return guarded(*frame, [&]() -> XLA_FFI_Error* {
        XLA_FFI_Stream_Get_Args asked{};
        asked.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
        asked.ctx = frame->ctx;
        if (auto* error = frame->api->XLA_FFI_Stream_Get(&asked))
            return error;
        fold_on_gpu(XlaCall(*frame), asked.stream);
        return nullptr;
    });
}

constexpr bool kHasXla = true;

/// Returns the handlers, keyed by XLA's platform names.
nb::dict handlers(int minor)
{
    xla_minor = minor;
    nb::dict found;
    found["cpu"] = nb::capsule(reinterpret_cast<void*>(&run_on_host));
    found["CUDA"] = nb::capsule(reinterpret_cast<void*>(&run_on_gpu));
    return found;
}

#else

constexpr bool kHasXla = false;

nb::object handlers(int /*minor*/) { return nb::none(); }

#endif

}  // namespace

void bind_xla(nb::module_& module)
{
    using namespace nb::literals;
    module.def(
        "xla_handlers", &handlers, "minor"_a,
        nb::sig("def xla_handlers(minor: int) -> dict[str, object] | None"),
        "Handlers of XLA's foreign function interface, by platform; None where ``has_xla()`` is false. "
        "``minor`` is the version of the interface that XLA's header states.");
    module.def(
        "has_xla", [] { return kHasXla; }, "Whether this was built with the header of XLA's interface.");
    module.def("prepare_for_xla", &prepare, "operator"_a, "layout"_a, "uniform"_a, "index_type"_a,
               "num_entries"_a, "num_elements"_a, "num_features"_a, "device"_a);
}

}  // namespace segfold::python
