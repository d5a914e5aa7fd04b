"""What segfold.jax refuses, and how it says so."""

import importlib
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest

import segfold as sf

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], "f4")
IDS = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0], np.int32)


def test_the_package_loads_without_jax():
    script = "import sys, segfold; print(sorted(name for name in sys.modules if name.startswith('jax')))"
    assert subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_a_build_without_the_header_says_so(monkeypatch):
    pytest.importorskip("jax", reason="JAX is not installed, so that folds in its programs are not tried")
    monkeypatch.setattr(sf._segfold, "xla_handlers", lambda minor: None)
    monkeypatch.delitem(sys.modules, "segfold.jax", raising=False)
    with pytest.raises(ImportError, match="this build of segfold has nothing for JAX.*install jaxlib"):
        importlib.import_module("segfold.jax")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed, so that folds in its programs are not tried")
    if not sf._segfold.has_xla():
        pytest.skip("the extension was built without jaxlib's header, so that folds in JAX's programs are not tried")
    importlib.import_module("segfold.jax")
    return jax


def test_a_header_that_states_no_version_is_told(jax, monkeypatch, tmp_path):
    (tmp_path / "xla/ffi/api").mkdir(parents=True)
    (tmp_path / "xla/ffi/api/c_api.h").write_text("#define XLA_FFI_API_MINOR_VERSION 1\n")
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    monkeypatch.delitem(sys.modules, "segfold.jax")
    with pytest.raises(ImportError, match="finds no version of XLA's interface in the header of JAX"):
        importlib.import_module("segfold.jax")


def test_a_call_of_traced_arrays_names_the_way(jax):
    with pytest.raises(sf.InputError, match="'x' is a value that JAX traces.*segfold.jax.fold"):
        jax.jit(lambda x: sf.standard.sum(x, uniform=3))(X)


@pytest.mark.parametrize(
    "words, message",
    [
        ({"keys": IDS}, "'keys' marks segments whose number is known only when it runs.*give offsets=, or groups="),
        ({"groups": IDS}, "groups= and num_groups= are given together"),
        ({"num_groups": 3}, "groups= and num_groups= are given together"),
        ({"groups": IDS, "num_groups": -1}, "num_groups is -1; it is the number of groups, 0 or more"),
        ({"groups": IDS[:3], "num_groups": 2}, "'groups' has 3 numbers, and there are 9 elements"),
        ({"offsets": IDS, "uniform": 3}, "segments are given twice, as offsets and as uniform"),
        ({"uniform": 0}, "uniform is 0; it is the length of each segment, 1 or more"),
        ({"offsets": X}, r"'offsets' is float32 of shape \(9,\); one dimension of int32 or int64 is needed"),
        ({"offsets": IDS[:0]}, "'offsets' is empty"),
        ({"offsets": np.array([-(2**32), 3, 9])}, "'offsets' is int64, which JAX would take as int32"),
        ({"lengths": np.array([0, 2**32 + 9])}, "'lengths' is int64, which JAX would take as int32"),
        ({"offsets": np.array([0, 2**63], "u8")}, "'offsets' is uint64, which JAX would take as uint32"),
        ({"offsets": [0, 9]}, "'offsets' is a list, and an array is needed; give jax.numpy.asarray"),
    ],
)
def test_segments_that_are_wrong(jax, words, message):
    with pytest.raises(sf.InputError, match=message):
        sf.jax.fold(sf.standard.sum, X, **words)


def test_arrays_that_are_wrong(jax):
    for columns, message in (
        ([], "operator sum has no array for 'x'"),
        ([X.reshape(3, 3)], r"'x' has shape \(3, 3\), and operator sum takes one dimension there"),
        ([X.astype("c8")], "'x' is complex64; sum takes"),
    ):
        with pytest.raises(sf.InputError, match=message):
            sf.jax.fold(sf.standard.sum, *columns, uniform=3)
    with pytest.raises(sf.InputError, match="'w' has 3 elements and 'x' has 9; columns are equally long"):
        sf.jax.fold(sf.standard.weighted_mean, X, X[:3], uniform=3)
    with pytest.raises(sf.InputError, match="'w' is int32, and operator weighted_mean takes float32 there"):
        sf.jax.fold(sf.standard.weighted_mean, X, IDS, uniform=3)
    with pytest.raises(TypeError, match="nothing is called 'weight'"):
        sf.jax.fold(sf.standard.sum, X, weight=X)


def test_scalars_that_are_wrong(jax):
    op = sf.operator("operator above(x: f32, n: scalar i32) -> i32 { state s: i32 = 0 lift x > f32(n) ? 1 : 0 combine(a, b) a + b }")
    assert sf.jax.fold(op, X, 4, uniform=3).tolist() == [0, 2, 2]
    with pytest.raises(sf.InputError, match="'n' is 4.5, and the operator takes a value of int32 there"):
        sf.jax.fold(op, X, 4.5, uniform=3)
    with pytest.raises(sf.InputError, match="'n' is 5000000000, and the operator takes a value of int32 there"):
        sf.jax.fold(op, X, 5_000_000_000, uniform=3)
    for wrong in ("a", "4", True, None, 1j, np.float64(4.5), np.int64(2**40)):
        with pytest.raises(sf.InputError, match="'n' is .*, and the operator takes a value of int32 there"):
            sf.jax.fold(op, X, wrong, uniform=3)
    with pytest.raises(sf.InputError, match=r"scalar 'n' is float32 of shape \(9,\); one number of int32 is needed"):
        sf.jax.fold(op, X, X, uniform=3)


@pytest.mark.parametrize(
    "type, right, wrong",
    [
        ("i8", [-128, np.int64(127), np.uint8(3)], [300, -129, 1.0]),
        ("u8", [255], [-1, 256]),
        ("f32", [2, 2.5, np.float64(2.0), np.float16(0.5), np.int8(3), np.inf, np.array(1.5)], ["2", 1e39, 10**400, True]),
        ("bool", [True, np.bool_(False)], [1, 0.0]),
    ],
)
def test_scalars_are_taken_as_by_a_call(jax, type, right, wrong):
    op = sf.operator(f"operator given(x: f32, k: scalar {type}) -> f32 {{ state s: f32 = 0 lift x + f32(k) combine(a, b) a + b }}")
    for k in right:
        np.testing.assert_array_equal(sf.jax.fold(op, X, k, uniform=3), op(X, k, uniform=3))
    for k in wrong:
        with pytest.raises(sf.InputError, match="'k' is"):
            op(X, k, uniform=3)
        with pytest.raises(sf.InputError, match="'k' is .*, and the operator takes a value of"):
            sf.jax.fold(op, X, k, uniform=3)


def test_counts_are_integers(jax):
    wanted = sf.standard.sum(X, uniform=3)
    for three in (np.int64(3), jax.numpy.int32(3), np.array(3)):
        np.testing.assert_array_equal(sf.jax.fold(sf.standard.sum, X, uniform=three), wanted)
        assert sf.jax.fold(sf.standard.sum, X, groups=IDS, num_groups=three).shape == (3,)
    for wrong in (True, 3.0, np.float32(3), "3", np.array([3, 3])):
        with pytest.raises(TypeError, match="uniform= takes the length of each segment, an integer, and .* is given"):
            sf.jax.fold(sf.standard.sum, X, uniform=wrong)
        with pytest.raises(TypeError, match="num_groups= takes the number of groups, an integer, and .* is given"):
            sf.jax.fold(sf.standard.sum, X, groups=IDS, num_groups=wrong)
    with pytest.raises(TypeError, match="uniform= takes the length of each segment, an integer, and "):
        jax.jit(lambda uniform: sf.jax.fold(sf.standard.sum, X, uniform=uniform))(3)
    with pytest.raises(TypeError, match=r"ranges= takes a pair of arrays, \(begins, ends\), and 5 is given"):
        sf.jax.fold(sf.standard.sum, X, ranges=5)


def test_shapes_that_are_symbols(jax):
    export = pytest.importorskip("jax.export")
    traced = jax.ShapeDtypeStruct(export.symbolic_shape("n"), "float32")
    with pytest.raises(sf.InputError, match=r"'x' has shape \(n,\); a fold needs numbers there"):
        export.export(jax.jit(lambda x: sf.jax.fold(sf.standard.sum, x)))(traced)


def test_programs_are_prepared_for_the_default_device(jax, monkeypatch):
    gpu = types.SimpleNamespace(platform="gpu", local_hardware_id=3)
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: [gpu] if backend is None else jax.devices(backend))
    assert sf.jax._device() == 3
    for host in ("cpu", jax.devices("cpu")[0]):
        with jax.default_device(host):
            assert sf.jax._device() == -1


@pytest.fixture
def on_the_host(jax):
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def test_values_that_are_wrong_are_told_by_jax(jax, on_the_host):
    run = jax.jit(lambda x, o: sf.jax.fold(sf.standard.sum, x, offsets=o))
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT: .*offset"):
        run(X, np.array([0, 4, 8], np.int32)).block_until_ready()
    assert run(X, np.array([0, 4, 9], np.int32)).tolist() == [9.0, 27.0]


def test_an_operator_whose_law_is_refuted(jax, on_the_host):
    op = sf.operator("operator minus(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a - b }")
    with pytest.raises(jax.errors.JaxRuntimeError, match="operator minus states an identity that is none"):
        jax.jit(lambda x: sf.jax.fold(op, x, uniform=3))(X).block_until_ready()


def test_doubts_are_told_once_where_a_program_is_traced(jax):
    op = sf.operator(
        "operator turned(x: f32) -> f32 { state { s: f32 = 1; t: f32 = 0 } lift { s = x; t = x } "
        "combine(a, b) { s = a.s * b.s; t = a.t * b.s + b.t } finish t laws commutative }"
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            jax.grad(lambda x: sf.jax.fold(op, x, uniform=3).sum())(X)
    assert [str(one.message).split(";")[0] for one in told] == ["operator turned is not commutative"]
    assert told[0].filename == __file__
