#include "runtime/python/bind/arrays/array_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "dsl/error.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/python/bind/arrays/array_refusals.h"
#include "runtime/python/bind/arrays/arrow_in.h"
#include "runtime/python/bind/arrays/foreign.h"
#include "runtime/python/bind/names.h"

namespace segfold::python {
namespace {

struct NamedDtype {
    Type type;
    const char* dtype;  ///< name in NumPy and torch
};

constexpr NamedDtype kDtypes[] = {
    {Type::boolean, "bool"}, {Type::i8, "int8"},     {Type::i16, "int16"},     {Type::i32, "int32"},
    {Type::i64, "int64"},    {Type::u8, "uint8"},    {Type::u16, "uint16"},    {Type::u32, "uint32"},
    {Type::u64, "uint64"},   {Type::f16, "float16"}, {Type::bf16, "bfloat16"}, {Type::f32, "float32"},
    {Type::f64, "float64"},
};

[[noreturn]] void refuse_read_only(const std::string& what)
{
    refuse(what, "is read-only, and results are to be written there");
}

/// Returns the type of a format string of Python's struct module; nothing if segfold lacks the type.
std::optional<Type> type_of_format(std::string_view format, std::int64_t item_bytes)
{
    if (!format.empty() && (format.front() == '@' || format.front() == '=' || format.front() == '<'))
        format.remove_prefix(1);
    if (format.size() != 1)
        return std::nullopt;
    const auto by_width = [&](Type one, Type two, Type four, Type eight) -> std::optional<Type> {
        switch (item_bytes) {
            case 1: return one;
            case 2: return two;
            case 4: return four;
            case 8: return eight;
            default: return std::nullopt;
        }
    };
    switch (format.front()) {
        case '?': return Type::boolean;
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q':
        case 'n': return by_width(Type::i8, Type::i16, Type::i32, Type::i64);
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q':
        case 'N': return by_width(Type::u8, Type::u16, Type::u32, Type::u64);
        case 'e': return Type::f16;
        case 'f': return Type::f32;
        case 'd': return Type::f64;
        default: return std::nullopt;
    }
}

/// The dtype objects of torch, with segfold's types. The objects live as long as torch, so their addresses
/// identify them.
struct TorchTypes {
    std::vector<std::pair<PyObject*, Type>> types;

    std::optional<Type> find(nb::handle dtype)
    {
        for (const auto& [known, type] : types)
            if (known == dtype.ptr())
                return type;
        const auto text = text_of(dtype);  // for example "torch.float32"
        for (const auto& [type, word] : kDtypes)
            if (text == fmt::format("torch.{}", word)) {
                types.emplace_back(dtype.inc_ref().ptr(), type);
                return type;
            }
        return std::nullopt;
    }
};

TorchTypes& torch_types()
{
    static auto* types = new TorchTypes;  // never freed, because it must outlive the interpreter
    return *types;
}

/// Calls `method` of `object` without arguments.
nb::object called(nb::handle object, const nb::str& method)
{
    PyObject* arguments[] = {object.ptr()};
    auto result = nb::steal(
        PyObject_VectorcallMethod(method.ptr(), arguments, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    if (!result.is_valid())
        throw nb::python_error();
    return result;
}

/// Returns the sizes of a tensor. For one dimension, avoids the creation of the object `shape`.
std::vector<std::int64_t> sizes_of_torch(nb::handle tensor, const std::string& what)
{
    const nb::object dimensions = tensor.attr(names().ndim);
    if (nb::cast<int>(dimensions) != 1) {
        if (auto sizes = numbers_in(nb::object(tensor.attr(names().shape))))
            return std::move(*sizes);
        refuse_strange_tensor(tensor, what);  // the sizes are not numbers
    }
    const auto length = PyObject_Size(tensor.ptr());
    if (length < 0)
        throw nb::python_error();
    return {length};
}

/// Waits until JAX has computed an array. JAX computes on its own stream, for which other libraries cannot
/// wait.
void wait_for_jax(nb::handle array, const std::string& what)
{
    if (!nb::hasattr(array, "block_until_ready"))
        refuse(what,
               "is a value that JAX traces, in jit, grad or vmap, and has no elements yet; "
               "segfold.jax.fold(op, ...) folds inside of its programs");
    array.attr("block_until_ready")();
}

/// Converts a stride from elements to bytes. Returns the largest integer if the product overflows.
std::int64_t in_bytes(std::int64_t stride, Type type)
{
    std::int64_t bytes = 0;
    return __builtin_mul_overflow(stride, static_cast<std::int64_t>(size_bytes(type)), &bytes)
               ? std::numeric_limits<std::int64_t>::max()
               : bytes;
}

/// Returns the ordinal of the GPU to which an address of device memory belongs.
int device_of_address(const void* address)
{
    int ordinal = 0;
    if (address == nullptr)
        return ordinal;
    const auto& driver = cuda::driver();
    if (driver.cuPointerGetAttribute)
        cuda::check(driver.cuPointerGetAttribute(&ordinal, cuda::kPointerDeviceOrdinal,
                                                 reinterpret_cast<cuda::CUdeviceptr>(address)),
                    "cuPointerGetAttribute");
    return ordinal;
}

}  // namespace

std::string dtype_name(Type type)
{
    for (const auto& [known, word] : kDtypes)
        if (known == type)
            return word;
    return "";
}

Kind kind_of(nb::handle object)
{
    // Holds a reference to each type, so that addresses of types stay unique.
    static auto* known = new std::vector<std::pair<PyObject*, Kind>>;
    const auto type = object.type();
    for (const auto& [asked, kind] : *known)
        if (asked == type.ptr())
            return kind;
    Kind kind = Kind::other;
    for (const nb::handle base : nb::borrow<nb::tuple>(type.attr("__mro__"))) {
        const auto module = text_of(base.attr("__module__"));
        const auto root = module.substr(0, module.find('.'));
        const auto name = text_of(base.attr("__name__"));
        if (root == "numpy" && name == "MaskedArray")
            kind = Kind::masked;
        else if (root == "numpy" && name == "ndarray")
            kind = Kind::numpy;
        else if (root == "torch" && (name == "Tensor" || name == "TensorBase"))
            kind = Kind::torch;
        else if (root == "cupy" && name == "ndarray")
            kind = Kind::cupy;
        else if (root == "jax" || root == "jaxlib")
            kind = Kind::jax;
        else
            continue;
        break;
    }
    known->emplace_back(nb::object(nb::borrow(type)).release().ptr(), kind);
    return kind;
}

ArrayIn::ArrayIn(nb::handle object, const std::string& what, Access access, Holds holds)
    : kind_(kind_of(object)), access_(access), holds_(holds), object_(nb::borrow(object))
{
    if (kind_ == Kind::torch)
        take_torch(what);
    else if (kind_ == Kind::masked)
        refuse(what,
               access == Access::write
                   ? "is a masked array, whose mask a fold neither reads nor writes; give array.data"
                   : "is a masked array, and a fold looks at no mask; give array.filled(VALUE), where VALUE "
                     "changes no result");
    else if (kind_ == Kind::numpy)
        take_buffer(what, access);
    else if (kind_ == Kind::jax && access == Access::write)
        refuse(what, "is an array of JAX, which nobody may write");
    else if (kind_ != Kind::jax && PyObject_HasAttr(object.ptr(), names().cuda_array_interface.ptr()))
        take_cuda_interface(what, access);
    else if (kind_ != Kind::jax && ArrowLender::is(object))
        take_arrow(what, access);
    else if (PyObject_HasAttr(object.ptr(), names().dlpack.ptr())) {
        require_no_missing_values(object, what);
        take_dlpack(what, access);
    } else if (PyObject_CheckBuffer(object.ptr()))
        take_buffer(what, access);
    else {
        require_no_missing_values(object, what);
        refuse_no_array(object, what);
    }
}

ArrayIn::ArrayIn(ArrayIn&& other) noexcept = default;
ArrayIn& ArrayIn::operator=(ArrayIn&& other) noexcept = default;
ArrayIn::~ArrayIn() = default;

void ArrayIn::ReleaseBuffer::operator()(Py_buffer* buffer) const
{
    PyBuffer_Release(buffer);
    delete buffer;
}

void ArrayIn::ReleaseArrow::operator()(ArrowIn* arrow) const { delete arrow; }

const SegmentsView* ArrayIn::lists() const
{
    return arrow_ && arrow_->segments ? &*arrow_->segments : nullptr;
}

void ArrayIn::take_memory(const std::string& what, Type type, const void* data, Place place,
                          std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides)
{
    require_countable(what, sizes);
    if (!strides.empty())
        require_no_gaps(what, sizes, strides, static_cast<std::int64_t>(size_bytes(type)), access_);
    view_ = ArrayView(type, data, sizes[0], place);
    if (holds_ == Holds::rows) {
        view_.length *= sizes[1];
        view_.num_features = sizes[1];
    }
    if (view_.length > 0 && reinterpret_cast<std::uintptr_t>(data) % size_bytes(type) != 0)
        refuse(what, std::string("does not begin at a multiple of its elements' size; give ") +
                         (access_ == Access::write ? "an array that does, as numpy.empty() makes it"
                                                   : "an aligned copy"));
}

void ArrayIn::take_bfloat16(const std::string& what, Access access)
{
    exported_ = object_.attr("view")("uint16");
    std::swap(object_, exported_);
    take_buffer(what, access);
    std::swap(object_, exported_);
    view_.type = Type::bf16;
}

void ArrayIn::take_buffer(const std::string& what, Access access)
{
    auto buffer = std::make_unique<Py_buffer>();
    const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (access == Access::write ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object_.ptr(), buffer.get(), flags) != 0) {
        const nb::python_error error;
        if (kind_ == Kind::numpy) {
            const auto dtype = text_of(object_.attr("dtype"));
            if (dtype == "bfloat16") {
                take_bfloat16(what, access);
                return;
            }
            if (access == Access::write && !nb::cast<bool>(object_.attr("flags").attr("writeable")))
                refuse_read_only(what);
            refuse_elements(what, dtype);
        }
        if (access == Access::write)
            refuse_read_only(what);
        refuse(what, fmt::format("does not lend its memory: {}", text_of(error)));
    }
    buffer_.reset(buffer.release());
    const auto& taken = *buffer_;
    if (taken.ndim < 0 || (taken.ndim > 0 && taken.shape == nullptr))
        refuse(what, fmt::format("lends a buffer of {} dimensions without a shape", taken.ndim));
    const std::vector<std::int64_t> sizes(taken.shape, taken.shape + taken.ndim);
    require_dimensions(what, holds_, sizes, object_);
    const std::string_view format = taken.format == nullptr ? "B" : taken.format;
    const auto type = type_of_format(format, taken.itemsize);
    if (!type || static_cast<std::int64_t>(size_bytes(*type)) != taken.itemsize)
        refuse_elements(what, kind_ == Kind::numpy ? text_of(object_.attr("dtype"))
                                                   : fmt::format("'{}' of {} bytes", format, taken.itemsize));
    require_countable(what, sizes);
    const auto count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    if (count * taken.itemsize > taken.len || (taken.len > 0 && taken.buf == nullptr))
        refuse(what, fmt::format("lends a buffer of {} bytes for {} elements of {}",
                                 taken.buf == nullptr ? 0 : taken.len, count, taken.itemsize));
    std::vector<std::int64_t> strides;
    if (taken.strides != nullptr)
        strides.assign(taken.strides, taken.strides + taken.ndim);
    take_memory(what, *type, taken.buf, Place::host, sizes, strides);
}

void ArrayIn::take_torch(const std::string& what)
{
    const auto& n = names();
    const nb::object dtype = object_.attr(n.dtype);
    const auto type = torch_types().find(dtype);
    if (!type)
        refuse_elements(what, text_of(dtype));
    const auto sizes = sizes_of_torch(object_, what);
    require_dimensions(what, holds_, sizes, object_);
    std::vector<std::int64_t> strides;
    if (const nb::object contiguous = called(object_, n.is_contiguous); contiguous.ptr() != Py_True)
        for (std::size_t i = 0; i < sizes.size(); ++i)
            strides.push_back(nb::cast<std::int64_t>(object_.attr("stride")(i)) *
                              static_cast<std::int64_t>(size_bytes(*type)));
    if (object_.attr(n.requires_grad).ptr() == Py_True)
        refuse(what, fmt::format(
                         "asks for its gradient; give {}.detach() to go without, or call segfold.torch.fold, "
                         "which knows gradients",
                         what));
    if (is_float(*type) && called(object_, n.is_neg).ptr() == Py_True)
        refuse(what, fmt::format("is a view that negates its memory; give {}.resolve_neg()", what));
    std::uintptr_t address = 0;
    try {
        address = nb::cast<std::uintptr_t>(called(object_, n.data_ptr));
    } catch (const nb::python_error&) {  // tensors of torch.func have no address
        refuse_strange_tensor(object_, what);
    }
    // Reads the kind of device only for a refusal, because torch builds that text anew each time.
    const bool is_on_host = object_.attr(n.is_cuda).ptr() != Py_True;
    if (is_on_host && object_.attr(n.is_cpu).ptr() != Py_True)
        refuse(what, fmt::format("lies on a device of kind '{}'; segfold folds on CPUs and CUDA devices",
                                 text_of(object_.attr(n.device).attr("type"))));
    device_ = is_on_host ? 0 : nb::cast<int>(called(object_, n.get_device));
    take_memory(what, *type, reinterpret_cast<const void*>(address), is_on_host ? Place::host : Place::device,
                sizes, strides);
    if (address == 0 && view_.length > 0)
        refuse_strange_tensor(object_, what);
}

void ArrayIn::take_cuda_interface(const std::string& what, Access access)
{
    const auto facts = CudaInterface::of(object_, what);
    require_dimensions(what, holds_, facts.shape, object_);
    const auto type = facts.type();
    if (!type)
        refuse_elements(what, facts.typestr);
    if (access == Access::write && facts.is_read_only)
        refuse_read_only(what);
    own_stream_ = facts.stream;
    const auto* address = reinterpret_cast<const void*>(facts.address);
    device_ =
        kind_ == Kind::cupy ? nb::cast<int>(object_.attr("device").attr("id")) : device_of_address(address);
    take_memory(what, *type, address, Place::device, facts.shape, facts.strides);
}

void ArrayIn::take_arrow(const std::string& what, Access access)
{
    if (access == Access::write)
        refuse_read_only(what);
    arrow_.reset(new ArrowIn(object_, what, holds_));
    require_dimensions(what, holds_, arrow_->sizes, object_);
    take_memory(what, arrow_->type, arrow_->data, Place::host, arrow_->sizes, {});
}

nb::object ArrayIn::dlpack_capsule(const std::string& what) const
{
    if (kind_ == Kind::jax) {
        wait_for_jax(object_, what);
        return object_;
    }
    const auto method = object_.attr(names().dlpack);
    try {
        try {  // some newer libraries warn if no version is requested
            return method(nb::arg("max_version") = nb::make_tuple(1, 0));
        } catch (const nb::python_error& error) {
            if (!is_of_arguments(error))
                throw;
            return method();  // the library predates the argument max_version
        }
    } catch (const nb::python_error& error) {
        refuse(what, fmt::format("does not lend its memory: {}", text_of(error)));
    }
}

void ArrayIn::take_dlpack(const std::string& what, Access access)
{
    const nb::object lent = dlpack_capsule(what);
    if (kind_ != Kind::jax && require_dlpack(lent, what) && access == Access::write)
        refuse_read_only(what);
    if (!nb::try_cast(lent, imported_, false))
        refuse(what, fmt::format("is a {} whose __dlpack__ gives no tensor", class_name(object_)));
    std::vector<std::int64_t> sizes, strides;
    for (std::size_t i = 0; i < imported_.ndim(); ++i)
        sizes.push_back(static_cast<std::int64_t>(imported_.shape(i)));
    require_dimensions(what, holds_, sizes, object_);
    const auto type = type_of_dlpack(imported_.dtype());
    if (!type)
        refuse_elements(what, fmt::format("DLPack code {}, {} bits, {} lanes", imported_.dtype().code,
                                          imported_.dtype().bits, imported_.dtype().lanes));
    for (std::size_t i = 0; i < imported_.ndim(); ++i)
        strides.push_back(in_bytes(imported_.stride(i), *type));
    const auto device = imported_.device_type();
    const bool is_on_host = device == nb::device::cpu::value || device == nb::device::cuda_host::value;
    if (!is_on_host && device != nb::device::cuda::value && device != nb::device::cuda_managed::value)
        refuse(what,
               fmt::format("lies on a device of DLPack's kind {}; segfold folds on CPUs and CUDA devices",
                           device));
    device_ = is_on_host ? 0 : imported_.device_id();
    take_memory(what, *type, imported_.data(), is_on_host ? Place::host : Place::device, sizes, strides);
}

}  // namespace segfold::python
