"""Arrays of torch and JAX on the host: results of their kind, nothing copied."""

import importlib.util

import numpy as np
import pytest

import segfold as sf

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
OFFSETS = np.array([0, 3, 5, 5, 9], np.int32)


@pytest.fixture
def torch():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no torch is here")
    return importlib.import_module("torch")


@pytest.fixture
def jax():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("no jax is here")
    return importlib.import_module("jax")


def test_torch_on_the_host(torch):
    x, offsets = torch.from_numpy(X), torch.from_numpy(OFFSETS)
    found = sf.standard.sum(x, offsets=offsets, backend="reference")
    assert isinstance(found, torch.Tensor) and found.dtype == torch.float32
    assert found.tolist() == [8, 6, 0, 22]
    out = torch.empty(4)
    assert sf.standard.sum(x, offsets=offsets, out=out, backend="reference") is out and out.tolist() == [8, 6, 0, 22]
    found = sf.standard.argmax(x.bfloat16(), offsets=offsets, backend="reference")
    assert found.value.dtype == torch.bfloat16 and found.index.tolist()[:2] == [2, 4]
    assert sf.standard.any(x > 5, uniform=3, backend="reference").tolist() == [False, True, True]
    with pytest.raises(sf.InputError, match="'x' has a stride of 8 bytes"):
        sf.standard.sum(x[::2])
    with pytest.raises(sf.InputError, match="asks for its gradient"):
        sf.standard.sum(x.clone().requires_grad_())


def test_jax_on_the_host(jax):
    if jax.default_backend() != "cpu":
        pytest.skip("JAX's arrays lie on a GPU here; test_gpu.py uses them")
    x, offsets = jax.numpy.asarray(X), jax.numpy.asarray(OFFSETS)
    found = sf.standard.sum(x, offsets=offsets, backend="reference")
    assert isinstance(found, jax.Array) and found.tolist() == [8, 6, 0, 22]
    found = sf.standard.sum(x.astype("bfloat16"), offsets=offsets, backend="reference")
    assert found.dtype == jax.numpy.bfloat16 and found.tolist() == [8, 6, 0, 22]
    with pytest.raises(sf.InputError, match="'out' is an array of JAX, which nobody may write"):
        sf.standard.sum(x, out=x, backend="reference")
    plan = sf.plan(sf.standard.sum, x, offsets=offsets, backend="simt")
    assert isinstance(plan(x, offsets=offsets), jax.Array) and plan(x, offsets=offsets).tolist() == [8, 6, 0, 22]


def test_numpys_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="no ml_dtypes, which has NumPy's bfloat16")
    total = sf.standard.sum(np.array([1, 2, 3], ml_dtypes.bfloat16), backend="reference")
    assert total.dtype == ml_dtypes.bfloat16 and float(total[0]) == 6
