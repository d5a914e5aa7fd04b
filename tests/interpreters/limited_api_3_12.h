#pragma once
// What the limited API of Python 3.12 has and headers of 3.11 hide, as far as nanobind and the extension use
// it.
#include <Python.h>

#if PY_VERSION_HEX < 0x030C0000
#define PY_VECTORCALL_ARGUMENTS_OFFSET (static_cast<size_t>(1) << (8 * sizeof(size_t) - 1))
extern "C" {
PyObject* PyObject_Vectorcall(PyObject* callable, PyObject* const* arguments, size_t count, PyObject* names);
PyObject* PyObject_VectorcallMethod(PyObject* name, PyObject* const* arguments, size_t count,
                                    PyObject* names);
PyObject* PyErr_GetRaisedException(void);
void PyErr_SetRaisedException(PyObject* error);
}
#endif
