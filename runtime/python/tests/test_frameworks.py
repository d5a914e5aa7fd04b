"""Arrays of torch and JAX on the host: results of their kind, nothing copied."""

import importlib.util
import subprocess
import sys

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


def spread_out(offsets):
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


@pytest.fixture
def folds(torch):
    if not hasattr(torch.library, "custom_op"):
        pytest.skip(f"torch {torch.__version__} has no torch.library.custom_op, which came with 2.4")
    return importlib.import_module("segfold.torch")


def test_torch_compiles_a_fold_in_one_graph(torch, folds):
    x, offsets = torch.from_numpy(X), torch.from_numpy(OFFSETS)
    total, best = folds.function(sf.standard.sum), folds.function(sf.standard.argmax)

    @torch.compile(fullgraph=True, backend="aot_eager", dynamic=True)
    def scaled(x, offsets):
        return total(x * 2, offsets=offsets) / 4, best(x, offsets=offsets).value, total(x, uniform=3)

    for values in (x, x + 1, torch.cat([x, x])):
        ends = offsets.clone()
        ends[-1] = len(values)
        sums, greatest, threes = scaled(values, ends)
        wanted = np.add.reduceat(values.numpy(), OFFSETS[[0, 1, 3]])
        assert sums[[0, 1, 3]].tolist() == (wanted / 2).tolist() and sums[2] == 0
        assert greatest[[0, 1, 3]].tolist() == np.maximum.reduceat(values.numpy(), OFFSETS[[0, 1, 3]]).tolist()
        assert threes.tolist() == values.reshape(-1, 3).sum(1).tolist()


def test_torch_knows_gradients_of_sums(torch, folds):
    x, y = torch.from_numpy(X.copy()).requires_grad_(), torch.from_numpy(X[::-1].copy()).requires_grad_()
    weight = torch.arange(1.0, 5)
    (folds.fold(sf.standard.dot, x, y, offsets=torch.from_numpy(OFFSETS)) * weight).sum().backward()
    of_each = weight[spread_out(OFFSETS)]
    assert torch.equal(x.grad, of_each * y.detach()) and torch.equal(y.grad, of_each * x.detach())
    heads = np.array([1, 0, 0, 1, 0, 1, 0, 0, 0], bool)
    cases = {
        "whole": ({}, np.zeros(9, int)),
        "uniform": ({"uniform": 3}, np.arange(9) // 3),
        "offsets": ({"offsets": torch.from_numpy(OFFSETS)}, spread_out(OFFSETS)),
        "lengths": ({"lengths": torch.tensor([3, 2, 0, 4])}, spread_out(OFFSETS)),
        "flags": ({"flags": torch.from_numpy(heads)}, heads.cumsum() - 1),
        "keys": ({"keys": torch.tensor([7, 7, 7, 2, 2, 7, 7, 7, 7])}, heads.cumsum() - 1),
    }
    for name, (words, segments) in cases.items():
        x.grad = None
        found = folds.fold(sf.standard.sum, x, **words)
        sums = found.result if name == "keys" else found
        (sums * weight[: len(sums)]).sum().backward()
        assert torch.equal(x.grad, weight[segments]), name
    with pytest.raises(RuntimeError, match="operator max has no gradient here"):
        folds.fold(sf.standard.max, x, uniform=3).sum().backward()
    with pytest.raises(RuntimeError, match="sums over ranges have no gradient here"):
        folds.fold(sf.standard.sum, x, ranges=(torch.tensor([0]), torch.tensor([4]))).sum().backward()
    twice = sf.operator("operator twice(x: f32) -> f32 { state s: f32 = 0 lift x * x combine(a, b) a + b }")
    x.grad = None
    folds.fold(twice, x, uniform=9).sum().backward()
    assert torch.equal(x.grad, 2 * x.detach())


def test_torch_finds_nothing_wrong_with_the_operator(torch, folds):
    x = torch.from_numpy(X.copy())
    text = sf.standard.sum.typed("f32").text
    flags, keys = (x > 3).byte(), torch.from_numpy(X.astype(np.int32))
    for layout, segments, uniform in (("uniform", [], 3), ("offsets", [torch.from_numpy(OFFSETS)], 0), ("flags", [flags], 0)):
        for given in (x.clone(), x.clone().requires_grad_()):
            torch.library.opcheck(torch.ops.segfold.fold.default, (text, [given], layout, segments, uniform))
    torch.library.opcheck(torch.ops.segfold.fold.default, (text, [x.clone()], "keys", [keys], 0))


def test_wrong_calls_of_a_function_of_tensors(torch, folds):
    x = torch.from_numpy(X)
    total = folds.function(sf.standard.dot)
    with pytest.raises(sf.InputError, match="operator dot has no array for 'y'"):
        total(x)
    with pytest.raises(sf.InputError, match="segments are given by offsets and by uniform; give them once"):
        total(x, x, offsets=torch.from_numpy(OFFSETS), uniform=3)
    with pytest.raises(TypeError, match="nothing is called 'ofsets'"):
        total(x, x, ofsets=x)
    with pytest.raises(sf.InputError, match=r"'x' is torch\.int32; log_sum_exp takes torch\.float16, torch\.bfloat16, torch\.float32"):
        folds.fold(sf.standard.log_sum_exp, x.int())


def test_nothing_is_said_at_exit(folds):
    """torch keeps what it has registered, and so operators, beyond the interpreter's end."""
    program = """
import torch, segfold as sf, segfold.torch as st
print(st.fold(sf.standard.sum, torch.ones(4), uniform=2).tolist())
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout == "[2.0, 2.0]\n" and "leaked" not in ran.stderr


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
