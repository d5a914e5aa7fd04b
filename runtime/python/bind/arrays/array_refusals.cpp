#include "runtime/python/bind/arrays/array_refusals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "dsl/error.h"
#include "runtime/python/bind/names.h"
#include "runtime/session/borrowed.h"

namespace segfold::python {
namespace {

/// Letters of signed integers, unsigned integers and floats in NumPy's type names.
constexpr std::string_view kNumbers = "iuf";

/// Returns advice on how to convert elements to a type that segfold folds; empty if there is none.
std::string way_out(const std::string& what, std::string_view elements)
{
    if (elements.find("datetime64") != elements.npos || elements.find("timedelta64") != elements.npos)
        return fmt::format("; dates and durations are folded as int64: give {}.view(\"i8\")", what);
    if (elements == "object")
        return fmt::format(
            "; objects of Python are none of these: give {0}.astype(float), of text the codes "
            "numpy.unique({0}, return_inverse=True)[1], of pandas with missing values to_numpy(float, "
            "na_value=VALUE), where VALUE changes no result",
            what);
    for (const std::string_view text : {"<U", ">U", "|S", "StringDType", "string"})
        if (elements.starts_with(text))
            return fmt::format("; text is folded as codes: give numpy.unique({}, return_inverse=True)[1]",
                               what);
    if (elements.starts_with("torch.complex"))
        return fmt::format(
            "; complex numbers are two columns: give {0}.real.contiguous() and {0}.imag.contiguous()", what);
    if (elements.starts_with("complex") || elements.starts_with(">c"))
        return fmt::format("; complex numbers are two columns: give {0}.real.copy() and {0}.imag.copy()",
                           what);
    if (elements.starts_with("[(") || elements.starts_with("{'names'"))
        return fmt::format("; each field is a column: give {}[NAME].copy()", what);
    if (elements.starts_with(">") && elements.size() > 1 && kNumbers.find(elements[1]) != kNumbers.npos)
        return fmt::format("; give {}.astype(\"{}\")", what, elements.substr(1));
    return "";
}

template <class Sizes>
std::string shape_text(const Sizes& sizes)
{
    return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

}  // namespace

std::string class_name(nb::handle object)
{
    return text_of(object.type().attr("__module__")) + "." + text_of(object.type().attr("__qualname__"));
}

void refuse_no_array(nb::handle object, const std::string& what)
{
    std::string way;
    if (nb::hasattr(object, "columns") &&
        (nb::hasattr(object, "to_numpy") || nb::hasattr(object, "to_pandas")))
        way = fmt::format(": give {}[NAME].to_numpy(), a column", what);
    else if (nb::hasattr(object, "to_numpy"))
        way = fmt::format(": give {}.to_numpy()", what);
    else if (nb::hasattr(object, "tocsr"))
        way = fmt::format(": give {0}.data, of a CSR matrix, with offsets={0}.indptr", what);
    else if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || PyRange_Check(object.ptr()) ||
             nb::hasattr(object, "__array__") || nb::hasattr(object, "__array_interface__"))
        way = fmt::format(": give numpy.asarray({})", what);
    refuse(what,
           fmt::format("is a {}; an array of NumPy, torch, CuPy, JAX or Arrow is needed, or one that speaks "
                       "DLPack, __cuda_array_interface__ or the buffer protocol{}",
                       class_name(object), way));
}

void refuse_strange_tensor(nb::handle tensor, const std::string& what)
{
    const auto is = [&](const char* asked) {
        return nb::hasattr(tensor, asked) && nb::cast<bool>(tensor.attr(asked));
    };
    if (is("is_nested"))
        refuse(what, fmt::format("is a nested tensor; give {0}.values() with offsets={0}.offsets()", what));
    refuse(what, fmt::format("is a {} without memory of its own, as inside of torch.func.vmap and of "
                             "FakeTensorMode; segfold.torch.fold works there",
                             class_name(tensor)));
}

void refuse(const std::string& what, const std::string& why)
{
    throw InputError(fmt::format("'{}' {}", what, why));
}

void refuse_elements(const std::string& what, std::string_view elements)
{
    refuse(what, fmt::format("holds elements of type {}; segfold folds bool, 8 to 64 bit integers, float16, "
                             "bfloat16, float32 and float64 in the machine's byte order{}",
                             elements, way_out(what, elements)));
}

void require_countable(const std::string& what, std::span<const std::int64_t> sizes)
{
    std::int64_t count = 1;
    for (const auto size : sizes)
        if (__builtin_mul_overflow(count, size, &count) || count < 0 || count > kMostLentElements)
            refuse(what,
                   fmt::format("has shape ({}{}); an array can have {} elements at most",
                               fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "", kMostLentElements));
}

void require_dimensions(const std::string& what, Holds holds, std::span<const std::int64_t> sizes,
                        nb::handle object)
{
    if (holds != Holds::rows && sizes.size() != 1) {
        // A numpy.matrix keeps two dimensions even after reshape(-1).
        const bool is_matrix = class_name(object).ends_with(".matrix");
        const auto flat = (is_matrix ? fmt::format("numpy.asarray({})", what) : what) + ".reshape(-1)";
        std::string way;
        if (holds == Holds::elements && sizes.size() > 1)
            way = fmt::format(
                ": give {}, which makes each number an element, or an operator over rows (x: row f32), which "
                "folds rows of features",
                flat);
        else if (is_matrix)
            way = fmt::format(": give {}", flat);
        refuse(what,
               fmt::format("has shape {}; an array of one dimension is needed{}", shape_text(sizes), way));
    }
    if (holds == Holds::rows && sizes.size() != 2)
        refuse(what, fmt::format("has shape {}; an array of two dimensions is needed, a row of features for "
                                 "each entry",
                                 shape_text(sizes)));
    if (holds == Holds::rows && sizes[1] == 0)
        refuse(what, fmt::format("has shape {}; a row has at least one feature", shape_text(sizes)));
}

void require_no_gaps(const std::string& what, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> strides, std::int64_t item_bytes, Access access)
{
    const bool is_read = access == Access::read;
    if (sizes.size() == 1) {
        if (sizes[0] > 1 && strides[0] != item_bytes)
            refuse(what,
                   fmt::format("has a stride of {} bytes for elements of {}; elements must lie side by side, "
                               "{}",
                               strides[0], item_bytes,
                               is_read ? "and segfold copies nothing by itself: give a contiguous copy"
                                       : "and results are written there: give a contiguous array"));
        return;
    }
    const std::array wanted = {sizes[1] * item_bytes, item_bytes};
    const bool is_right = sizes[0] == 0 || ((sizes[0] == 1 || strides[0] == wanted[0]) &&
                                            (sizes[1] == 1 || strides[1] == wanted[1]));
    if (is_right)
        return;
    const bool is_fortran = strides[0] == item_bytes && strides[1] == sizes[0] * item_bytes;
    refuse(what,
           fmt::format("of shape {} {} strides of {} bytes; rows must lie one behind the other, with "
                       "strides of {} bytes, {}",
                       shape_text(sizes), is_fortran ? "is in Fortran order, with" : "has",
                       shape_text(strides), shape_text(wanted),
                       is_read ? "and segfold copies nothing by itself: give a contiguous copy in C order"
                               : "and results are written there: give a C-contiguous array"));
}

void require_no_missing_values(nb::handle object, const std::string& what)
{
    const auto module = text_of(object.type().attr("__module__"));
    const auto root = module.substr(0, module.find('.'));
    if (root == "pandas" && nb::hasattr(object, "isna") && !nb::hasattr(object, "columns") &&
        nb::cast<bool>(nb::bool_(object.attr("isna")().attr("any")())))
        refuse(what, fmt::format("has missing values (NA), and a fold knows none; give {}.to_numpy(dtype, "
                                 "na_value=VALUE), where VALUE changes no result, or {}.dropna().to_numpy()",
                                 what, what));
}

}  // namespace segfold::python
