"""Gradients of folds in torch's graphs, by torch's own checks."""

import importlib
import warnings

import numpy as np
import pytest

import segfold as sf
from segfold import _gradient
from same_results import expect_same

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


def test_a_gradient_is_derived_once(torch):
    x = torch.from_numpy(X).requires_grad_()

    def backward():
        torch.autograd.grad(sf.torch.fold(sf.standard.softmax, x, uniform=3).square().sum(), x)
        return _gradient.has_zero_gradient.cache_info().misses

    assert backward() == backward()


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


def loss_of(torch, op, **words):
    return lambda x: sf.torch.fold(op, x, **words).square().sum()


@pytest.mark.parametrize("name", ["sum", "log_sum_exp", "softmax", "product"])
def test_torch_func_differentiates_and_maps(torch, name):
    """torch.func.grad, twice too, vmap over it, and all of them within torch.compile."""
    op, offsets = getattr(sf.standard, name), torch.tensor([0, 4, 9])
    x = torch.from_numpy(np.random.default_rng(9).uniform(0.3, 1.5, (3, 9)))
    loss = loss_of(torch, op, offsets=offsets)
    loss(x[0])

    def plain(row, order):
        row = row.clone().requires_grad_()
        first = torch.autograd.grad(loss(row), row, create_graph=True)[0]
        return first.detach() if order == 1 else torch.autograd.grad(first.square().sum(), row)[0]

    first = torch.func.grad(loss)
    second = torch.func.grad(lambda row: first(row).square().sum())
    for order, gradient in enumerate((first, second), 1):
        assert torch.allclose(gradient(x[0]), plain(x[0], order))
        assert torch.allclose(torch.func.vmap(gradient)(x), torch.stack([plain(row, order) for row in x]))
    for made in (first, torch.func.vmap(first)):
        given = x[0] if made is first else x
        assert torch.allclose(torch.compile(made, fullgraph=True, backend="aot_eager")(given), made(given))


def test_torch_compiles_a_fold_of_an_operator_that_was_called_before(torch):
    op, x = sf.operator("operator thrice(x: f64) -> f64 { state s: f64 = 0 lift 3 * x combine(a, b) a + b }"), torch.from_numpy(X)
    plain = sf.torch.fold(op, x, uniform=3)
    assert torch.equal(torch.compile(lambda x: sf.torch.fold(op, x, uniform=3), fullgraph=True, backend="aot_eager")(x), plain)


def test_torch_compiles_a_fold_of_an_operator_that_it_meets_there(torch):
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 15):
        pytest.skip(f"this was tried with torch 2.15, and this is {torch.__version__}; 2.11 takes operators that were called before")
    op = sf.operator("operator twice(x: f64) -> f64 { state s: f64 = 0 lift 2 * x combine(a, b) a + b }")
    x = torch.from_numpy(X)
    compiled = torch.compile(lambda x: sf.torch.fold(op, x, uniform=3), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x), op(x, uniform=3))
    both = torch.compile(lambda x: sf.torch.fold(sf.standard.mean_variance, x, uniform=3), fullgraph=True, backend="aot_eager")
    assert both(x)._fields == ("mean", "variance")


def num_folds(torch, function, *arrays):
    """How often a function calls the fold of torch.library."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        number = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.number += func is torch.ops.segfold.fold.default
            return func(*args, **(kwargs or {}))

    with Count() as counted:
        found = function(*arrays)
    return counted.number, found


@pytest.mark.parametrize("name", "affine argmax softmax linear_recurrence mean_variance".split())
def test_torch_folds_a_batch_at_once(torch, name):
    op = getattr(sf.standard, name)
    columns = [torch.from_numpy(np.random.default_rng(seed).uniform(0.3, 1.5, (3, 9))) for seed in range(len(op.parameters))]
    for words in (
        {},
        {"uniform": 3},
        {"offsets": torch.tensor([0, 4, 4, 9])},
        {"lengths": torch.tensor([2, 0, 7])},
        {"ranges": (torch.tensor([5, 0]), torch.tensor([9, 3]))},
    ):
        number, found = num_folds(torch, torch.func.vmap(lambda *columns: sf.torch.fold(op, *columns, **words)), *columns)
        assert number == 1
        each = [op(*(column[at] for column in columns), **words) for at in range(3)]
        for field, part in enumerate(found if isinstance(found, tuple) else (found,)):
            wanted = torch.stack([one[field] if isinstance(one, tuple) else one for one in each])
            expect_same(part, wanted, f"{words} {field}")


def test_torch_folds_a_batch_of_segments_and_of_other_dimensions(torch):
    x, ends = torch.from_numpy(np.random.default_rng(1).uniform(0.3, 1.5, (9, 3))), torch.tensor([[0, 4, 9], [0, 0, 9], [0, 9, 9]])
    number, found = num_folds(torch, torch.func.vmap(lambda x, ends: sf.torch.fold(sf.standard.sum, x, offsets=ends), in_dims=(1, 0)), x, ends)
    assert number == 1 and torch.equal(found, torch.stack([sf.standard.sum(x[:, at].contiguous(), offsets=ends[at]) for at in range(3)]))
    scaled = sf.operator("operator scaled(x: f64, k: scalar f64) -> f64 { state s: f64 = 0 lift x * k combine(a, b) a + b }")
    factors = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    run = torch.func.vmap(lambda x, k: sf.torch.fold(scaled, x, k.reshape(1), uniform=3), in_dims=(1, 0))
    number, found = num_folds(torch, run, x, factors)
    assert number == 3
    assert torch.equal(found, torch.stack([scaled(x[:, at].contiguous(), factors[at : at + 1], uniform=3) for at in range(3)]))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_torch_folds_a_batch_whose_places_are_beyond_their_type(torch, dtype):
    x = torch.from_numpy(np.random.default_rng(2).integers(0, 9, (400, 100)).astype("f8"))
    ends = torch.from_numpy(np.sort(np.random.default_rng(3).integers(0, 101, (400, 5)), 1)).to(getattr(torch, dtype))
    ends[:, 0], ends[:, -1] = 0, 100
    for word, given in (("offsets", ends), ("lengths", ends[:, 1:] - ends[:, :-1])):
        run = torch.func.vmap(lambda x, given: sf.torch.fold(sf.standard.sum, x, **{word: given}))
        number, found = num_folds(torch, run, x, given)
        assert number == 1
        assert torch.equal(found, torch.stack([sf.standard.sum(x[at], offsets=ends[at].long()) for at in range(400)]))


def test_torch_refuses_lengths_that_make_those_of_another_entry_good(torch):
    x = torch.ones(2, 6, dtype=torch.float64)
    with pytest.raises(sf.InputError, match="length"):
        torch.func.vmap(lambda x, lengths: sf.torch.fold(sf.standard.sum, x, lengths=lengths))(x, torch.tensor([[3, 2], [3, 4]]))


def test_torch_folds_a_batch_of_no_entries(torch):
    x = torch.zeros(0, 9, dtype=torch.float64)
    for words in ({"uniform": 3}, {"offsets": torch.tensor([0, 4, 4, 9])}, {"lengths": torch.tensor([9])}, {}):
        for name in ("sum", "softmax"):
            op = getattr(sf.standard, name)
            found = torch.func.vmap(lambda x: sf.torch.fold(op, x, **words))(x)
            wanted = op(torch.zeros(9, dtype=torch.float64), **words)
            assert found.shape == (0, *wanted.shape) and found.dtype == wanted.dtype
