"""Arrays of Arrow's C data interface, made without a library of Arrow, that count how often they are released."""

import ctypes

import numpy as np

_POINTER = ctypes.c_void_p


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
_RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
_RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
_GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
_LAST_ERROR = ctypes.CFUNCTYPE(_POINTER, ctypes.POINTER(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
    ("release", _RELEASE_SCHEMA), ("private_data", _POINTER),
]  # fmt: skip
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(_POINTER)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)), ("release", _RELEASE_ARRAY), ("private_data", _POINTER),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", _GET_SCHEMA), ("get_next", _GET_NEXT), ("get_last_error", _LAST_ERROR), ("release", _RELEASE_STREAM),
    ("private_data", _POINTER),
]  # fmt: skip

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [_POINTER, ctypes.c_char_p, _POINTER]


class Part:
    """One array: buffers, of which None is none, and at most one child."""

    def __init__(self, length, *buffers, child=None, null_count=0, offset=0):
        self.length, self.buffers, self.child, self.null_count, self.offset = length, buffers, child, null_count, offset


class Lender:
    """Lends one part by ``__arrow_c_array__``; what it lent is counted by ``held`` until it is released."""

    def __init__(self, formats, *parts):
        self.formats = list(formats)
        self.parts = list(parts)
        self.held = 0
        self.kept = []  # what structures point to

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self._schema(self.formats), self._array(self.parts[0])
        self.kept += [schema, array]
        return self._capsule(schema, b"arrow_schema"), self._capsule(array, b"arrow_array")

    def _capsule(self, structure, name):
        self.kept.append(name)
        return _new_capsule(ctypes.addressof(structure), name, None)

    def _release(self, kind):
        def release(pointer):
            self.held -= 1
            pointer.contents.release = kind()

        self.held += 1
        self.kept.append(kind(release))
        return self.kept[-1]

    def _schema(self, formats):
        schema = Schema(format=formats[0], release=self._release(_RELEASE_SCHEMA))
        if len(formats) > 1:
            child = self._schema(formats[1:])
            child.release = _RELEASE_SCHEMA()  # a child goes with its parent
            self.held -= 1
            schema.n_children, schema.children = 1, self._list(child)
        return schema

    def _list(self, structure):
        pointers = (ctypes.POINTER(type(structure)) * 1)(ctypes.pointer(structure))
        self.kept += [structure, pointers]
        return ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(type(structure))))

    def _array(self, part):
        array = Array(length=part.length, null_count=part.null_count, offset=part.offset, n_buffers=len(part.buffers),
                      release=self._release(_RELEASE_ARRAY))  # fmt: skip
        addresses = [None if buffer is None else buffer.ctypes.data for buffer in part.buffers]
        buffers = (_POINTER * max(1, len(addresses)))(*addresses)
        self.kept += [part.buffers, buffers]
        array.buffers = ctypes.cast(buffers, ctypes.POINTER(_POINTER))
        if part.child is not None:
            child = self._array(part.child)
            child.release = _RELEASE_ARRAY()
            self.held -= 1
            array.n_children, array.children = 1, self._list(child)
        return array


class StreamLender(Lender):
    """Lends its parts by ``__arrow_c_stream__``, and fails after the last one where ``failure`` says of what."""

    __arrow_c_array__ = property()  # hidden

    failure = None

    def __arrow_c_stream__(self, requested_schema=None):
        rest = iter(self.parts)

        def get_schema(stream, into):
            ctypes.memmove(into, ctypes.byref(self._keep(self._schema(self.formats))), ctypes.sizeof(Schema))
            return 0

        def get_next(stream, into):
            part = next(rest, None)
            if part is None and self.failure is not None:
                return 5
            made = Array() if part is None else self._array(part)
            ctypes.memmove(into, ctypes.byref(self._keep(made)), ctypes.sizeof(Array))
            return 0

        words = self._keep(ctypes.create_string_buffer(self.failure or b""))
        functions = _GET_SCHEMA(get_schema), _GET_NEXT(get_next), _LAST_ERROR(lambda stream: ctypes.addressof(words))
        stream = self._keep(Stream(*self._keep(functions), release=self._release(_RELEASE_STREAM)))
        return self._capsule(stream, b"arrow_array_stream")

    def _keep(self, made):
        self.kept.append(made)
        return made


def bits(flags):
    """Bits of what is no null."""
    return np.packbits(np.array(flags, bool), bitorder="little")
