"""Groups in any order on a real GPU: arrays of torch, CuPy and JAX as they lie, beside the fold on the host."""

import importlib.util

import numpy as np
import pytest

import segfold as sf

pytestmark = pytest.mark.skipif(not sf.devices(), reason="no GPU is here: " + sf.no_gpu_reason())
rng = np.random.default_rng(3)
N = 5003
AFFINE = sf.operator("""operator affine_of_one(x: i32) -> (scale: i32, shift: i32) {
  state { scale: i32 = 1; shift: i32 = 0 } lift { scale = x * 2 + 1; shift = x }
  combine(a, b) { scale = a.scale * b.scale; shift = a.shift * b.scale + b.shift } }""")
LIES = {
    "uniform": lambda g: rng.integers(0, g, N),
    "zipf": lambda g: np.minimum((np.exp(rng.random(N) * np.log(g + 1)) - 1).astype(int), g - 1),
    "equal": lambda g: np.full(N, g - 1),
    "giant": lambda g: np.where(rng.random(N) < 0.5, g // 2, rng.integers(0, g, N)),
    "distinct": lambda g: (np.arange(N) * 7 + 3) % g,
    "sorted": lambda g: np.arange(N) * g // N,
    "reversed": lambda g: g - 1 - np.arange(N) * g // N,
    "blocks": lambda g: np.arange(N) // 9 % g,
    "none": lambda g: rng.integers(-2, g, N),
}


@pytest.fixture(params=["torch", "cupy", "jax"])
def library(request):
    """Functions that bring arrays to the GPU and back."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"no {request.param} is here")
    if request.param == "torch":
        import torch

        return lambda a: torch.from_numpy(a).cuda(), lambda t: t.cpu().numpy()
    if request.param == "cupy":
        import cupy

        return cupy.asarray, cupy.asnumpy
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray, np.asarray


def all_of(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("num_groups", [1, 13, 700, 3000, 20000, 300000])
def test_kernels_fold_groups_as_the_host_does(library, lie, num_groups):
    put, get = library
    numbers = LIES[lie](num_groups).astype("i4")
    whole, narrow = rng.integers(-9, 9, N).astype("f4"), rng.integers(-9, 9, N).astype("i4")
    for op, x in ((sf.standard.sum, whole), (sf.standard.argmax, whole), (sf.standard.max_subarray, narrow), (AFFINE, narrow)):
        found = op(put(x), groups=put(numbers), num_groups=num_groups)
        for ours, wanted in zip(all_of(found), all_of(op(x, groups=numbers, num_groups=num_groups)), strict=True):
            assert np.array_equal(get(ours), wanted)


@pytest.mark.parametrize("num_groups", [16, 1000, 20000])
def test_fifty_runs_give_the_same_bits(library, num_groups):
    put, get = library
    x, numbers = put(rng.random(N).astype("f4")), put(LIES["zipf"](num_groups).astype("i4"))
    first = get(sf.standard.sum(x, groups=numbers, num_groups=num_groups)).tobytes()
    assert all(get(sf.standard.sum(x, groups=numbers, num_groups=num_groups)).tobytes() == first for _ in range(50))


def test_numbers_that_no_group_has_are_refused_by_calls_and_noted_by_plans(library):
    put, _ = library
    x, numbers = put(np.ones(5, "f4")), put(np.array([0, 1, 7, 2, 1], "i4"))
    with pytest.raises(sf.InputError, match="the number of the group of element 2 is 7, and there are 4 groups"):
        sf.standard.sum(x, groups=numbers, num_groups=4)
    plan = sf.plan(sf.standard.sum, x, groups=numbers, num_groups=4)
    assert plan.stage == "group_tables"
    plan(x, groups=numbers, num_groups=4)
    with pytest.raises(sf.InputError, match="the plan of sum is for 4 groups, and an element has a larger number"):
        plan.require_tables_read_inside()
    plan.require_tables_read_inside()
