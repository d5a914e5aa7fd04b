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
    with pytest.raises(sf.InputError, match=r"'out' asks for its gradient; give out.detach\(\) to go without"):
        sf.standard.sum(x, out=torch.empty(1, requires_grad=True), backend="reference")
    with torch.device("meta"):  # the default device for new tensors, which results are not made on
        assert sf.standard.sum(x, offsets=offsets).tolist() == [8, 6, 0, 22]


ROWS = np.arange(27, dtype=np.float32).reshape(9, 3) % 7
ROW_SUMS = [ROWS[begin:end].sum(0).tolist() for begin, end in zip(OFFSETS, OFFSETS[1:])]
ROW_SUM = sf.operator("operator row_sum(x: row T) -> T { state s: T = 0 lift x combine(a, b) a + b laws commutative }")
CENTRED = sf.operator(
    "operator centred(x: row f32) -> (total: f32, each rest: f32) { state sum: f32 = 0 lift x combine(a, b) a + b "
    "finish { total = sum } map x - total }"
)


def test_torchs_rows_on_the_host(torch):
    x, offsets = torch.from_numpy(ROWS), torch.from_numpy(OFFSETS)
    found = ROW_SUM(x, offsets=offsets)
    assert isinstance(found, torch.Tensor) and found.dtype == torch.float32 and found.shape == (4, 3) and found.tolist() == ROW_SUMS
    out = torch.empty(4, 3)
    assert ROW_SUM(x, offsets=offsets, out=out) is out and out.tolist() == ROW_SUMS
    assert ROW_SUM(x.bfloat16(), offsets=offsets, backend="reference").dtype == torch.bfloat16
    both = CENTRED(x, offsets=offsets)
    assert both.total.tolist() == ROW_SUMS and torch.equal(both.rest, x - both.total[torch.from_numpy(spread_out(OFFSETS))])
    found = sf.standard.softmax(x[:, 0].contiguous(), offsets=offsets)
    assert torch.allclose(found[:3], torch.softmax(x[:3, 0], 0))
    with pytest.raises(sf.InputError, match=r"'x' of shape \(3, 9\) is in Fortran order, with strides of \(4, 12\) bytes"):
        ROW_SUM(x.t())
    with pytest.raises(sf.InputError, match=r"'x' of shape \(9, 2\) has strides of \(12, 4\) bytes"):
        ROW_SUM(x[:, 1:])
    with pytest.raises(sf.InputError, match="asks for its gradient"):
        ROW_SUM(x.clone().requires_grad_())


def test_torch_compiles_folds_of_rows(torch, folds):
    x, offsets = torch.from_numpy(ROWS), torch.from_numpy(OFFSETS)
    total, centred = folds.function(ROW_SUM), folds.function(CENTRED)

    @torch.compile(fullgraph=True, backend="aot_eager", dynamic=True)
    def scaled(x, offsets):
        both = centred(x, offsets=offsets)
        return total(x * 2, offsets=offsets) / 2, both.total, both.rest + x

    for values in (x, x + 1, torch.cat([x, x]), x[:, :2].contiguous()):
        ends = offsets.clone()
        ends[-1] = len(values)
        sums, totals, rest = scaled(values, ends)
        wanted = ROW_SUM(values, offsets=ends)
        assert torch.equal(sums, wanted) and torch.equal(totals, wanted)
        assert torch.equal(rest, CENTRED(values, offsets=ends).rest + values)
    text = ROW_SUM.typed("f32").text
    for given in (x.clone(), x.clone().requires_grad_()):
        torch.library.opcheck(torch.ops.segfold.fold.default, (text, [given], "offsets", [offsets], 0))
    torch.library.opcheck(torch.ops.segfold.fold.default, (CENTRED.text, [x.clone()], "uniform", [], 3))


def test_torch_knows_gradients_of_sums_of_rows(torch, folds):
    x, y = torch.from_numpy(ROWS.copy()).requires_grad_(), torch.from_numpy(ROWS[::-1].copy()).requires_grad_()
    number = torch.from_numpy(X.copy()).requires_grad_()
    factor = torch.arange(1.0, 13).reshape(4, 3)
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
        found = folds.fold(ROW_SUM, x, **words)
        sums = found.result if name == "keys" else found
        (sums * factor[: len(sums)]).sum().backward()
        assert torch.equal(x.grad, factor[segments]), name
    x.grad = None
    of_each = factor[spread_out(OFFSETS)]
    text = "operator product(n: {} f32, x: row f32) -> f32 {{ state s: f32 = 0 lift {} combine(a, b) a + b }}"
    for lifted in ("n * x", "x * n"):
        x.grad = number.grad = None
        weighted = sf.operator(text.format("", lifted))
        (folds.fold(weighted, number, x, offsets=torch.from_numpy(OFFSETS)) * factor).sum().backward()
        assert torch.equal(x.grad, of_each * number.detach()[:, None])
        assert torch.equal(number.grad, (of_each * x.detach()).sum(1))
    x.grad = None
    (folds.fold(sf.operator(text.format("row", "n * x")), y, x, offsets=torch.from_numpy(OFFSETS)) * factor).sum().backward()
    assert torch.equal(x.grad, of_each * y.detach()) and torch.equal(y.grad, of_each * x.detach())
    table = "operator bag(i: i64, t: table row f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b }"
    with pytest.raises(RuntimeError) as caught:
        folds.fold(sf.operator(table), torch.arange(9), x, uniform=3).sum().backward()
    assert str(caught.value) == (
        "operator bag has no gradient by 't': this is a table that is read elsewhere than at [segment], and of tables gradients are made by these"
    )


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
    read = sf.operator("operator read(x: f32, t: table f32) -> f32 { state s: f32 = 0 lift x * t[position] combine(a, b) a + b }")
    with pytest.raises(RuntimeError, match="operator read has no gradient by 't': this is a table that is read elsewhere than at"):
        folds.fold(read, x, y, uniform=3).sum().backward()
    x.grad = None
    folds.fold(sf.standard.sum, x, ranges=(torch.tensor([4, 0]), torch.tensor([6, 1]))).sum().backward()
    assert x.grad.tolist() == [1, 0, 0, 0, 1, 1, 0, 0, 0]
    twice = sf.operator("operator twice(x: f32) -> f32 { state s: f32 = 0 lift x * x combine(a, b) a + b }")
    x.grad = None
    folds.fold(twice, x, uniform=9).sum().backward()
    assert torch.equal(x.grad, 2 * x.detach())


def test_gradients_follow_the_bits_of_keys(torch, folds):
    """Runs of keys are runs of equal bits: NaN is equal to NaN, and -0 is not 0."""
    x = torch.ones(7, requires_grad=True)
    keys = torch.tensor([np.nan, np.nan, 0.0, -0.0, -0.0, 1, 1])
    for keys in (keys, keys.double(), keys.half(), keys.bfloat16()):
        x.grad = None
        sums = folds.fold(sf.standard.sum, x, keys=keys).result
        (sums * torch.arange(1.0, 5)).sum().backward()
        assert sums.tolist() == [2, 1, 2, 2] and x.grad.tolist() == [1, 1, 2, 3, 3, 4, 4]


def test_gradients_of_segments_in_unsigned_integers(torch, folds):
    x = torch.from_numpy(X.copy()).requires_grad_()
    for type in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        for words in (dict(offsets=torch.from_numpy(OFFSETS).to(type)), dict(lengths=torch.tensor([3, 2, 0, 4]).to(type))):
            x.grad = None
            (folds.fold(sf.standard.sum, x, **words) * torch.arange(1.0, 5)).sum().backward()
            assert x.grad.tolist() == [1, 1, 1, 2, 2, 4, 4, 4, 4], words


def test_gradients_under_checkpoint(torch, folds):
    from torch.utils.checkpoint import checkpoint

    x = torch.from_numpy(X.copy()).requires_grad_()
    checkpoint(lambda x: folds.fold(sf.standard.sum, x, uniform=3), x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == [1] * 9


def test_derivatives_of_forward_mode_are_refused(torch, folds):
    x = torch.from_numpy(X)
    with pytest.raises(RuntimeError, match="operator sum has no derivative of forward mode here"):
        torch.func.jvp(lambda x: folds.fold(sf.standard.sum, x, uniform=3), (x,), (x,))
    with torch.autograd.forward_ad.dual_level(), pytest.raises(RuntimeError, match="no derivative of forward mode"):
        folds.fold(sf.standard.sum, torch.autograd.forward_ad.make_dual(x, x), uniform=3)


def test_torch_folds_the_entries_of_a_batch(torch, folds):
    if not hasattr(folds._fold, "register_vmap"):
        pytest.skip(f"torch {torch.__version__} has no register_vmap, which came with 2.5")
    x, offsets = torch.from_numpy(np.stack([X, X + 1])), torch.from_numpy(OFFSETS)
    wanted = [[8, 6, 0, 22], [11, 8, 0, 26]]

    def sums(x, offsets):
        return folds.fold(sf.standard.sum, x, offsets=offsets)

    assert torch.func.vmap(sums, in_dims=(0, None))(x, offsets).tolist() == wanted
    assert torch.func.vmap(sums, in_dims=(1, None), out_dims=1)(x.T, offsets).T.tolist() == wanted
    assert torch.func.vmap(sums)(x, torch.stack([offsets, offsets])).tolist() == wanted
    x.requires_grad_()
    torch.func.vmap(sums, in_dims=(0, None))(x, offsets).sum().backward()
    assert x.grad.tolist() == [[1] * 9] * 2
    flags = torch.tensor([[1] * 9, [0] * 9])
    with pytest.raises(RuntimeError, match="flags mark other numbers of segments in the entries of a batch"):
        torch.func.vmap(lambda x, flags: folds.fold(sf.standard.sum, x, flags=flags))(x, flags)


def test_tensors_without_memory(torch):
    from torch._subclasses.fake_tensor import FakeTensorMode

    x, total = torch.from_numpy(X), sf.standard.sum
    with FakeTensorMode(), pytest.warns(), pytest.raises(sf.InputError, match="FakeTensor without memory of its own"):
        total(torch.empty(9), offsets=torch.empty(5, dtype=torch.int64))
    with pytest.raises(sf.InputError, match="'x' is a .* without memory of its own, as inside of torch.func.vmap"):
        torch.func.vmap(lambda x: total(x, uniform=3))(torch.stack([x, x]))
    with pytest.raises(sf.InputError, match=r"'x' is a nested tensor; give x.values\(\) with offsets=x.offsets\(\)"):
        total(torch.nested.nested_tensor([x, x[:2]], layout=torch.jagged))
    negated = torch.tensor([1 + 2j]).conj().imag
    with pytest.raises(sf.InputError, match=r"'x' is a view that negates its memory; give x.resolve_neg\(\)"):
        total(negated)
    assert total(negated.resolve_neg()).tolist() == [-2]
    with pytest.raises(sf.InputError, match=r"give x.int\(\), where True is 1"):
        total(x > 1)


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
    with pytest.raises(sf.InputError, match="segments are given twice, as offsets and as uniform; give them once"):
        total(x, x, offsets=torch.from_numpy(OFFSETS), uniform=3)
    with pytest.raises(TypeError, match="nothing is called 'ofsets'"):
        total(x, x, ofsets=x)
    with pytest.raises(sf.InputError, match=r"'x' is torch\.int32; log_sum_exp takes torch\.float16, torch\.bfloat16, torch\.float32"):
        folds.fold(sf.standard.log_sum_exp, x.int())
    with pytest.raises(sf.InputError, match=r"'x' is a ndarray, and a tensor is needed; give torch.as_tensor\(x\)"):
        total(X, x)
    with pytest.raises(sf.InputError, match=r"'offsets' is a list, and a tensor is needed; give torch.as_tensor\(offsets\)"):
        total(x, x, offsets=[0, 9])
    with pytest.raises(TypeError, match=r"ranges= takes a pair of arrays, \(begins, ends\), and 3 are given"):
        total(x, x, ranges=torch.tensor([0, 3, 9]))
    with pytest.raises(TypeError, match="uniform= takes the length of each segment, an integer, and '3' is given"):
        total(x, x, uniform="3")
    with pytest.raises(sf.InputError, match="uniform is 0; it is the length of each segment, 1 or more"):
        total(x.to("meta"), x.to("meta"), uniform=0)
    with pytest.raises(TypeError, match="an operator is needed, as sf.standard.sum, and 3 is given"):
        folds.fold(3, x)


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
    for traced in (jax.jit, jax.vmap, jax.grad):
        with pytest.raises(sf.InputError, match="'x' is a value that JAX traces, in jit, grad or vmap, and has no elements yet"):
            traced(lambda x: sf.standard.sum(x, backend="reference"))(jax.numpy.stack([x, x]) if traced is jax.vmap else x)


def test_jaxs_rows_on_the_host(jax):
    if jax.default_backend() != "cpu":
        pytest.skip("JAX's arrays lie on a GPU here; test_gpu.py uses them")
    x, offsets = jax.numpy.asarray(ROWS), jax.numpy.asarray(OFFSETS)
    for backend in ("auto", "reference"):
        found = ROW_SUM(x, offsets=offsets, backend=backend)
        assert isinstance(found, jax.Array) and found.shape == (4, 3) and found.tolist() == ROW_SUMS
        both = CENTRED(x, offsets=offsets, backend=backend)
        assert both.rest.shape == (9, 3) and both.rest.tolist() == (ROWS - np.array(ROW_SUMS)[spread_out(OFFSETS)]).tolist()
    plan = sf.plan(ROW_SUM, x, offsets=offsets, backend="simt")
    assert isinstance(plan(x, offsets=offsets), jax.Array) and plan(x, offsets=offsets).tolist() == ROW_SUMS


def test_numpys_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="no ml_dtypes, which has NumPy's bfloat16")
    total = sf.standard.sum(np.array([1, 2, 3], ml_dtypes.bfloat16), backend="reference")
    assert total.dtype == ml_dtypes.bfloat16 and float(total[0]) == 6
