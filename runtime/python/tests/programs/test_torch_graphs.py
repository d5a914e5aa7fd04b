"""Plans and calls that torch.cuda.graph captures, forward and backward, replayed with new data."""

import numpy as np
import pytest

import segfold as sf

torch = pytest.importorskip("torch", reason="torch is not installed, so that graphs of it are not tried")
if not torch.cuda.is_available():
    pytest.skip("torch has no GPU here, so that graphs of it are not tried", allow_module_level=True)
import segfold.torch  # noqa: E402

ENDS = np.sort(np.append(np.random.default_rng(5).integers(0, 50_001, 999), [0, 50_000])).astype(np.int32)


def drawn(seed):
    return np.random.default_rng(seed).uniform(0.9, 1.1, 50_000)


def near(found, wanted):
    np.testing.assert_allclose(found.cpu().numpy(), wanted, rtol=1e-9)


OPERATORS = ["sum", "affine", "softmax", "linear_recurrence"]  # of one result each: the last of affine's


def last(found):
    return found[-1] if isinstance(found, tuple) else found


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("way", ["call", "plan", "fold"])
@pytest.mark.parametrize("word", ["offsets", "lengths"])
def test_a_graph_is_replayed_with_new_data(name, way, word):
    op = getattr(sf.standard, name)
    columns = [torch.from_numpy(drawn(at)).cuda() for at, _ in enumerate(op.parameters)]
    words = {word: torch.from_numpy(ENDS if word == "offsets" else np.diff(ENDS)).cuda()}
    plan = sf.plan(op, *columns, **words)
    assert word == "offsets" or plan.scratch_bytes > 0  # offsets are made there
    run = {"call": lambda: op(*columns, **words), "plan": lambda: plan(*columns, **words), "fold": lambda: sf.torch.fold(op, *columns, **words)}[way]
    first = last(run()).clone()  # on the current stream: the plan is then that stream's
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = last(run())
    for seed in (10, 20):
        for at, column in enumerate(columns):
            column.copy_(torch.from_numpy(drawn(seed + at)))
        graph.replay()
        eager = last(run())  # beside the graph's run, by memory of its own
        wanted = last(op(*(drawn(seed + at) for at, _ in enumerate(columns)), offsets=ENDS, backend="reference"))
        near(found, wanted)
        near(eager, wanted)
    assert not torch.equal(first, found)


@pytest.mark.parametrize("name", ["sum", "log_sum_exp", "softmax", "linear_recurrence"])
def test_a_graph_of_forward_and_backward(name):
    op = getattr(sf.standard, name)
    columns = [torch.from_numpy(drawn(at)).cuda().requires_grad_() for at, _ in enumerate(op.parameters)]
    ends = torch.from_numpy(ENDS).cuda()

    def step():
        found = sf.torch.fold(op, *columns, offsets=ends)
        return torch.autograd.grad(torch.where(found.isfinite(), found, 0.0).square().sum(), columns)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        gradients = step()
    with torch.no_grad():
        for at, column in enumerate(columns):
            column.copy_(torch.from_numpy(drawn(30 + at)))
    graph.replay()
    for found, wanted in zip(gradients, step()):
        near(found, wanted.cpu().numpy())


def test_a_call_that_was_not_made_before_is_refused_and_can_be_made_after():
    op = sf.operator("operator own(x: f64) -> f64 { state s: f64 = 0 lift 3.0 * x combine(a, b) a + b }")
    x, ends = torch.from_numpy(drawn(1)).cuda(), torch.from_numpy(ENDS).cuda()
    with pytest.raises(sf.InputError, match="no kernel can be compiled, and operator own was not called"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        op(x, offsets=ends)
    near(op(x, offsets=ends), op(drawn(1), offsets=ENDS, backend="reference"))
