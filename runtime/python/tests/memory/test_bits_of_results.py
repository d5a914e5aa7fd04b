"""Results keep their bits, whatever library they are given to."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import segfold as sf

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
OFFSETS = np.array([0, 3, 5, 5, 9])
KEYS = np.array([2**40] * 3 + [1, 1] + [2**40 + 1] * 4)
TYPES = {
    "bool": ("true", np.bool_), "i8": ("i8(-128)", np.int8), "i16": ("i16(-32768)", np.int16), "i32": ("i32(-2147483648)", np.int32),
    "i64": ("5000000000", np.int64), "u8": ("u8(255)", np.uint8), "u16": ("u16(65535)", np.uint16), "u32": ("u32(4294967295)", np.uint32),
    "u64": ("highest(u64)", np.uint64), "f16": ("f16(0.1)", np.float16), "f32": ("f32(0.1)", np.float32), "f64": ("0.1", np.float64),
}  # fmt: skip
VALUES = {
    "bool": True, "i8": -128, "i16": -32768, "i32": -(2**31), "i64": 5000000000, "u8": 255, "u16": 65535, "u32": 2**32 - 1,
    "u64": 2**64 - 1, "f16": np.float16(0.1), "f32": np.float32(0.1), "f64": 0.1,
}  # fmt: skip


def of_type(type):
    """An operator whose result, and whose value for each element, are one value of a type."""
    value = TYPES[type][0]
    return sf.operator(
        f"operator only(x: f32) -> (one: {type}, each all: {type}) {{ state s: {type} lift {value} combine(a, b) b empty {value} map one }}"
    )


@pytest.fixture(params=["jax", "torch"])
def library(request):
    """Makes arrays of a library on the host."""
    module = pytest.importorskip(request.param, reason=f"no {request.param} is here")
    if request.param == "jax":
        if module.default_backend() != "cpu":
            pytest.skip("JAX's arrays lie on a GPU here")
        return module.numpy.asarray
    return module.from_numpy


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.filterwarnings("ignore::segfold.FoldWarning")
def test_all_types(library, type):
    op, x = of_type(type), library(X)
    for words in ({}, {"backend": "reference"}):
        for found in (op(x, offsets=OFFSETS if library.__module__ != "torch" else library(OFFSETS), **words), sf.plan(op, x, uniform=3, **words)(x, uniform=3)):
            for part in found:
                part = np.asarray(part)
                assert part.dtype == TYPES[type][1] and (part == VALUES[type]).all()
    out = np.zeros(1, TYPES[type][1]), np.zeros(9, TYPES[type][1])
    found = op(x, out=out if library.__module__ != "torch" else tuple(map(library, out)))
    assert np.asarray(found.one).tolist() == [VALUES[type]] and np.asarray(found.all).dtype == TYPES[type][1]


@pytest.fixture
def jax():
    module = pytest.importorskip("jax", reason="no jax is here")
    if module.default_backend() != "cpu":
        pytest.skip("JAX's arrays lie on a GPU here")
    return module


@pytest.mark.filterwarnings("ignore::segfold.FoldWarning")
def test_keys_and_places_of_jax(jax):
    x = jax.numpy.asarray(X)
    for words in ({}, {"backend": "reference"}):
        found = sf.standard.sum(x, keys=KEYS, **words)
        assert found.keys.dtype == np.int64 and found.keys.tolist() == [2**40, 1, 2**40 + 1] and found.result.tolist() == [8, 6, 22]
        assert isinstance(found.result, jax.Array)
        found = sf.standard.argmax(x, offsets=OFFSETS, **words)
        assert found.index.dtype == np.int64 and found.index.tolist() == [2, 4, 2**63 - 1, 5] and isinstance(found.value, jax.Array)
    narrow = sf.standard.sum(x, keys=KEYS.astype(np.int32))
    assert isinstance(narrow.keys, jax.Array) and narrow.keys.dtype == np.int32


@pytest.mark.filterwarnings("ignore::segfold.FoldWarning")
def test_results_of_nothing_are_of_jax_too(jax):
    for found in (sf.standard.sum(jax.numpy.zeros(0), offsets=np.array([0])), sf.standard.softmax(jax.numpy.zeros(0), uniform=3)):
        assert isinstance(found, jax.Array) and found.shape == (0,) and found.dtype == np.float32
    assert sf.standard.argmax(jax.numpy.zeros(0), offsets=np.array([0])).index.dtype == np.int64


PROGRAM = """
import warnings, numpy as np, jax.numpy as jnp, segfold as sf
x = jnp.ones(6)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for _ in range(3):
        found = sf.standard.argmax(x, uniform=3)
    sf.standard.sum(x, keys=np.array([2**40] * 6))
print(type(found.index).__module__.partition(".")[0], found.index.dtype, len(said))
print(*{str(w.message) for w in said}, {w.filename for w in said} <= {"<string>"})
"""


def test_what_is_said_of_jax_is_said_once(jax):
    def ran(x64):
        environment = {**os.environ, "JAX_ENABLE_X64": x64}
        return subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment).stdout.splitlines()

    assert ran("0") == [
        "numpy int64 1",
        "JAX would make results of int64 an array of int32, so they are given as an array of NumPy, or on a GPU a segfold.DeviceArray "
        '(jax.config.update("jax_enable_x64", True) lets JAX keep them); this is said once True',
    ]
    assert ran("1") == ["jaxlib int64 0", "True"]


def test_a_stream_of_jaxs_arrays_keeps_bits(jax):
    parts = [jax.numpy.asarray(X), jax.numpy.asarray(X)]
    keys = np.repeat([2**40, 2**40 + 1], 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(sf.stream(sf.standard.sum, iter(parts), keys=keys))
    assert np.concatenate([part.keys for part in found]).tolist() == [2**40, 2**40 + 1]
