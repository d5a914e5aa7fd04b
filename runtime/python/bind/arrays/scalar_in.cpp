// Converts Python numbers to scalars of an operator.
#include <fmt/format.h>

#include <cmath>

#include "dsl/error.h"
#include "dsl/rounding.h"
#include "runtime/data/formats/number_text.h"
#include "runtime/python/bind/arrays/array_in.h"
#include "runtime/python/bind/arrays/arrow_interface.h"
#include "runtime/python/bind/names.h"

namespace segfold::python {
namespace {

/// Compares a Python number with `real`, the double nearest to it. Returns -1 if the number is smaller, 0 if
/// equal, and 1 if larger.
int side_of(const nb::object& number, double real)
{
    if (PyFloat_Check(number.ptr()) || !std::isfinite(real))
        return 0;
    const nb::float_ nearest(real);
    const int is_greater = PyObject_RichCompareBool(number.ptr(), nearest.ptr(), Py_GT);
    const int is_less = PyObject_RichCompareBool(number.ptr(), nearest.ptr(), Py_LT);
    PyErr_Clear();  // numbers that cannot be compared count as equal
    return (is_greater == 1) - (is_less == 1);
}

}  // namespace

ArrayIn ArrayIn::scalar(nb::handle value, const std::string& what, Type type)
{
    const bool is_array =
        kind_of(value) != Kind::other || PyObject_HasAttr(value.ptr(), names().dlpack.ptr()) ||
        PyObject_HasAttr(value.ptr(), names().cuda_array_interface.ptr()) || ArrowLender::is(value) ||
        (PyObject_CheckBuffer(value.ptr()) && !PyNumber_Check(value.ptr()));
    const auto dimensions = is_array ? nb::getattr(value, "ndim", nb::none()) : nb::object(nb::none());
    int num_dimensions = 0;
    if (PyLong_Check(dimensions.ptr()) && nb::try_cast(dimensions, num_dimensions) && num_dimensions == 0 &&
        kind_of(value) != Kind::masked) {
        // The value is a number of NumPy or JAX. Numbers of torch and CuPy may be on a GPU and are left
        // there.
        const bool stays = kind_of(value) == Kind::torch || kind_of(value) == Kind::cupy;
        return scalar(stays ? value.attr("reshape")(1) : value.attr("item")(), what, type);
    }
    if (is_array) {
        ArrayIn array(value, what);
        if (array.view_.length != 1)
            throw InputError(
                fmt::format("'{}' has {} values; it is a scalar: give a number, or an array of one", what,
                            array.view_.length));
        return array;
    }
    ArrayIn array;
    array.object_ = nb::borrow(value);
    array.take_number(what, type);
    return array;
}

void ArrayIn::take_number(const std::string& what, Type type)
{
    const auto refuse_value = [&](std::string_view wanted) {
        throw InputError(fmt::format("'{}' is {}, and the operator takes {} there", what,
                                     text_of(nb::repr(object_)), wanted));
    };
    std::uint64_t bits = 0;
    if (type == Type::boolean) {
        if (!PyBool_Check(object_.ptr()) && text_of(object_.type().attr("__name__")).rfind("bool", 0) != 0)
            refuse_value("True or False");
        bits = PyObject_IsTrue(object_.ptr()) == 1 ? 1 : 0;
    } else if (PyBool_Check(object_.ptr())) {
        refuse_value(fmt::format("a number of type {}", segfold::name(type)));
    } else if (is_float(type)) {
        const double real = PyFloat_AsDouble(object_.ptr());
        if (real == -1.0 && PyErr_Occurred() != nullptr) {
            const nb::python_error error;
            refuse_value(fmt::format("a number of type {}", segfold::name(type)));
        }
        const auto rounded = round_to(type, near_real(real, side_of(object_, real)));
        bits = bits_of_real(type, rounded);
        if (std::isfinite(real) && !std::isfinite(rounded))
            refuse_value(fmt::format("a number that {} can hold", segfold::name(type)));
    } else {
        const auto size = 8 * static_cast<int>(size_bytes(type));
        const nb::object integer = nb::steal(PyNumber_Index(object_.ptr()));
        if (!integer.is_valid()) {
            const nb::python_error error;
            refuse_value(fmt::format("an integer of type {}", segfold::name(type)));
        }
        std::int64_t number = 0;
        std::uint64_t magnitude = 0;
        bool fits = false;
        if (is_signed_integer(type))
            fits = nb::try_cast(integer, number, false) &&
                   (size == 64 ||
                    (number >= -(std::int64_t{1} << (size - 1)) && number < std::int64_t{1} << (size - 1)));
        else
            fits = nb::try_cast(integer, magnitude, false) && (size == 64 || magnitude >> size == 0);
        if (!fits)
            refuse_value(fmt::format("an integer of type {} ({})", segfold::name(type), range_text(type)));
        bits = is_signed_integer(type) ? static_cast<std::uint64_t>(number) : magnitude;
    }
    exported_ = nb::bytes(reinterpret_cast<const char*>(&bits), sizeof bits);
    view_ = ArrayView(type, PyBytes_AsString(exported_.ptr()), 1);
}

}  // namespace segfold::python
