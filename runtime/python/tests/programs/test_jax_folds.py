"""Folds inside of JAX's programs, beside the same folds of NumPy's arrays outside."""

import subprocess
import sys

import numpy as np
import pytest

import segfold as sf
from same_results import expect_same

jax = pytest.importorskip("jax", reason="JAX is not installed, so that folds in its programs are not tried")
if not sf._segfold.has_xla():
    pytest.skip("the extension was built without jaxlib's header, so that folds in JAX's programs are not tried", allow_module_level=True)
jnp = jax.numpy
import segfold.jax  # noqa: E402

OFFSETS = np.array([0, 5, 5, 6, 14, 14], np.int32)
IDS = np.array([2, 0, 2, -1, 4, 2, 0, 9, 4, 0, 2, 4, 4, 0], np.int32)


@pytest.fixture(autouse=True, params=[False, True], ids=["x64 off", "x64 on"])
def x64(request):
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", before)


def drawn(op, dtype="f4", length=14):
    random = np.random.default_rng(11)
    return [random.uniform(0.3, 1.5, length).astype(dtype) for _ in op.parameters]


def parts(found):
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]


def agree(found, wanted):
    assert len(parts(found)) == len(parts(wanted))
    for one, other in zip(parts(found), parts(wanted)):
        expect_same(one, other)


# affine does not commute; softmax and linear_recurrence give a value for each element.
OPERATORS = "sum mean_variance affine matrix_2x2 log_sum_exp weighted_mean top_four softmax linear_recurrence correlation".split()


@pytest.mark.drawn
@pytest.mark.parametrize("name", OPERATORS)
def test_a_program_folds_as_a_call_does(name):
    op = getattr(sf.standard, name)
    columns = drawn(op)
    for words in ({"offsets": OFFSETS}, {"lengths": np.diff(OFFSETS)}, {"ranges": (OFFSETS[:-1], OFFSETS[1:])}, {"uniform": 7}, {}):
        names = list(words)

        def program(columns, *segments):
            return sf.jax.fold(op, *columns, **dict(zip(names, segments)))

        fixed = names == ["uniform"]
        run = jax.jit(lambda columns: sf.jax.fold(op, *columns, **words)) if fixed else jax.jit(program)
        if jax.default_backend() == "gpu" and op is sf.standard.linear_recurrence and names == ["ranges"]:
            with pytest.raises(sf.InputError, match="no stage takes segments given by ranges on a device for operator linear_recurrence"):
                run(columns, *words.values())
            continue
        agree(run(columns, *([] if fixed else words.values())), op(*columns, **words))


def test_several_results_have_names():
    found = jax.jit(lambda x: sf.jax.fold(sf.standard.mean_variance, x, uniform=7))(drawn(sf.standard.sum)[0])
    assert found._fields == ("mean", "variance")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32"])
def test_types_keep_their_bits(dtype):
    x = jnp.arange(14).astype(dtype)
    found = jax.jit(lambda x, o: sf.jax.fold(sf.standard.sum, x, offsets=o))(x, OFFSETS)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, np.array([10, 0, 5, 76, 0]).astype(found.dtype))


def test_results_of_64_bits(x64):
    x = drawn(sf.standard.sum)[0]
    if not x64:
        with pytest.raises(sf.InputError, match=r"result 'index' of operator argmax is int64, and JAX holds 32 bits at most here; set jax"):
            jax.jit(lambda x: sf.jax.fold(sf.standard.argmax, x, uniform=7))(x)
        with pytest.raises(sf.InputError, match="'x' is float64, which JAX would take as float32"):
            sf.jax.fold(sf.standard.sum, x.astype("f8"), uniform=7)
        return
    agree(jax.jit(lambda x: sf.jax.fold(sf.standard.argmax, x, uniform=7))(x), sf.standard.argmax(x, uniform=7))
    agree(jax.jit(lambda x: sf.jax.fold(sf.standard.sum, x))(x.astype("f8")), sf.standard.sum(x.astype("f8")))


@pytest.mark.parametrize("name", ["sum", "affine", "max", "softmax", "linear_recurrence", "mean_variance"])
def test_groups_in_any_order_are_folded_in_the_order_of_their_elements(name):
    op = getattr(sf.standard, name)
    columns = drawn(op)
    found = jax.jit(lambda columns, ids: sf.jax.fold(op, *columns, groups=ids, num_groups=6))(columns, np.where(IDS == 9, 7, IDS))
    agree(found, op(*columns, groups=np.where(IDS == 9, -1, IDS), num_groups=6))


@pytest.mark.parametrize("ids", [[], [-1, -1], [5], [0, 0, 0, 0]])
def test_groups_of_few_elements(ids):
    x = np.arange(1, len(ids) + 1, dtype="f4")
    found = jax.jit(lambda x, ids: sf.jax.fold(sf.standard.sum, x, groups=ids, num_groups=3))(x, np.array(ids, np.int32))
    agree(found, sf.standard.sum(x, groups=np.array([i if i < 3 else -1 for i in ids], np.int32), num_groups=3))


def test_numbers_beyond_32_bits_are_in_no_group(x64):
    x, ids = np.arange(1, 8, dtype="f4"), np.array([0, np.iinfo("i8").min, -(2**32), 1, -1, 2**32, np.iinfo("i8").max])
    for given in (ids, np.where(ids < 0, 2**40, ids).astype("u8")) if not x64 else (ids,):
        np.testing.assert_array_equal(sf.jax.fold(sf.standard.sum, x, groups=given, num_groups=2), [1, 4])


def test_groups_of_an_operator_without_results_of_empty_segments():
    """Such groups are ranges; others lie between the segments of elements in no group."""
    op = sf.operator("operator later(x: f32) -> f32 { state s: f32  lift x  combine(a, b) b }")
    x, ids = drawn(op)[0], np.array([2, 0, 2, -1, 1, 2, 0, 9, 1, 0, 2, 1, 1, 0], np.int32)
    found = jax.jit(lambda x, ids: sf.jax.fold(op, x, groups=ids, num_groups=3))(x, ids)
    np.testing.assert_array_equal(found, x[[13, 12, 10]])


def test_elements_in_no_group_read_no_table():
    op = sf.operator("operator read(i: i32, t: table f32) -> f32 { state s: f32 = 0  lift t[i]  combine(a, b) a + b }")
    i, t, ids = np.array([0, 9, 1, -5], np.int32), np.array([1, 2], "f4"), np.array([1, -1, 0, 7], np.int32)
    found = jax.jit(lambda i, t, ids: sf.jax.fold(op, i, t, groups=ids, num_groups=2))(i, t, ids)
    np.testing.assert_array_equal(found, [2, 1])


def test_groups_know_where_their_elements_stood():
    op = sf.operator(
        "operator where(x: f32) -> i32 { state at: i64 = -1  lift x > 1.0 ? index : -1  combine(a, b) b.at < 0 ? a.at : b.at  finish i32(at) }"
    )
    x = drawn(op)[0]
    found = jax.jit(lambda x, ids: sf.jax.fold(op, x, groups=ids, num_groups=5))(x, np.where(IDS == 9, -1, IDS))
    agree(found, op(x, groups=np.where(IDS == 9, -1, IDS), num_groups=5))
    assert len(set(parts(found)[0].tolist())) > 2


def test_rows_tables_and_scalars():
    op = sf.operator(
        "operator bag(word: i32, weight: f32, k: scalar f32, vectors: table row f32, bias: table f32) -> f32 { state s: f32 = 0 "
        "lift k * weight * vectors[word] + bias[segment]  combine(a, b) a + b }"
    )
    word, weight = np.array([2, 0, 1, 1, 2], np.int32), np.linspace(1, 2, 5).astype("f4")
    vectors, bias, ends = np.arange(12, dtype="f4").reshape(3, 4), np.array([1, 2, 3], "f4"), np.array([0, 2, 2, 5], np.int32)
    found = jax.jit(lambda *arrays: sf.jax.fold(op, *arrays[:2], 0.5, *arrays[2:4], offsets=arrays[4]))(word, weight, vectors, bias, ends)
    agree(found, op(word, weight, 0.5, vectors, bias, offsets=ends))
    agree(sf.jax.fold(op, word, weight, jnp.float32(0.5), vectors, bias, offsets=ends), found)


def test_empty_arrays():
    x = np.zeros(0, "f4")
    for words in ({}, {"uniform": 3}, {"offsets": np.zeros(3, np.int32)}, {"lengths": np.zeros(0, np.int32)}):
        agree(jax.jit(lambda x: sf.jax.fold(sf.standard.sum, x, **words))(x), sf.standard.sum(x, **words))
        agree(jax.jit(lambda x: sf.jax.fold(sf.standard.softmax, x, **words))(x), sf.standard.softmax(x, **words))


def test_a_program_serves_other_values_and_sizes():
    run = jax.jit(lambda x, o: sf.jax.fold(sf.standard.affine, x, x + 1, offsets=o))
    for length in (1, 7, 1000, 100003):
        x = np.random.default_rng(length).uniform(0.5, 1, length).astype("f4")
        ends = np.sort(np.append(np.random.default_rng(length).integers(0, length + 1, 5), [0, length])).astype(np.int32)
        agree(run(x, ends), sf.standard.affine(x, x + 1, offsets=ends))


def test_folds_meet_control_flow_and_other_operations():
    def program(x, o):
        def step(carry, _):
            return sf.jax.fold(sf.standard.softmax, carry + 1.0, offsets=o) * carry, carry.sum()

        return jax.lax.scan(step, x, None, length=3)

    x = drawn(sf.standard.sum)[0]
    found, _ = jax.jit(program)(x, OFFSETS)
    wanted = x
    for _ in range(3):
        wanted = sf.standard.softmax(wanted + np.float32(1), offsets=OFFSETS) * wanted
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_several_threads_run_a_program():
    import concurrent.futures

    run = jax.jit(lambda x: sf.jax.fold(sf.standard.affine, x, x, uniform=100))
    x = np.random.default_rng(1).uniform(0.5, 1, 10000).astype("f4")
    wanted = parts(run(x))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: parts(run(x)), range(100)):
            np.testing.assert_array_equal(found, wanted)


def test_a_stored_program_serves_another_process(tmp_path, x64):
    """JAX keeps compiled programs on disk, where a fold is known by its text."""
    program = (
        "import jax, sys, numpy as np; jax.config.update('jax_enable_x64', sys.argv[1] == 'True'); "
        f"jax.config.update('jax_compilation_cache_dir', {str(tmp_path)!r}); "
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0); jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
        "import segfold as sf, segfold.jax\n"
        "if sys.argv[2] == 'second': sf.jax.fold(sf.standard.product, np.ones(4, 'f4'))\n"
        "x = np.array([1, 2, 3, 4], 'f4'); print(jax.jit(lambda x: sf.jax.fold(sf.standard.sum, x, uniform=2))(x))"
    )
    for turn in ("first", "second"):
        ran = subprocess.run([sys.executable, "-c", program, str(x64), turn], check=True, capture_output=True, text=True)
        assert ran.stdout == "[3. 7.]\n"
    assert any(tmp_path.iterdir())
