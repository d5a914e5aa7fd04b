"""Arrays on a real GPU, of torch, CuPy and JAX: results, streams, host time, torch.compile, gradients."""

import importlib.util
import pathlib
import re
import threading
import time
import warnings

import numpy as np
import pytest

import segfold as sf

pytestmark = pytest.mark.skipif(not sf.devices(), reason="no GPU is here: " + sf.no_gpu_reason())


def library(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"no {name} is here")
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def torch():
    torch = library("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch is here without CUDA")
    return torch


@pytest.fixture(scope="module")
def cupy():
    return library("cupy")


@pytest.fixture(scope="module")
def jax():
    jax = library("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("jax is here without CUDA")
    return jax


GENERATOR = np.random.default_rng(5)
N = 1 << 20
X = GENERATOR.integers(-9, 10, N).astype(np.float32)
ENDS = np.sort(GENERATOR.integers(0, N + 1, N // 32))
OFFSETS = np.concatenate([[0], ENDS, [N]])
LENGTHS = np.diff(OFFSETS)
SUMS = np.concatenate([[0], np.cumsum(X, dtype=np.float64)])
WANTED = SUMS[OFFSETS[1:]] - SUMS[OFFSETS[:-1]]
KEYS = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
RUNS = WANTED[LENGTHS > 0]
HEADS = np.concatenate([[True], KEYS[1:] != KEYS[:-1]])
CASES = {
    "whole": ({}, [SUMS[-1]]),
    "uniform": ({"uniform": 64}, X.reshape(-1, 64).sum(1)),
    "offsets": ({"offsets": OFFSETS}, WANTED),
    "offsets i32": ({"offsets": OFFSETS.astype(np.int32)}, WANTED),
    "lengths": ({"lengths": LENGTHS}, WANTED),
    "ranges": ({"ranges": (OFFSETS[:-1].copy(), OFFSETS[1:].copy())}, WANTED),
    "flags": ({"flags": HEADS}, RUNS),
    "keys": ({"keys": KEYS}, RUNS),
}


def moved(words, move):
    return {
        name: tuple(map(move, value)) if isinstance(value, tuple) else value if isinstance(value, int) else move(value)
        for name, value in words.items()
    }


def sums_of(found):
    return found.result if isinstance(found, tuple) else found


@pytest.mark.parametrize("case", CASES)
def test_torch(torch, case):
    words, wanted = CASES[case]
    words = moved(words, lambda array: torch.from_numpy(array).cuda())
    found = sf.standard.sum(torch.from_numpy(X).cuda(), **words)
    result = sums_of(found)
    assert isinstance(result, torch.Tensor) and result.is_cuda and result.dtype == torch.float32
    np.testing.assert_array_equal(result.cpu().numpy(), wanted)
    if case == "keys":
        np.testing.assert_array_equal(found.keys.cpu().numpy(), KEYS[HEADS])
    again = sf.standard.sum(torch.from_numpy(X * 2).cuda(), **words)
    np.testing.assert_array_equal(sums_of(again).cpu().numpy(), np.asarray(wanted) * 2)


@pytest.mark.parametrize("case", CASES)
def test_cupy(cupy, case):
    words, wanted = CASES[case]
    found = sf.standard.sum(cupy.asarray(X), **moved(words, cupy.asarray))
    result = sums_of(found)
    assert isinstance(result, cupy.ndarray) and result.dtype == np.float32
    np.testing.assert_array_equal(cupy.asnumpy(result), wanted)


@pytest.mark.parametrize("case", ["whole", "uniform", "offsets i32", "keys"])
def test_jax(jax, case):
    words, wanted = CASES[case]
    found = sf.standard.sum(jax.numpy.asarray(X), **moved(words, jax.numpy.asarray))
    result = sums_of(found)
    assert isinstance(result, jax.Array)
    np.testing.assert_array_equal(np.asarray(result), wanted)


def test_a_fold_of_the_hosts_arrays():
    np.testing.assert_array_equal(sf.standard.sum(X, offsets=OFFSETS, backend="cuda"), WANTED)


def test_an_operator_that_does_not_commute(torch):
    scale, shift = (GENERATOR.integers(0, 2**31, 5000).astype(np.int32) for _ in range(2))
    offsets = np.sort(GENERATOR.integers(0, 5001, 60))
    offsets[0], offsets[-1] = 0, 5000
    wanted = sf.standard.affine(scale, shift, offsets=offsets, backend="reference")
    found = sf.standard.affine(*(torch.from_numpy(array).cuda() for array in (scale, shift)), offsets=torch.from_numpy(offsets).cuda())
    np.testing.assert_array_equal(found.scale.cpu(), wanted.scale)
    np.testing.assert_array_equal(found.shift.cpu(), wanted.shift)


ROW_CASES = [case for case in CASES if case not in ("flags", "keys")]  # kernels of rows find no segments
TOLD = """operator told(x: row i32, weight: u16) -> (a: u32, b: u32, each told: u64) {
  state { a: u32 = 1; b: u32 = 0 }
  lift { a = u32(x) * 2 + 3; b = u32(x) + u32(weight) }
  combine(p, q) { a = p.a * q.a; b = p.b * q.a + q.b }
  map u64(a) * 31 + u64(b) * 17 + u64(x) + u64(weight) + u64(position) * 1000003 + u64(index) }"""


def rows_of(features):
    return GENERATOR.integers(-9, 10, (N // 64, features)).astype(np.int32), GENERATOR.integers(0, 999, N // 64).astype(np.uint16)


def row_words(case):
    """The words of a case for as many rows as rows_of() gives."""
    count = N // 64
    offsets = np.concatenate([[0], np.sort(GENERATOR.integers(0, count + 1, count // 20)), [count]])
    return {
        "whole": {}, "uniform": {"uniform": 32}, "offsets": {"offsets": offsets}, "offsets i32": {"offsets": offsets.astype(np.int32)},
        "lengths": {"lengths": np.diff(offsets)}, "ranges": {"ranges": (offsets[:-1].copy(), offsets[1:].copy())},
    }[case]  # fmt: skip


@pytest.mark.parametrize("features", [1, 3, 8, 33, 64])
@pytest.mark.parametrize("case", ROW_CASES)
def test_rows_of_torch(torch, case, features):
    """An operator that does not commute, with results of segments and of elements, is what the reference says."""
    if not hasattr(torch, "uint16"):
        pytest.skip(f"torch {torch.__version__} has no uint16")
    (x, weight), words, op = rows_of(features), row_words(case), sf.operator(TOLD)
    wanted = op(x, weight, backend="reference", **words)
    on_gpu = moved(words, lambda array: torch.from_numpy(array).cuda())
    columns = torch.from_numpy(x).cuda(), torch.from_numpy(weight).cuda()
    found = op(*columns, **on_gpu)
    assert found.a.is_cuda and found.told.shape == x.shape and found.a.shape == wanted.a.shape
    again = op(*columns, out=tuple(torch.empty_like(array) for array in found), **on_gpu)
    plan = sf.plan(op, *columns, **on_gpu)
    for given in (found, again, plan(*columns, **on_gpu), op(x, weight, backend="cuda", **words)):
        for name in wanted._fields:
            array = getattr(given, name)
            np.testing.assert_array_equal(array if isinstance(array, np.ndarray) else array.cpu().numpy(), getattr(wanted, name), name)


@pytest.mark.parametrize("name", ["cupy", "jax"])
def test_rows_of_other_libraries(request, name):
    array_of = request.getfixturevalue(name).asarray if name == "cupy" else request.getfixturevalue(name).numpy.asarray
    op = sf.operator("operator row_sum(x: row i32) -> (sum: i32, each rest: i32) { state sum: i32 = 0 lift x combine(a, b) a + b "
                     "finish { sum = sum } map x - sum }")  # fmt: skip
    x, _ = rows_of(7)
    for case in ("whole", "uniform", "offsets i32"):
        words = row_words(case)
        found = op(array_of(x), **moved(words, array_of))
        wanted = op(x, backend="reference", **words)
        for one, other in zip(found, wanted):
            np.testing.assert_array_equal(one.get() if name == "cupy" else np.asarray(one), other)


def test_a_table_of_rows(torch):
    bag = sf.operator("operator bag(i: i32, t: table row f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b laws commutative }")
    table = GENERATOR.integers(-9, 10, (1000, 64)).astype(np.float32)
    places, offsets = GENERATOR.integers(0, 1000, 20000).astype(np.int32), np.arange(0, 20001, 40)
    given = [torch.from_numpy(array).cuda() for array in (places, table, offsets)]
    found = bag(given[0], given[1], offsets=given[2])
    np.testing.assert_array_equal(found.cpu().numpy(), table[places].reshape(500, 40, 64).sum(1))
    torch.testing.assert_close(found, torch.nn.functional.embedding_bag(given[0].long(), given[1], given[2][:-1], mode="sum"))


def test_softmax(torch):
    x = torch.randn(1 << 16, device="cuda")
    torch.testing.assert_close(sf.standard.softmax(x, uniform=64), torch.softmax(x.reshape(-1, 64), 1).reshape(-1))
    found = sf.standard.standardise(x, offsets=torch.arange(0, x.numel() + 1, 256, device="cuda"))
    assert found.mean.shape == (256,) and found.result.shape == x.shape
    torch.testing.assert_close(found.mean, x.reshape(-1, 256).mean(1), rtol=1e-4, atol=1e-5)


def test_gradients_of_sums_of_rows(torch):
    import segfold.torch as st

    op = sf.operator("operator weighted(n: f32, x: row f32) -> f32 { state s: f32 = 0 lift n * x combine(a, b) a + b laws commutative }")
    x, n = torch.randn(4096, 16, device="cuda", requires_grad=True), torch.randn(4096, device="cuda", requires_grad=True)
    found = st.fold(op, n, x, offsets=torch.arange(0, 4097, 32, device="cuda"))
    factor = torch.randn_like(found)
    (found * factor).sum().backward()
    of_each = factor.repeat_interleave(32, 0)
    torch.testing.assert_close(x.grad, of_each * n.detach()[:, None])
    torch.testing.assert_close(n.grad, (of_each * x.detach()).sum(1))

    weighted = st.function(op)

    @torch.compile(fullgraph=True)
    def mean(n, x):
        return weighted(n, x, uniform=32) / 32

    torch.testing.assert_close(mean(n.detach(), x.detach()), (n[:, None] * x).detach().reshape(128, 32, 16).mean(1))


def test_the_current_stream_is_used(torch):
    """Work that a stream must wait for is waited for, and nothing else."""
    x, offsets = torch.from_numpy(X).cuda(), torch.from_numpy(OFFSETS).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        sf.standard.sum(x * 2, offsets=offsets)  # a new stream takes a new plan, for which the GPU is waited for
        torch.cuda._sleep(200_000_000)
        doubled = x * 2
        found = sf.standard.sum(doubled, offsets=offsets)
        is_queued = not stream.query()
        result = found.cpu().numpy()
    assert is_queued, "the call has waited for the stream"
    np.testing.assert_array_equal(result, WANTED * 2)


def test_a_graph_captures_a_call(torch):
    x, offsets = torch.from_numpy(X).cuda(), torch.from_numpy(OFFSETS).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        sf.standard.sum(x, offsets=offsets)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            found = sf.standard.sum(x, offsets=offsets)
    x.copy_(torch.from_numpy(X * 3))
    graph.replay()
    torch.cuda.synchronize()
    np.testing.assert_array_equal(found.cpu().numpy(), WANTED * 3)


def test_threads_with_streams_of_their_own(torch):
    x, offsets = torch.from_numpy(X).cuda(), torch.from_numpy(OFFSETS).cuda()
    torch.cuda.synchronize()
    failures = []

    def work(factor, stream):
        try:
            for _ in range(50):
                with torch.cuda.stream(stream):
                    found = sf.standard.sum(x * factor, offsets=offsets)
                    np.testing.assert_array_equal(found.cpu().numpy(), WANTED * factor)
        except BaseException as failure:  # noqa: B036  a test must see all
            failures.append(failure)

    streams = [torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.default_stream(), torch.cuda.default_stream()]
    threads = [threading.Thread(target=work, args=(i + 1, stream)) for i, stream in enumerate(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_devices(torch):
    device = sf.devices()[0]
    assert device.name == torch.cuda.get_device_name(0)
    assert device.compute_capability == torch.cuda.get_device_capability(0)
    assert device.multiprocessors == torch.cuda.get_device_properties(0).multi_processor_count


def test_tune():
    """What a tuning has found is what later plans take."""
    op = sf.operator(sf.standard.sum.typed("f32").text)
    tuned = sf.tune(op, X, offsets=OFFSETS, seconds=5, evaluations=8)
    print(tuned)
    assert tuned.winner and tuned.measured >= 2 and 0 < tuned.milliseconds < 1e3
    plan = sf.plan(op, X, offsets=OFFSETS, backend="cuda")
    assert plan.stage == tuned.winner.split()[0], plan.explain()
    np.testing.assert_array_equal(op(X, offsets=OFFSETS, backend="cuda"), WANTED)


@pytest.mark.parametrize("kind", ["i8", "f16", "f32", "f64", "i64"])
def test_scalars_are_numbers(torch, kind):
    """Values of every width go along with the call; another one takes the same plan, and a graph keeps the one it has seen."""
    op = sf.operator(f"operator added(x: f32, by: scalar {kind}) -> f32 {{ state s: f32 = 0 lift x + f32(by) combine(a, b) a + b }}")
    x = torch.from_numpy(X).cuda()
    for value in (1, -3, 100):
        found = op(x, by=value, uniform=64)
        np.testing.assert_array_equal(found.cpu().numpy(), X.reshape(-1, 64).sum(1) + 64 * value)
    assert op._cached_plans() == 1
    np.testing.assert_array_equal(op(X, by=5, uniform=64, backend="cuda"), X.reshape(-1, 64).sum(1) + 320)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        op(x, by=1, uniform=64)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            found = op(x, by=7, uniform=64)
        op(x, by=2, uniform=64)
        graph.replay()
    torch.cuda.synchronize()
    np.testing.assert_array_equal(found.cpu().numpy(), X.reshape(-1, 64).sum(1) + 448)
    import segfold.torch as st

    np.testing.assert_array_equal(st.fold(op, x, by=2, uniform=64).cpu().numpy(), X.reshape(-1, 64).sum(1) + 128)


def test_a_first_fold_warns_of_nothing(torch):
    """That a plan does not know its data is a fact of the plan, and no news for who folds finite data."""
    most = sf.operator("operator most(x: f32) -> f32 { state m: f32 = -inf lift x combine(a, b) max(a, b) }")
    x = torch.from_numpy(X).cuda()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(most(x, uniform=64).cpu().numpy(), X.reshape(-1, 64).max(1))
    assert sf.plan(most, x, uniform=64).explain()["identity"].startswith("left out: ")
    assert "identity" not in sf.plan(most, x, uniform=64, assume_finite=True).explain()


def test_wrong_segments_on_the_gpu(torch):
    x = torch.from_numpy(X).cuda()
    with pytest.raises(sf.InputError, match="offsets on the device decrease at segment 1: 5 after 7"):
        sf.standard.sum(x, offsets=torch.tensor([0, 7, 5, N]).cuda(), validate=True)
    with pytest.raises(sf.InputError, match="'x' lies on GPU 0 and 'offsets' on the host"):
        sf.standard.sum(x, offsets=OFFSETS)


def test_torch_function_compile_and_gradients(torch):
    import segfold.torch as st

    x, y = torch.from_numpy(X).cuda(), torch.from_numpy(X[::-1].copy()).cuda()
    offsets = torch.from_numpy(OFFSETS).cuda()
    total = st.function(sf.standard.sum)
    np.testing.assert_array_equal(total(x, offsets=offsets).cpu().numpy(), WANTED)

    @torch.compile(fullgraph=True)
    def spread(x, offsets):
        mean = total(x, offsets=offsets) / offsets.diff().clamp(min=1)
        return mean * 2

    wanted = WANTED / np.maximum(LENGTHS, 1) * 2
    np.testing.assert_allclose(spread(x, offsets).cpu().numpy(), wanted, rtol=1e-6)

    x.requires_grad_()
    y.requires_grad_()
    product = st.fold(sf.standard.dot, x, y, offsets=offsets)
    weight = torch.arange(len(LENGTHS), device="cuda", dtype=torch.float32)
    (product * weight).sum().backward()
    spread_out = weight.repeat_interleave(offsets.diff())
    torch.testing.assert_close(x.grad, spread_out * y.detach())
    torch.testing.assert_close(y.grad, spread_out * x.detach())
    for words in ({"uniform": 64}, {}, {"keys": torch.from_numpy(KEYS).cuda()}, {"flags": torch.from_numpy(HEADS).cuda()},
                  {"lengths": torch.from_numpy(LENGTHS).cuda()}):  # fmt: skip
        x.grad = None
        found = st.fold(sf.standard.sum, x, **words)
        (sums_of(found) * 3).sum().backward()
        torch.testing.assert_close(x.grad, torch.full_like(x, 3))
    x.grad = None
    st.fold(sf.standard.max, x, offsets=offsets).sum().backward()
    assert x.grad.sum() == int((offsets.diff() > 0).sum()), "one place in each segment that has elements"
    checks = torch.library.opcheck(
        torch.ops.segfold.fold.default,
        (sf.standard.sum.typed("f32")._origin()[1], [x.detach()[:64].clone()], "uniform", [], 8),
        raise_exception=False,
    )
    print(checks)
    assert set(checks.values()) == {"SUCCESS"}


def test_listings_of_the_reference_that_need_a_gpu(torch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # one writes a file
    page = (pathlib.Path(__file__).resolve().parents[1] / "REFERENCE.md").read_text()
    listings = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert listings
    names = {"torch": torch, "sf": sf, "np": np}
    for listing in listings:
        exec(listing, names)
    assert names["sums"].shape == (1 << 15,) and names["sums"].is_cuda
    torch.testing.assert_close(names["sums"], names["x"].reshape(-1, 32).sum(1))


def median_us(call, times=2000):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return sorted(taken)[times // 2] * 1e6


def test_host_time_of_a_call(torch):
    """At most 15 us for a call with tensors, the making of the result included; on a slow host as long as torch's own."""
    x = torch.from_numpy(X[:4096]).cuda()
    offsets = torch.arange(0, 4097, 32, device="cuda")
    lengths = torch.full((128,), 32, device="cuda", dtype=torch.int64)
    out = torch.empty(128, device="cuda")
    plan = sf.plan(sf.standard.sum, x, offsets=offsets)
    import segfold.torch as st

    total = st.function(sf.standard.sum)
    above = sf.standard.count_above
    rows = {
        "x.new_empty(128)": lambda: x.new_empty(128),
        "x.reshape(128, 32).sum(1)": lambda: x.reshape(128, 32).sum(1),
        "torch.segment_reduce": lambda: torch.segment_reduce(x, "sum", offsets=offsets, axis=0),
        "op(x, offsets=o)": lambda: sf.standard.sum(x, offsets=offsets),
        "op(x, offsets=o, out=r)": lambda: sf.standard.sum(x, offsets=offsets, out=out),
        "plan(x, offsets=o, out=r)": lambda: plan(x, offsets=offsets, out=out),
        "op(x, uniform=32)": lambda: sf.standard.sum(x, uniform=32),
        "above(x, threshold=0.5, uniform=32)": lambda: above(x, threshold=0.5, uniform=32),
        "op(x, lengths=l)": lambda: sf.standard.sum(x, lengths=lengths),
        "segfold.torch.function(op)(x, offsets=o)": lambda: total(x, offsets=offsets),
    }
    taken = {}
    for name, call in rows.items():
        call()
        torch.cuda.synchronize()
        taken[name] = median_us(call)
        torch.cuda.synchronize()
        print(f"{name:44} {taken[name]:6.2f} us")
    most = max(15, taken["torch.segment_reduce"])
    assert taken["op(x, offsets=o)"] <= most and taken["op(x, offsets=o, out=r)"] <= most


def test_bench():
    bench = sf.bench(sf.standard.sum, X, offsets=OFFSETS, repeats=5)
    print(bench)
    assert bench.chosen is not None and bench.chosen.agrees and 0 < bench.chosen.fraction
    assert len(bench) > 3 and bench.num_elements == N and bench.chart["data"]["values"]


def test_device_time_is_the_kernels(torch):
    """Printed: the time on the GPU, by events around many calls, beside the bytes moved."""
    n = 1 << 26
    x = torch.ones(n, device="cuda")
    offsets = torch.arange(0, n + 1, 32, device="cuda", dtype=torch.int32)
    out = torch.empty(n // 32, device="cuda")
    sf.standard.sum(x, offsets=offsets, out=out)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    best = float("inf")
    for _ in range(5):
        begin.record()
        for _ in range(20):
            sf.standard.sum(x, offsets=offsets, out=out)
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) / 20)
    moved_bytes = x.nbytes + offsets.nbytes + out.nbytes
    print(f"2^26 f32 in segments of 32: {best:.4f} ms, {moved_bytes / best / 1e6:.0f} GB/s")
    assert bool((out == 32).all())


def test_a_sorted_call_leaves_it_to_others_to_say_that_keys_come_back(torch):
    op = sf.operator("operator of_runs(x: f64) -> f64 { state s: f64 = 0 lift x combine(a, b) a + b }")
    x, keys = torch.ones(3, dtype=torch.float64).cuda(), torch.tensor([3, 1, 3]).cuda()
    counts = []
    for sorts in (True, False, False):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            op(x, keys=keys, sort_keys=sorts)
        counts.append(sum("keys come back" in str(warning.message) for warning in caught))
    assert counts == [0, 1, 0] and "keys come back" in sf.explain(op)
