#include "runtime/python/bind/arrays/foreign.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string_view>

#include "runtime/python/bind/arrays/array_refusals.h"
#include "runtime/python/bind/names.h"
#include "runtime/support/text_table.h"

namespace segfold::python {
namespace {

/// Returns the value of a Python integer; nothing if it is no integer or `T` cannot represent it.
template <class T>
std::optional<T> integer_in(nb::handle value)
{
    const auto integer = nb::steal(PyNumber_Index(value.ptr()));
    if (!integer.is_valid()) {
        PyErr_Clear();
        return std::nullopt;
    }
    T number{};
    return nb::try_cast(integer, number, false) ? std::optional(number) : std::nullopt;
}

/// Reads the dictionary `__cuda_array_interface__` of an object. Throws InputError for malformed entries.
class CudaFacts {
public:
    CudaFacts(nb::handle object, const std::string& what) : what_(what)
    {
        auto facts = object.attr(names().cuda_array_interface);
        facts_ = nb::object(facts);
        if (!PyDict_Check(facts_.ptr()))
            refuse(what_, fmt::format("has a __cuda_array_interface__ that is {}; it is a dictionary",
                                      shown(facts_)));
    }
    /// Returns the entry `name`; None if it is missing.
    [[nodiscard]] nb::object optional(const char* name) const
    {
        const nb::str key(name);
        PyObject* const found = PyDict_GetItemWithError(facts_.ptr(), key.ptr());
        return found == nullptr ? nb::none() : nb::borrow(found);
    }
    [[nodiscard]] std::vector<std::int64_t> numbers(const char* name) const
    {
        const auto given = optional(name);
        auto found = numbers_in(given);
        if (!found)
            wrong(name, given, "a tuple of integers");
        return std::move(*found);
    }
    [[noreturn]] void wrong(const char* name, nb::handle given, std::string_view wanted) const
    {
        refuse(what_, fmt::format("has a __cuda_array_interface__ whose '{}' is {}; it is {}", name,
                                  shown(given), wanted));
    }

private:
    static std::string shown(nb::handle object)
    {
        constexpr std::size_t kMost = 80;
        auto text = text_of(nb::repr(object));
        if (text.size() > kMost)
            text = text.substr(0, kMost) + "...";
        return text;
    }

    const std::string& what_;
    nb::object facts_;
};

/// A tensor in DLPack's memory layout from version 1 on.
struct VersionedTensor {
    std::uint32_t major;
    std::uint32_t minor;
    void* manager;
    void (*deleter)(VersionedTensor*);
    std::uint64_t flags;
    nb::dlpack::dltensor tensor;
};

constexpr std::uint64_t kReadOnly = 1;
constexpr int kMostDimensions = 128;  // most dimensions that nanobind accepts

}  // namespace

std::optional<std::vector<std::int64_t>> numbers_in(nb::handle sequence)
{
    if (!PyTuple_Check(sequence.ptr()) && !PyList_Check(sequence.ptr()))
        return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const nb::handle item : nb::iter(sequence)) {
        const auto number = integer_in<std::int64_t>(item);
        if (!number)
            return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

CudaInterface CudaInterface::of(nb::handle object, const std::string& what)
{
    constexpr std::int64_t kNewestVersion = 3;
    const CudaFacts facts(object, what);
    CudaInterface read;
    const auto version = facts.optional("version");
    const auto number = integer_in<std::int64_t>(version);
    if (!number || *number < 0 || *number > kNewestVersion)
        facts.wrong("version", version, fmt::format("an integer from 0 to {}", kNewestVersion));
    read.shape = facts.numbers("shape");
    if (!facts.optional("strides").is_none()) {
        read.strides = facts.numbers("strides");
        if (read.strides.size() != read.shape.size())
            facts.wrong("strides", facts.optional("strides"),
                        fmt::format("a tuple of {}, as 'shape' is", read.shape.size()));
    }
    const auto typestr = facts.optional("typestr");
    if (!PyUnicode_Check(typestr.ptr()))
        facts.wrong("typestr", typestr, "a text such as '<f4'");
    read.typestr = text_of(typestr);
    read.is_bfloat16 =
        read.typestr == "<V2" && text_of(nb::getattr(object, "dtype", nb::none())) == "bfloat16";
    const auto data = facts.optional("data");
    const bool is_pair = PyTuple_Check(data.ptr()) || PyList_Check(data.ptr());
    const auto address = is_pair && nb::len(data) == 2 ? integer_in<std::uintptr_t>(data[0]) : std::nullopt;
    if (!address)
        facts.wrong("data", data, "a pair (address, whether it is read-only)");
    read.address = *address;
    const int is_read_only = PyObject_IsTrue(nb::object(data[1]).ptr());
    if (is_read_only < 0)
        throw nb::python_error();
    read.is_read_only = is_read_only == 1;
    if (const auto stream = facts.optional("stream"); !stream.is_none()) {
        const auto handle = integer_in<std::uintptr_t>(stream);
        if (!handle)
            facts.wrong("stream", stream, "an integer, or None");
        read.stream = *handle;
    }
    if (!facts.optional("mask").is_none())
        refuse(what,
               "is a masked array, and a fold looks at no mask; fill it with a value that changes no result");
    return read;
}

std::optional<Type> CudaInterface::type() const
{
    if (is_bfloat16)
        return Type::bf16;
    for (const auto& [text, type] :
         {std::pair("b1", Type::boolean), std::pair("i1", Type::i8), std::pair("i2", Type::i16),
          std::pair("i4", Type::i32), std::pair("i8", Type::i64), std::pair("u1", Type::u8),
          std::pair("u2", Type::u16), std::pair("u4", Type::u32), std::pair("u8", Type::u64),
          std::pair("f2", Type::f16), std::pair("f4", Type::f32), std::pair("f8", Type::f64)})
        if (typestr.size() == 3 && (typestr[0] == '<' || typestr[0] == '|') && typestr.substr(1) == text)
            return type;
    return std::nullopt;
}

bool require_dlpack(nb::handle capsule, const std::string& what)
{
    const auto held = [&](const char* name) {
        return PyCapsule_IsValid(capsule.ptr(), name) == 1 ? PyCapsule_GetPointer(capsule.ptr(), name)
                                                           : nullptr;
    };
    auto* const versioned = static_cast<const VersionedTensor*>(held("dltensor_versioned"));
    const auto* tensor = static_cast<const nb::dlpack::dltensor*>(held("dltensor"));
    if (versioned == nullptr && tensor == nullptr)
        refuse(what, fmt::format("has a __dlpack__ that gives {}, and no capsule of a tensor",
                                 text_of(nb::repr(capsule))));
    if (versioned != nullptr) {
        if (versioned->major != 1)
            refuse(what, fmt::format("lends a tensor of DLPack {}.{}; version 1 is read, and was asked for",
                                     versioned->major, versioned->minor));
        tensor = &versioned->tensor;
    }
    if (tensor->ndim < 0 || tensor->ndim > kMostDimensions || (tensor->ndim > 0 && tensor->shape == nullptr))
        refuse(what, fmt::format("lends a tensor of {}{}", count_text(tensor->ndim, "dimension"),
                                 tensor->shape == nullptr ? " without a shape" : ""));
    return versioned != nullptr && (versioned->flags & kReadOnly) != 0;
}

std::optional<Type> type_of_dlpack(nb::dlpack::dtype dtype)
{
    if (dtype.lanes != 1)
        return std::nullopt;
    const auto by_width = [&](std::array<std::optional<Type>, 4> types) -> std::optional<Type> {
        for (std::size_t i = 0; i < 4; ++i)
            if (dtype.bits == 8u << i)
                return types[i];
        return std::nullopt;
    };
    switch (static_cast<nb::dlpack::dtype_code>(dtype.code)) {
        case nb::dlpack::dtype_code::Bool: return by_width({Type::boolean});
        case nb::dlpack::dtype_code::Int: return by_width({Type::i8, Type::i16, Type::i32, Type::i64});
        case nb::dlpack::dtype_code::UInt: return by_width({Type::u8, Type::u16, Type::u32, Type::u64});
        case nb::dlpack::dtype_code::Float: return by_width({std::nullopt, Type::f16, Type::f32, Type::f64});
        case nb::dlpack::dtype_code::Bfloat: return by_width({std::nullopt, Type::bf16});
        default: return std::nullopt;
    }
}

bool is_of_arguments(const nb::python_error& error)
{
    if (!error.type().is(nb::handle(PyExc_TypeError)))
        return false;
    const auto text = text_of(error);
    return text.find("argument") != std::string::npos || text.find("max_version") != std::string::npos;
}

}  // namespace segfold::python
