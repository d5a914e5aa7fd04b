// The extension module `segfold._segfold`, which gives Python access to sessions, folds and plans.
#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include "dsl/error.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/interrupt.h"
#include "runtime/python/bind/names.h"
#include "runtime/python/bind/operator.h"
#include "runtime/python/bind/stream.h"
#include "runtime/python/bind/verbs.h"

namespace segfold::python {
namespace {

PyObject *error_class, *spec_error_class, *input_error_class, *open_type_error_class, *device_error_class,
    *check_error_class, *internal_error_class;

PyObject* add_error(nb::module_& module, const char* name, const char* doc, const nb::handle& bases)
{
    const auto path = fmt::format("segfold.{}", name);
    PyObject* made = PyErr_NewExceptionWithDoc(path.c_str(), doc, bases.ptr(), nullptr);
    if (made == nullptr)
        throw nb::python_error();
    module.attr(name) = nb::handle(made);
    return made;
}

void add_errors(nb::module_& module)
{
    const auto builtin = nb::module_::import_("builtins");
    error_class = add_error(module, "Error", "The base of all errors of segfold.", builtin.attr("Exception"));
    const nb::handle base = error_class;
    spec_error_class =
        add_error(module, "SpecError", "An operator or a stage is wrong; the message points at the place.",
                  nb::make_tuple(base, builtin.attr("ValueError")));
    input_error_class = add_error(
        module, "InputError",
        "Arrays, segments or options are wrong; the message says what was found and what would be right.",
        nb::make_tuple(base, builtin.attr("ValueError")));
    open_type_error_class =
        add_error(module, "OpenTypeError",
                  "An attribute of an operator that the type ``T`` decides is asked for before there is one.",
                  nb::make_tuple(nb::handle(input_error_class), builtin.attr("AttributeError")));
    device_error_class = add_error(module, "DeviceError", "The device, the driver or a compiler failed.",
                                   nb::make_tuple(base, builtin.attr("RuntimeError")));
    check_error_class =
        add_error(module, "CheckError", "Results differ from what they should be: of ``check=True``.", base);
    internal_error_class = add_error(module, "InternalError", "A fault of segfold's own.", base);
    nb::register_exception_translator([](const std::exception_ptr& pointer, void* /*payload*/) {
        try {
            std::rethrow_exception(pointer);
        } catch (const SpecError& error) {
            PyErr_SetString(spec_error_class, error.what());
        } catch (const InputError& error) {
            PyErr_SetString(input_error_class, error.what());
        } catch (const DeviceError& error) {
            PyErr_SetString(device_error_class, error.what());
        } catch (const InternalError& error) {
            PyErr_SetString(internal_error_class, error.what());
        } catch (const Error& error) {
            PyErr_SetString(error_class, error.what());
        }
    });
}

}  // namespace

void raise_open_type(const InputError& error)
{
    PyErr_SetString(open_type_error_class, error.what());
    throw nb::python_error();
}

void raise_check(const std::string& message)
{
    PyErr_SetString(check_error_class, message.c_str());
    throw nb::python_error();
}

std::string text_of(nb::handle object)
{
    const nb::object text = nb::steal(PyObject_Str(object.ptr()));
    if (!text.is_valid())
        throw nb::python_error();
    return nb::cast<std::string>(text);
}

std::string text_of(const nb::python_error& error)
{
    return fmt::format("{}: {}", text_of(error.type().attr("__name__")), text_of(error.value()));
}

const Names& names()
{
    const auto interned = [](const char* text) {
        return nb::steal<nb::str>(PyUnicode_InternFromString(text));
    };
    static const auto* made = new Names{interned("__arrow_c_array__"),
                                        interned("__arrow_c_stream__"),
                                        interned("cpu"),
                                        interned("__cuda_array_interface__"),
                                        interned("data_ptr"),
                                        interned("device"),
                                        interned("__dlpack__"),
                                        interned("dtype"),
                                        interned("get_device"),
                                        interned("is_contiguous"),
                                        interned("is_cpu"),
                                        interned("is_cuda"),
                                        interned("is_neg"),
                                        interned("ndim"),
                                        interned("new_empty"),
                                        interned("requires_grad"),
                                        interned("shape")};
    return *made;
}

}  // namespace segfold::python

NB_MODULE(_segfold, module)
{
    using namespace segfold::python;
    module.doc() = "The calls of the C++ library; use them through the package segfold.";
    module.attr("__version__") = SEGFOLD_VERSION;
    // torch keeps registered objects, and with them operators, after the interpreter's end. nanobind would
    // report these as leaks.
    nb::set_leak_warnings(false);
    add_errors(module);
    note_main_thread();
    segfold::cuda::set_cpu_option("backend=\"cpu\"");
    bind_device_array(module);
    bind_operator(module);
    bind_plan(module);
    bind_stream(module);
    bind_verbs(module);
    bind_trace(module);
    bind_xla(module);
    module.def("wait_for_abandoned", &wait_for_abandoned);
}
