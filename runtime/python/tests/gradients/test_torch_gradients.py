"""Gradients of folds in torch's graphs, by torch's own checks."""

import importlib
import warnings

import numpy as np
import pytest

import segfold as sf

X = np.array([1.5, -2.0, 0.25, 3.0, 0.5, -1.0, 2.0, 1.0, -0.5])


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="torch is not installed, so that gradients in its graphs are not tried")
    if not hasattr(torch.library, "custom_op"):
        pytest.skip(f"torch {torch.__version__} has no torch.library.custom_op, which came with 2.4")
    importlib.import_module("segfold.torch")
    return torch


def of_floats(found):
    return tuple(part for part in (found if isinstance(found, tuple) else (found,)) if part.is_floating_point())


@pytest.mark.parametrize("name", "mean log_sum_exp softmax mean_variance product affine top_four correlation".split())
def test_torch_checks_gradients(torch, name):
    op = getattr(sf.standard, name)
    folded = sf.torch.function(op)
    random = np.random.default_rng(3)
    columns = [torch.from_numpy(random.uniform(0.3, 1.5, 14)).requires_grad_() for _ in op.parameters]
    offsets = torch.tensor([0, 5, 9, 14])
    assert torch.autograd.gradcheck(lambda *columns: of_floats(folded(*columns, offsets=offsets)), columns)


@pytest.mark.parametrize("name", ["softmax", "max"])
def test_torch_checks_gradients_over_all_segments(torch, name):
    op = getattr(sf.standard, name)
    x = torch.from_numpy(np.random.default_rng(4).uniform(0.3, 1.5, 9)).requires_grad_()
    for words in (
        {},
        {"uniform": 3},
        {"lengths": torch.tensor([2, 3, 4])},
        {"keys": torch.tensor([5, 5, 2, 2, 2, 6, 6, 6, 6])},
        {"flags": torch.tensor([1, 0, 1, 0, 0, 0, 0, 1, 0], dtype=torch.bool)},
        {"ranges": (torch.tensor([5, 0]), torch.tensor([9, 3]))},
    ):
        assert torch.autograd.gradcheck(lambda x: of_floats(sf.torch.fold(op, x, **words)), [x]), words


def test_torch_checks_gradients_of_rows(torch):
    op = sf.operator(
        "operator spread(x: row f64, w: f64) -> f64 { state { n: f64 = 0; s: f64 = 0; q: f64 = 0 } lift { n = w; s = w * x; q = w * x * x } "
        "combine(a, b) { n = a.n + b.n; s = a.s + b.s; q = a.q + b.q } finish q - s * s / n }"
    )
    x = torch.from_numpy(np.random.default_rng(5).uniform(0.3, 1.5, (9, 4))).requires_grad_()
    w = torch.linspace(0.5, 2, 9, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: sf.torch.fold(op, x, w, uniform=3), [x])
    with pytest.raises(RuntimeError, match="'w' has one number for a row of features"):
        sf.torch.fold(op, x, w.requires_grad_(), uniform=3).sum().backward()


def test_torch_compiles_forward_and_backward(torch):
    folded, offsets = sf.torch.function(sf.standard.log_sum_exp), torch.tensor([0, 4, 9])
    x = torch.from_numpy(X).requires_grad_()
    plain = torch.autograd.grad(folded(x, offsets=offsets).square().sum(), x)[0]
    compiled = torch.compile(lambda x: folded(x, offsets=offsets).square().sum(), fullgraph=True, backend="aot_eager")
    assert torch.allclose(torch.autograd.grad(compiled(x), x)[0], plain)


def test_torch_has_second_derivatives_at_fixed_gradients_of_results(torch):
    x = torch.from_numpy(X).requires_grad_()
    direction = torch.linspace(-1, 1, len(X), dtype=torch.float64)

    def first(norm):
        return torch.autograd.grad(norm(x).sum(), x, create_graph=True)[0]

    of_fold = first(lambda x: sf.torch.fold(sf.standard.norm, x, uniform=3))
    of_torch = first(lambda x: x.reshape(3, 3).square().sum(1).sqrt())
    assert torch.allclose(of_fold, of_torch)
    found, wanted = (torch.autograd.grad((gradient * direction).sum(), x)[0] for gradient in (of_fold, of_torch))
    assert torch.allclose(found, wanted)


@pytest.mark.parametrize("name", ["norm", "softmax", "weighted_mean"])
def test_torch_checks_second_derivatives(torch, name):
    op = getattr(sf.standard, name)
    columns = [torch.from_numpy(np.random.default_rng(6).uniform(0.3, 1.5, 7)).requires_grad_() for _ in op.parameters]
    offsets = torch.tensor([0, 3, 7])
    assert torch.autograd.gradgradcheck(lambda *columns: sf.torch.fold(op, *columns, offsets=offsets), columns)


def test_torch_checks_gradients_by_scalars_and_tables(torch):
    op = sf.operator(
        "operator f(x: f64, k: scalar f64, t: table f64) -> f64 { state s: f64 = 0 lift pow(x, k) * t[segment] combine(a, b) a + b finish sqrt(s) }"
    )
    x, k = torch.from_numpy(np.abs(X)).requires_grad_(), torch.tensor([1.5], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([0.5, 2.0, 1.0, 9.0], dtype=torch.float64, requires_grad=True)  # one more than there are segments
    assert torch.autograd.gradcheck(lambda *arrays: sf.torch.fold(op, *arrays, uniform=3), [x, k, t])


def test_torch_gets_no_gradient_of_what_changes_by_steps_alone(torch):
    x = torch.from_numpy(X).requires_grad_()
    op = sf.operator("operator whole(x: f64) -> f64 { state s: f64 = 0 lift floor(x) combine(a, b) a + b finish s / 2 }")
    (sf.torch.fold(op, x, uniform=3).sum() + x.sum()).backward()
    assert x.grad.tolist() == [1.0] * 9


@pytest.mark.parametrize("name", ["linear_recurrence", "running_variance", "drawdown", "forward_fill"])
def test_torch_checks_gradients_of_running_results(torch, name):
    op = getattr(sf.standard, name)
    random = np.random.default_rng(7)
    columns = [torch.from_numpy(random.uniform(0.3, 1.5, 9)).requires_grad_() for _ in op.parameters]
    offsets = torch.tensor([0, 4, 4, 9])
    assert torch.autograd.gradcheck(lambda *columns: torch.nan_to_num(sf.torch.fold(op, *columns, offsets=offsets)), columns)


@pytest.mark.parametrize("name", ["product", "linear_recurrence"])
def test_torch_checks_second_derivatives_by_scans(torch, name):
    op = getattr(sf.standard, name)
    columns = [torch.from_numpy(np.random.default_rng(8).uniform(0.3, 1.5, 6)).requires_grad_() for _ in op.parameters]
    assert torch.autograd.gradgradcheck(lambda *columns: sf.torch.fold(op, *columns, uniform=3), columns)


def test_torch_is_warned_once_of_forward_and_backward(torch):
    op = sf.operator(
        "operator turned(x: f64) -> f64 { state { s: f64 = 1; t: f64 = 0 } lift { s = x; t = x } "
        "combine(a, b) { s = a.s * b.s; t = a.t * b.s + b.t } finish t laws commutative }"
    )
    x = torch.from_numpy(X).requires_grad_()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sf.torch.fold(op, x, uniform=3).sum().backward()
    assert [str(one.message).split(";")[0] for one in told] == ["operator turned is not commutative"]
