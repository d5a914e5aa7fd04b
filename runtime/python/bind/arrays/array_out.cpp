#include "runtime/python/bind/arrays/array_out.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <set>

#include "dsl/error.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/python/bind/names.h"
#include "runtime/python/bind/sessions.h"
#include "runtime/session/core.h"

namespace segfold::python {
namespace {

/// An object of another module. It is imported when first used and kept until the process ends.
class Imported {
public:
    Imported(const char* module, const char* path) : module_(module), path_(path) {}

    nb::handle get()
    {
        if (!object_.is_valid()) {
            nb::object found = nb::module_::import_(module_);
            const std::string path = path_;
            for (std::size_t begin = 0; begin < path.size();) {
                const auto end = std::min(path.find('.', begin), path.size());
                found = found.attr(path.substr(begin, end - begin).c_str());
                begin = end + 1;
            }
            object_ = found.release();
        }
        return object_;
    }

private:
    const char* module_;
    const char* path_;
    nb::handle object_;
};

/// Returns the dtype object of a library for `type`.
nb::handle dtype_of(Kind kind, Type type)
{
    static auto* known = new std::map<std::pair<Kind, Type>, nb::handle>;
    auto& found = (*known)[{kind, type}];
    if (!found.is_valid()) {
        nb::object dtype;
        if (kind == Kind::torch) {
            dtype = nb::getattr(nb::module_::import_("torch"), dtype_name(type).c_str(), nb::none());
            if (dtype.is_none())
                throw InputError(
                    fmt::format("results are {0}, which this torch has no tensors of; take a newer one, or "
                                "write results of another type, as in i64(x)",
                                dtype_name(type)));
        } else if (type == Type::bf16)
            try {
                dtype = nb::module_::import_("numpy").attr("dtype")(
                    nb::module_::import_("ml_dtypes").attr("bfloat16"));
            } catch (const nb::python_error&) {
                throw InputError(
                    "results are bfloat16, which NumPy has only with the package ml_dtypes; install it");
            }
        else
            dtype = nb::module_::import_("numpy").attr("dtype")(dtype_name(type));
        found = dtype.release();
    }
    return found;
}

nb::dlpack::dtype dlpack_type(Type type)
{
    using Code = nb::dlpack::dtype_code;
    const Code code = type == Type::boolean     ? Code::Bool
                      : type == Type::bf16      ? Code::Bfloat
                      : is_float(type)          ? Code::Float
                      : is_signed_integer(type) ? Code::Int
                                                : Code::UInt;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_bytes(type)), 1};
}

/// Memory that segfold has allocated on a GPU. It is used for JAX, whose arrays cannot be written.
class DeviceArray {
public:
    DeviceArray(const cuda::Context& context, Type type, const ShapeOut& shape)
        : buffer_(std::make_shared<cuda::DeviceBuffer>(
              context,
              static_cast<std::size_t>(shape.length * std::max<std::int64_t>(shape.num_features, 1)) *
                  size_bytes(type))),
          type_(type),
          shape_(shape),
          device_(context.info().ordinal)
    {}

    [[nodiscard]] DeviceArray first(std::int64_t length) const
    {
        auto part = *this;
        part.shape_.length = length;
        return part;
    }
    [[nodiscard]] std::int64_t length() const { return shape_.length; }
    [[nodiscard]] nb::tuple shape() const { return shape_.tuple(); }
    [[nodiscard]] std::string dtype() const { return dtype_name(type_); }
    [[nodiscard]] int device() const { return device_; }
    [[nodiscard]] void* data() const { return reinterpret_cast<void*>(buffer_->address()); }

    [[nodiscard]] nb::dict cuda_array_interface() const
    {
        const char letter = type_ == Type::boolean     ? 'b'
                            : type_ == Type::bf16      ? 'V'
                            : is_float(type_)          ? 'f'
                            : is_signed_integer(type_) ? 'i'
                                                       : 'u';
        nb::dict facts;
        facts["shape"] = shape();
        facts["typestr"] =
            fmt::format("{}{}{}", size_bytes(type_) == 1 ? '|' : '<', letter, size_bytes(type_));
        facts["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data()), false);
        facts["strides"] = nb::none();
        facts["stream"] = nb::none();
        facts["version"] = 3;
        return facts;
    }
    [[nodiscard]] nb::object lent(const nb::object& self) const
    {
        const auto sizes = shape_.sizes();
        return nb::cast(nb::ndarray<nb::array_api>(data(), shape_.dimensions(), sizes.data(), self, nullptr,
                                                   dlpack_type(type_), nb::device::cuda::value, device_));
    }

private:
    std::shared_ptr<cuda::DeviceBuffer> buffer_;
    Type type_;
    ShapeOut shape_;
    int device_;
};

/// Returns the size argument for functions that create arrays: a number for one dimension, otherwise a tuple.
nb::object size_of_new(const ShapeOut& shape)
{
    return shape.num_features == 0 ? nb::object(nb::int_(shape.length)) : nb::object(shape.tuple());
}

/// True if a library has kept the type of an imported array. If not, warns once for each library and type.
bool is_kept_whole(const nb::object& made, Kind kind, Type type)
{
    const nb::object dtype = made.attr("dtype");
    if (dtype.equal(dtype_of(kind == Kind::torch ? kind : Kind::numpy, type)))
        return true;
    static auto* const told = new std::set<std::pair<Kind, Type>>;
    if (told->emplace(kind, type).second)
        warn({fmt::format(
            "{} would make results of {} an array of {}, so they are given as an array of NumPy, or on a GPU "
            "a "
            "segfold.DeviceArray{}; this is said once",
            kind == Kind::jax ? "JAX" : "torch", dtype_name(type), text_of(dtype),
            kind == Kind::jax ? " (jax.config.update(\"jax_enable_x64\", True) lets JAX keep them)" : "")});
    return false;
}

nb::object in_jax(const nb::object& lent)
{
    static Imported from_dlpack("jax", "dlpack.from_dlpack");
    return from_dlpack.get()(lent);
}

nb::object borrowed_array(Kind kind, Type type, const void* data, const ShapeOut& shape, nb::handle owner)
{
    const auto dimensions = shape.dimensions();
    const auto sizes = shape.sizes();
    auto* const memory = const_cast<void*>(data);
    nb::object made;
    if (kind == Kind::torch)
        made = nb::cast(nb::ndarray<nb::pytorch>(memory, dimensions, sizes.data(), owner, nullptr,
                                                 dlpack_type(type), nb::device::cpu::value));
    else if (kind == Kind::jax)
        made = in_jax(nb::cast(nb::ndarray<nb::array_api>(memory, dimensions, sizes.data(), owner, nullptr,
                                                          dlpack_type(type), nb::device::cpu::value)));
    if (made.is_valid() && is_kept_whole(made, kind, type))
        return made;
    const auto stored = type == Type::bf16 ? Type::u16 : type;
    nb::object array = nb::cast(nb::ndarray<nb::numpy>(memory, dimensions, sizes.data(), owner, nullptr,
                                                       dlpack_type(stored), nb::device::cpu::value));
    // NumPy has two 64-bit integer types with the same name. The view has the usual one of them, int64.
    if (type == Type::bf16 || type == Type::i64 || type == Type::u64)
        array = array.attr("view")(dtype_of(Kind::numpy, type));
    return array;
}

}  // namespace

nb::tuple ShapeOut::tuple() const
{
    return num_features == 0 ? nb::make_tuple(length) : nb::make_tuple(length, num_features);
}

std::array<std::size_t, 2> ShapeOut::sizes() const
{
    return {static_cast<std::size_t>(length), static_cast<std::size_t>(num_features)};
}

nb::object host_array(Kind kind, const Array& array, const std::shared_ptr<const Folded>& owner)
{
    const auto row_length = array.row_length();
    const ShapeOut shape{static_cast<std::int64_t>(array.length() / std::max<std::size_t>(row_length, 1)),
                         static_cast<std::int64_t>(row_length)};
    if (array.length() == 0) {
        const auto none = new_on_host(kind, array.type(), shape);
        if (kind != Kind::jax)
            return none;
        // DLPack refuses an empty array without an address, so JAX gets an empty NumPy array instead.
        static Imported asarray("jax", "numpy.asarray");
        const nb::object made = asarray.get()(none);
        return is_kept_whole(made, kind, array.type()) ? made : none;
    }
    const nb::capsule keeper(new std::shared_ptr<const Folded>(owner), [](void* pointer) noexcept {
        delete static_cast<std::shared_ptr<const Folded>*>(pointer);
    });
    return borrowed_array(kind, array.type(), array.data(), shape, keeper);
}

nb::object new_on_host(Kind kind, Type type, const ShapeOut& shape)
{
    if (kind == Kind::torch) {
        static Imported empty("torch", "empty");  // without device=, torch would use its default device
        return empty.get()(size_of_new(shape), nb::arg("dtype") = dtype_of(kind, type),
                           nb::arg("device") = names().cpu);
    }
    static Imported empty("numpy", "empty");
    return empty.get()(size_of_new(shape), dtype_of(Kind::numpy, type));
}

nb::object new_on_device(const ArrayIn& model, Type type, const ShapeOut& shape, Session& session)
{
    if (model.kind() == Kind::torch)
        return model.object().attr(names().new_empty)(size_of_new(shape),
                                                      nb::arg("dtype") = dtype_of(Kind::torch, type));
    if (model.kind() == Kind::cupy) {
        static Imported empty("cupy", "empty"), current("cupy", "cuda.runtime.getDevice");
        if (nb::cast<int>(current.get()()) == model.device())
            return empty.get()(size_of_new(shape), dtype_of(Kind::cupy, type));
        const nb::object device = model.object().attr("device");
        device.attr("__enter__")();
        const nb::object array = empty.get()(size_of_new(shape), dtype_of(Kind::cupy, type));
        device.attr("__exit__")(nb::none(), nb::none(), nb::none());
        return array;
    }
    return nb::cast(DeviceArray(*core(session).backend().context(), type, shape));
}

nb::object finished(Kind kind, const ArrayIn& array, std::int64_t length)
{
    const auto object = nb::borrow(array.object());
    if (nb::isinstance<DeviceArray>(object)) {
        const auto& own = nb::cast<const DeviceArray&>(object);
        const auto part = own.length() == length ? object : nb::cast(own.first(length));
        if (kind != Kind::jax)
            return part;
        const auto made = in_jax(part);
        return is_kept_whole(made, kind, array.view().type) ? made : part;
    }
    if (array.num_entries() == length)
        return object;
    const bool is_cut_by_slices =
        array.kind() != Kind::other || PyMemoryView_Check(object.ptr()) ||
        (array.view().place == Place::device && PyObject_HasAttrString(object.ptr(), "__getitem__"));
    if (is_cut_by_slices)
        return object[nb::slice(nb::int_(0), nb::int_(length), nb::int_(1))];
    if (array.view().place == Place::device)
        return object;
    // Refers to the memory instead of slicing the object, because a slice (of an array.array, say) may be a
    // copy.
    const ShapeOut shape{length, array.holds() == Holds::rows ? array.view().num_features : 0};
    return borrowed_array(Kind::numpy, array.view().type, array.view().data, shape, object);
}

std::uintptr_t current_stream(const ArrayIn& array)
{
    if (array.kind() == Kind::torch) {
        static Imported raw("torch",
                            "_C._cuda_getCurrentRawStream");  // like current_stream(), but creates no object
        static bool has_raw =
            nb::hasattr(nb::module_::import_("torch").attr("_C"), "_cuda_getCurrentRawStream");
        if (has_raw)
            return nb::cast<std::uintptr_t>(raw.get()(array.device()));
        static Imported current("torch", "cuda.current_stream");
        return nb::cast<std::uintptr_t>(current.get()(array.device()).attr("cuda_stream"));
    }
    if (array.kind() == Kind::cupy) {
        static Imported current("cupy", "cuda.get_current_stream");
        return nb::cast<std::uintptr_t>(current.get()().attr("ptr"));
    }
    return array.own_stream();
}

void bind_device_array(nb::module_& module)
{
    nb::class_<DeviceArray>(
        module, "DeviceArray",
        "An array on a GPU, as results are given where the caller's framework has no arrays to "
        "write. Speaks DLPack and ``__cuda_array_interface__``.")
        .def("__len__", &DeviceArray::length)
        .def_prop_ro("shape", &DeviceArray::shape)
        .def_prop_ro("dtype", &DeviceArray::dtype, "The elements' type by NumPy's word, ``\"float32\"``.")
        .def_prop_ro("device", &DeviceArray::device, "The ordinal of the GPU.")
        .def_prop_ro("__cuda_array_interface__", &DeviceArray::cuda_array_interface)
        .def("__dlpack__",
             [](const nb::object& self, const nb::kwargs& words) {
                 return nb::cast<const DeviceArray&>(self).lent(self).attr("__dlpack__")(**words);
             })
        .def("__dlpack_device__", [](const DeviceArray& array) { return nb::make_tuple(2, array.device()); });
}

}  // namespace segfold::python
