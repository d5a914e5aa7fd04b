#include "runtime/python/bind/arrays/array_refusals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/error.h"
#include "runtime/python/bind/names.h"
#include "runtime/session/borrowed.h"

namespace segfold::python {
namespace {

/// The letters of integers and floating-point numbers in NumPy's names of types that are not of the machine's
/// byte order.
constexpr std::string_view kNumbers = "iuf";

/// How elements that are not folded become ones that are; empty where nothing is known.
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
    if (elements.starts_with("complex") || elements.starts_with(">c"))
        return fmt::format("; complex numbers are two columns: give {0}.real.copy() and {0}.imag.copy()",
                           what);
    if (elements.starts_with("[(") || elements.starts_with("{'names'"))
        return fmt::format("; each field is a column: give {}[NAME].copy()", what);
    if (elements.starts_with(">") && elements.size() > 1 && kNumbers.find(elements[1]) != kNumbers.npos)
        return fmt::format("; give {}.astype(\"{}\")", what, elements.substr(1));
    return "";
}

}  // namespace

std::string class_name(nb::handle object)
{
    return text_of(object.type().attr("__module__")) + "." + text_of(object.type().attr("__qualname__"));
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

void require_no_missing_values(nb::handle object, const std::string& what)
{
    const auto module = text_of(object.type().attr("__module__"));
    const auto root = module.substr(0, module.find('.'));
    if (root == "pyarrow" && nb::hasattr(object, "null_count") &&
        nb::cast<std::int64_t>(object.attr("null_count")) > 0)
        refuse(what,
               fmt::format("has {} nulls, and a fold knows no missing values; give {}.fill_null(VALUE), "
                           "where VALUE changes no result, or {}.drop_null()",
                           nb::cast<std::int64_t>(object.attr("null_count")), what, what));
    if (root == "pandas" && nb::hasattr(object, "isna") &&
        nb::cast<bool>(nb::bool_(object.attr("isna")().attr("any")())) && !nb::hasattr(object, "columns"))
        refuse(what, fmt::format("has missing values (NA), and a fold knows none; give {}.to_numpy(dtype, "
                                 "na_value=VALUE), where VALUE changes no result, or {}.dropna().to_numpy()",
                                 what, what));
}

}  // namespace segfold::python
