"""The examples of training learn what they should."""

import importlib
import importlib.util
import pathlib

import numpy as np
import pytest

import segfold as sf

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch):
    if not EXAMPLES.exists():
        pytest.skip("no examples are here")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


def test_the_decays_of_a_recurrence_are_learned_in_jax(example):
    pytest.importorskip("jax", reason="JAX is not installed, so that its example is not run")
    if not sf._segfold.has_xla():
        pytest.skip("the extension was built without jaxlib's header, so that the example of JAX is not run")
    module = example("recurrence_in_jax")
    decays, values = module.learn(150)
    assert values[-1] < values[0] / 100
    np.testing.assert_allclose(decays, module.TRUE_DECAYS, atol=0.03)


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="torch is not installed, so that its examples are not run")
    if not hasattr(torch.library, "custom_op"):
        pytest.skip(f"torch {torch.__version__} has no torch.library.custom_op, which came with 2.4")
    return torch


def test_a_pooled_batch_is_learned_in_torch(example, torch):
    right, values = example("pooled_batch_in_torch").learn(120)
    assert right > 0.9 and values[-1] < values[0] / 2


def test_a_soft_longest_run_is_learned_in_torch(example, torch):
    module = example("soft_longest_run_in_torch")
    right, values = module.learn(200)
    assert right > 0.8 and values[-1] < values[0] - 0.2
    scores = torch.tensor([1.0, -9, 2, 3, -9, 4], requires_grad=True)
    runs = module.longest(scores, offsets=torch.tensor([0, 2, 6]))
    every = [sum(scores[i:j]) for i in range(2, 6) for j in range(i + 1, 7)]
    torch.testing.assert_close(runs[1], torch.logsumexp(torch.stack(every), 0))
    own, = torch.autograd.grad(runs[1], scores)
    plain, = torch.autograd.grad(torch.logsumexp(torch.stack(every), 0), scores)
    torch.testing.assert_close(own, plain)


def test_training_steps_are_timed_beside_plain_ones(torch):
    path = pathlib.Path(__file__).parents[2] / "benchmark" / "training_benchmark.py"
    spec = importlib.util.spec_from_file_location("training_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for make in (module.pooled_batch, module.longest_run):
        assert [len(times) for times in module.timed(make(6), 2)] == [2, 2]  # refuses other losses
