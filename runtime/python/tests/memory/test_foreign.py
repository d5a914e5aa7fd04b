"""What objects of other libraries say of their memory: looked at before it is believed, and told in words."""

import array
import ctypes
import gc
import warnings

import numpy as np
import pytest

import segfold as sf

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
OFFSETS = np.array([0, 3, 5, 5, 9])
SUM = sf.standard.sum


def said(call):
    with pytest.raises(sf.InputError) as caught:
        call()
    return str(caught.value)


class OnGpu:
    def __init__(self, facts):
        self.__cuda_array_interface__ = facts


GOOD = {"shape": (9,), "typestr": "<f4", "data": (0, False), "version": 3}

WRONG_FACTS = {
    "'shape' is None; it is a tuple of integers": {"shape": None},
    "'shape' is 9; it is a tuple of integers": {"shape": 9},
    "'shape' is '9'; it is a tuple of integers": {"shape": "9"},
    "'shape' is (9.0,); it is a tuple of integers": {"shape": (9.0,)},
    "'shape' is (1267650600228229401496703205376,); it is a tuple of integers": {"shape": (2**100,)},
    "'strides' is 4; it is a tuple of integers": {"strides": 4},
    "'strides' is (); it is a tuple of 1, as 'shape' is": {"strides": ()},
    "'strides' is (4, 4); it is a tuple of 1, as 'shape' is": {"strides": (4, 4)},
    "'typestr' is None; it is a text such as '<f4'": {"typestr": None},
    "'typestr' is b'<f4'; it is a text such as '<f4'": {"typestr": b"<f4"},
    "'data' is None; it is a pair (address, whether it is read-only)": {"data": None},
    "'data' is 4096; it is a pair (address, whether it is read-only)": {"data": 4096},
    "'data' is (4096,); it is a pair (address, whether it is read-only)": {"data": (4096,)},
    "'data' is ('4096', False); it is a pair (address, whether it is read-only)": {"data": ("4096", False)},
    "'data' is (-1, False); it is a pair (address, whether it is read-only)": {"data": (-1, False)},
    "'version' is None; it is an integer from 0 to 3": {"version": None},
    "'version' is 'new'; it is an integer from 0 to 3": {"version": "new"},
    "'version' is 4; it is an integer from 0 to 3": {"version": 4},
    "'stream' is 'default'; it is an integer, or None": {"stream": "default"},
}


@pytest.mark.parametrize("words", WRONG_FACTS)
def test_wrong_facts_of_a_gpus_array(words):
    assert said(lambda: SUM(OnGpu({**GOOD, **WRONG_FACTS[words]}))) == f"'x' has a __cuda_array_interface__ whose {words}"


@pytest.mark.parametrize("name", GOOD)
def test_missing_facts_of_a_gpus_array(name):
    text = said(lambda: SUM(OnGpu({other: value for other, value in GOOD.items() if other != name})))
    assert text.startswith(f"'x' has a __cuda_array_interface__ whose '{name}' is None; it is ")


@pytest.mark.parametrize("facts", [5, None, "dict", [("shape", (9,))], {}])
def test_facts_that_are_no_dictionary(facts):
    text = said(lambda: SUM(OnGpu(facts)))
    assert text.startswith("'x' has a __cuda_array_interface__ ") and "; it is " in text


def test_arrays_of_a_gpu_that_are_not_folded():
    assert "is a masked array, and a fold looks at no mask" in said(lambda: SUM(OnGpu({**GOOD, "mask": OnGpu(GOOD)})))
    for typestr in ("<f3", "<f9", "<i5", "|b2", ">f4", "<c8", "<V2", "f4", "<f16", ""):
        assert f"holds elements of type {typestr};" in said(lambda: SUM(OnGpu({**GOOD, "typestr": typestr})))
    assert "is read-only" in said(lambda: SUM(X, out=OnGpu({**GOOD, "data": (0, True)})))
    listed = OnGpu({**GOOD, "shape": [9], "strides": [4], "data": [0, False]})  # as good as tuples
    assert "'x' lies on the host and 'y' on GPU 0" in said(lambda: sf.standard.dot(X, listed))


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned."""


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Managed._fields_ = [
    ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p), ("deleter", DELETER),
    ("flags", ctypes.c_uint64), ("tensor", Tensor),
]  # fmt: skip

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class ByDlpack:
    """Lends X by a capsule of DLPack, and counts what was deleted."""

    def __init__(self, major=1, flags=0, values=X, **tensor):
        self.deleted = 0
        self.values = values
        self.sizes = (ctypes.c_int64 * 1)(len(values))
        facts = dict(data=values.ctypes.data, device_type=1, device_id=0, ndim=1, code=2, bits=32, lanes=1, shape=self.sizes, strides=None)
        self.deleter = DELETER(self._delete)
        self.managed = Managed(major, 7, None, self.deleter, flags, Tensor(**{**facts, **tensor}))

    def _delete(self, pointer):
        self.deleted += 1

    def __dlpack__(self, *, max_version=None, **words):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)

    def __dlpack_device__(self):
        return (1, 0)


def test_tensors_of_dlpack_are_looked_at():
    lender = ByDlpack()
    assert SUM(lender, offsets=OFFSETS).tolist() == [8, 6, 0, 22]
    gc.collect()
    assert lender.deleted == 1
    for major in (0, 2, 3):
        lender = ByDlpack(major)
        assert said(lambda: SUM(lender)) == f"'x' lends a tensor of DLPack {major}.7; version 1 is read, and was asked for"
        assert lender.deleted == 0
    assert said(lambda: SUM(ByDlpack(shape=None))) == "'x' lends a tensor of 1 dimension without a shape"
    assert said(lambda: SUM(ByDlpack(ndim=-1))) == "'x' lends a tensor of -1 dimensions"
    assert said(lambda: SUM(ByDlpack(ndim=1000))) == "'x' lends a tensor of 1000 dimensions"
    assert "has shape (-5,)" in said(lambda: SUM(ByDlpack(shape=(ctypes.c_int64 * 1)(-5))))
    assert "DLPack code 2, 33 bits, 1 lanes" in said(lambda: SUM(ByDlpack(bits=33)))
    assert "does not begin at a multiple" in said(lambda: SUM(ByDlpack(byte_offset=2)))
    assert said(lambda: SUM(X, out=ByDlpack(flags=1))) == "'out' is read-only, and results are to be written there"
    out = ByDlpack(values=np.zeros(9, np.float32))
    assert SUM(X, offsets=OFFSETS, out=out).tolist() == [8, 6, 0, 22] and out.values[:4].tolist() == [8, 6, 0, 22]


class Says:
    """A tensor whose ``__dlpack__`` gives or raises something."""

    def __init__(self, given, warns=False):
        self.given = given

    def __dlpack__(self, *, max_version=None, **words):
        if max_version is None:
            warnings.warn("an unversioned capsule", DeprecationWarning)
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


class OwnTypeError(TypeError):
    """As pyarrow's refusals are."""


class OlderThanVersions:
    def __dlpack__(self, stream=None):
        return X.__dlpack__()


@pytest.mark.filterwarnings("error")
def test_what_dlpack_gives_and_raises():
    assert said(lambda: SUM(Says(3))) == "'x' has a __dlpack__ that gives 3, and no capsule of a tensor"
    assert "gives None, and no capsule" in said(lambda: SUM(Says(None)))
    assert "gives <capsule object \"other\"" in said(lambda: SUM(Says(new_capsule(1, b"other", None))))
    for error in (OwnTypeError("only primitive arrays"), TypeError("only primitive arrays"), BufferError("frozen"), ValueError("odd")):
        assert said(lambda: SUM(Says(error))) == f"'x' does not lend its memory: {type(error).__name__}: {error}"
    assert SUM(OlderThanVersions()).tolist() == [36]


class Filled:
    """Lends memory by DLPack and says a strange shape, which nobody asks for."""

    def __init__(self, values, shape):
        self.values, self.shape = values, shape

    def __dlpack__(self, **words):
        return self.values.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("shape", [None, [1], (), "1", 7])
def test_results_go_where_the_caller_says_whatever_its_shape(shape):
    out = Filled(np.zeros(1, np.float32), shape)
    assert SUM(X, out=out) is out and out.values.tolist() == [36]
    assert sf.plan(SUM, X)(X, out=out) is out


@pytest.mark.parametrize("backend", ["auto", "reference"])
def test_results_in_holders_of_memory(backend):
    for out in (array.array("f", [0] * 4), (ctypes.c_float * 4)(), memoryview(np.zeros(4, np.float32)), memoryview(array.array("f", [0] * 4))):
        assert SUM(X, offsets=OFFSETS, out=out, backend=backend) is out
        assert list(out) == [8, 6, 0, 22]
    for out in (array.array("f", [0] * 6), (ctypes.c_float * 6)(), memoryview(np.zeros(6, np.float32))):
        found = SUM(X, offsets=OFFSETS, out=out, backend=backend)
        assert list(found) == list(out)[:4] == [8, 6, 0, 22] and len(found) == 4
        assert np.shares_memory(np.asarray(found), np.asarray(out))
    sums, places = array.array("f", [0] * 5), array.array("q", [0] * 4)
    found = sf.standard.argmax(X, offsets=OFFSETS, out=(sums, places), backend=backend)
    assert found.index is places and list(places) == [2, 4, 2**63 - 1, 5] and list(found.value)[:2] == [4, 5]
    keys, out = array.array("i", [0] * 9), array.array("f", [0] * 9)
    found = SUM(X, keys=np.array([7, 7, 7, 2, 2, 7, 7, 7, 7], np.int32), out=(keys, out), backend=backend)
    assert list(found.keys) == [7, 2, 7] and list(found.result) == [8, 6, 22] and list(keys)[:3] == [7, 2, 7]


def test_formats_of_buffers():
    class Holder(ctypes.Structure):
        _fields_ = [("x", ctypes.c_float)]

    assert "holds elements of type 'T{<f:x:}' of 4 bytes" in said(lambda: SUM((Holder * 3)()))
    assert "holds elements of type '>f' of 4 bytes" in said(lambda: SUM((ctypes.c_float.__ctype_be__ * 3)()))
    assert "holds elements of type '<g' of 16 bytes" in said(lambda: SUM((ctypes.c_longdouble * 3)()))
    assert SUM((ctypes.c_short * 3)(1, 2, 3)).tolist() == [6]
    assert SUM((ctypes.c_ulong * 3)(1, 2, 3)).tolist() == [6]
    assert SUM(np.arange(0, dtype=np.int32)).tolist() == [0]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_told_how_it_becomes_a_vector():
    rows = np.matrix([[1.0], [2.0]])
    text = said(lambda: SUM(rows))
    way = "numpy.asarray(x).reshape(-1)"
    assert f"give {way}, which makes each number an element" in text
    assert SUM(eval(way, {"numpy": np, "x": rows})).tolist() == [3]
    assert "give numpy.asarray(offsets).reshape(-1)" in said(lambda: SUM(X, offsets=np.matrix([0, 9])))


def test_numbers_of_python_are_rounded_once():
    """An integer may have more digits than a double, and a double more than f16: two roundings give another number."""
    for type, numbers in {
        "f32": [9007199791611905, -9007199791611905, 2**24 + 1, 16777217.000000001, 1.00000005960464477540, 2**127 + 2**103, 10**30, 0, -1],
        "f16": [1 + 2**-11 + 2**-40, -(1 + 2**-11 + 2**-40), 2049.0000001, 2049, 65519.99, 2**-25, 2**-25 * 1.0000001, 0.1],
        "bf16": [1 + 2**-8 + 2**-40, 1 + 2**-8, 2**60 + 2**52, 2**60 + 2**52 + 1, -(2**60 + 2**52 + 1), 0.3],
    }.items():  # fmt: skip
        op = sf.operator(f"operator s(x: i32, p: scalar {type}) -> f64 {{ state s: f64 = 0 lift f64(p) combine(a, b) a + b }}")
        for number in numbers:
            assert op(np.zeros(1, np.int32), p=number, backend="reference")[0] == nearest(number, type), (type, number)


def nearest(number, type):
    """Of the values of a type the nearest one, and of two the even one, found in exact arithmetic."""
    from fractions import Fraction

    digits, least = {"f32": (24, -149), "f16": (11, -24), "bf16": (8, -133)}[type]
    exact = Fraction(number)
    if exact == 0:
        return 0.0
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    step = Fraction(2) ** max(exponent - digits + 1, least)
    rounded = round(magnitude / step) * step  # to even
    return float(rounded if exact > 0 else -rounded)
