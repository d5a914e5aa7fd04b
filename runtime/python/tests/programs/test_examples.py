"""The examples of training learn what they should."""

import importlib
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


def test_a_pooled_batch_is_learned_in_torch(example):
    torch = pytest.importorskip("torch", reason="torch is not installed, so that its example is not run")
    if not hasattr(torch.library, "custom_op"):
        pytest.skip(f"torch {torch.__version__} has no torch.library.custom_op, which came with 2.4")
    right, values = example("pooled_batch_in_torch").learn(120)
    assert right > 0.9 and values[-1] < values[0] / 2
