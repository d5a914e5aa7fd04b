"""What a caller is told of wrong calls: whole texts."""

import ctypes
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import segfold as sf

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
OFFSETS = np.array([0, 3, 5, 5, 9])
KEYS = np.array([1, 1, 1, 0, 0, 1, 1, 1, 1], np.int32)
SUM = sf.standard.sum
SPREAD = sf.operator(
    "operator spread(x: i32) -> (low: i32, high: i32) { state { low: i32; high: i32 } lift { low = x; high = x } "
    "combine(a, b) { low = min(a.low, b.low); high = max(a.high, b.high) } }"
)
ROOM = np.empty(3, np.int32)
HOST = {"backend": "reference"}
GATHER = sf.operator("operator gather(i: i32, t: table f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b }")


def read_only(array):
    array.flags.writeable = False
    return array


class OnGpu:
    """An array on a GPU, as far as can be seen without one."""

    def __init__(self, dtype="<f4", shape=(9,), strides=None):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": dtype, "data": (0, False), "strides": strides, "version": 3,
        }  # fmt: skip


class Series:
    """A column as pandas has them."""

    def to_numpy(self):
        return X


class Frame(Series):
    """Several columns, as pandas has them."""

    columns = ["x"]


class ArrayMaker:
    """What NumPy makes an array of."""

    def __array__(self, dtype=None, copy=None):
        return X


class StrangeDevice:
    """A DLPack tensor that lies on a device of kind 8 (Metal)."""

    def __dlpack__(self, **words):
        raise BufferError("memory of this device is not lent")

    def __dlpack_device__(self):
        return (8, 0)


TYPED = sf.standard.sum.typed("i32")

CASES = [
    # Columns.
    (lambda: SUM(), sf.InputError, "operator sum takes 1 array (x), and 0 are given"),
    (lambda: SUM(X, X), sf.InputError, "operator sum takes 1 array (x), and 2 are given"),
    (lambda: sf.standard.dot(X), sf.InputError, "operator dot has no array for 'y'; it takes dot(x: T, y: T)"),
    (lambda: SUM(dict(y=X)), sf.InputError, "operator sum has no array for 'x', and nothing is called 'y'; it takes sum(x: T)"),
    (lambda: sf.standard.dot(dict(x=X, a=X, b=X, c=X, d=X)), sf.InputError,
     "operator dot has no array for 'y', and nothing is called 'a', 'b', 'c', ...; it takes dot(x: T, y: T)"),
    (lambda: SUM(np.ma.array(X, mask=X > 4)), sf.InputError,
     "'x' is a masked array, and a fold looks at no mask; give array.filled(VALUE), where VALUE changes no result"),
    (lambda: sf.plan(SUM, X, **HOST)(X, backend="reference"), sf.InputError,
     "stage, backend, settings and the like are given when a plan is made, not when it is run"),
    (lambda: sf.plan(SUM, X, **HOST)(X, device=3), sf.InputError,
     "stage, backend, settings and the like are given when a plan is made, not when it is run"),
    (lambda: sf.plan("sum", X), TypeError, "plan() takes an operator, as sf.standard.sum or sf.operator(\"sum\"), and 'sum' is given"),
    (lambda: sf.check("sum"), TypeError, "check() takes an operator, as sf.standard.sum or sf.operator(\"sum\"), and 'sum' is given"),
    (lambda: SUM(X, assume=3), TypeError, "assume= takes the name of a law, or names of laws, and 3 is given"),
    (lambda: SUM(X, uniform=True), TypeError, "uniform= takes the length of each segment, an integer, and True is given"),
    (lambda: sf.stream(SUM, X, uniform=True), TypeError, "uniform= takes the length of each segment, an integer, and True is given"),
    (lambda: SUM(X, keys=np.zeros(9, "M8[D]")), sf.InputError,
     "'keys' holds elements of type datetime64[D]; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 in "
     "the machine's byte order; dates and durations are folded as int64: give keys.view(\"i8\")"),
    (lambda: SUM(np.array([1, None], object)), sf.InputError,
     "'x' holds elements of type object; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 in the machine's "
     "byte order; objects of Python are none of these: give x.astype(float), of text the codes numpy.unique(x, "
     "return_inverse=True)[1], of pandas with missing values to_numpy(float, na_value=VALUE), where VALUE changes no result"),
    (lambda: SUM(X > 2), sf.InputError,
     "operator 'sum' is not defined for bool; it takes i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 and f64; "
     "give x.astype(\"i4\"), where True is 1"),
    (lambda: SUM(X, uniform=-1), sf.InputError, "uniform is -1; it is the length of each segment, 1 or more"),
    (lambda: sf.operator("summ"), sf.SpecError, "unknown operator 'summ'; did you mean 'sum'? dir(segfold.standard) lists all"),
    (lambda: sf.operator("mine.seg"), sf.SpecError, "'mine.seg' is no text of an operator; of a file give pathlib.Path('mine.seg')"),
    (lambda: SUM(X, x=X), TypeError, "sum: 'x' is given twice"),
    (lambda: sf.standard.dot(X, X[:5], uniform=3), sf.InputError,
     "column 'y' has 5 elements, but the layout covers 9; both must agree"),
    (lambda: sf.standard.dot(X, X.astype("i4")), sf.InputError,
     "parameter 'y' of operator dot is f32, but its array is i32; give an array of f32, or write the operator for i32"),
    (lambda: SPREAD(X), sf.InputError,
     "parameter 'x' of operator spread is i32, but its array is f32; give an array of i32, or write the operator for f32"),
    (lambda: SUM([3, 1, 4]), sf.InputError,
     "'x' is a builtins.list; an array of NumPy, torch, CuPy, JAX or Arrow is needed, or one that speaks DLPack, "
     "__cuda_array_interface__ or the buffer protocol: give numpy.asarray(x)"),
    (lambda: SUM(X, lengths=ArrayMaker()), sf.InputError,
     "'lengths' is a test_wrong_calls.ArrayMaker; an array of NumPy, torch, CuPy, JAX or Arrow is needed, or one that speaks DLPack, "
     "__cuda_array_interface__ or the buffer protocol: give numpy.asarray(lengths)"),
    (lambda: SUM(Frame()), sf.InputError,
     "'x' is a test_wrong_calls.Frame; an array of NumPy, torch, CuPy, JAX or Arrow is needed, or one that speaks DLPack, "
     "__cuda_array_interface__ or the buffer protocol: give x[NAME].to_numpy(), a column"),
    (lambda: SUM(Series()), sf.InputError,
     "'x' is a test_wrong_calls.Series; an array of NumPy, torch, CuPy, JAX or Arrow is needed, or one that speaks DLPack, "
     "__cuda_array_interface__ or the buffer protocol: give x.to_numpy()"),
    (lambda: SUM(X.reshape(3, 3)), sf.InputError,
     "'x' has shape (3, 3); an array of one dimension is needed: give x.reshape(-1), which makes each number an element, or an "
     "operator over rows (x: row f32), which folds rows of features"),
    (lambda: SUM(np.float32(3)), sf.InputError, "'x' has shape (); an array of one dimension is needed"),
    (lambda: SUM(X[::2]), sf.InputError,
     "'x' has a stride of 8 bytes for elements of 4; elements must lie side by side, and segfold copies nothing by itself: "
     "give a contiguous copy"),
    (lambda: SUM(X[::-1]), sf.InputError,
     "'x' has a stride of -4 bytes for elements of 4; elements must lie side by side, and segfold copies nothing by itself: "
     "give a contiguous copy"),
    (lambda: SUM(X.astype("complex64")), sf.InputError,
     "'x' holds elements of type complex64; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 "
     "in the machine's byte order; complex numbers are two columns: give x.real.copy() and x.imag.copy()"),
    (lambda: SUM(X.astype(">f4")), sf.InputError,
     "'x' holds elements of type >f4; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 "
     "in the machine's byte order; give x.astype(\"f4\")"),
    (lambda: SUM(np.array(["a", "b"])), sf.InputError,
     "'x' holds elements of type <U1; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 "
     "in the machine's byte order; text is folded as codes: give numpy.unique(x, return_inverse=True)[1]"),
    (lambda: SUM(X, keys=np.full(9, b"a")), sf.InputError,
     "'keys' holds elements of type |S1; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 "
     "in the machine's byte order; text is folded as codes: give numpy.unique(keys, return_inverse=True)[1]"),
    (lambda: SUM(np.zeros(9, [("a", "f4")])), sf.InputError,
     "'x' holds elements of type [('a', '<f4')]; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 "
     "in the machine's byte order; each field is a column: give x[NAME].copy()"),
    (lambda: SUM(np.frombuffer(b"12345678" + b"9" * 5, np.uint8)[1:13].view("f4")), sf.InputError,
     "'x' does not begin at a multiple of its elements' size; give an aligned copy"),
    (lambda: sf.standard.log_sum_exp(X.astype("i4")), sf.InputError,
     "operator 'log_sum_exp' is not defined for i32; it takes f16, bf16, f32 and f64; give x.astype(float)"),
    (lambda: GATHER(np.array([0, 3], np.int32), np.ones(3, np.float32), backend="reference"), sf.InputError,
     "table 't' has 3 entries; element 1 reads t[3], and indices run from 0 to 2"),
    # Segments.
    (lambda: SUM(X, offsets=OFFSETS, uniform=3), sf.InputError, "segments are given twice, as offsets and as uniform; give them once"),
    (lambda: SUM(X, offsets=np.array([0, 5, 3, 9])), sf.InputError,
     "offsets decrease at segment 1: 3 after 5; offsets must be non-decreasing"),
    (lambda: SUM(X, offsets=np.array([0, 3])), sf.InputError,
     "offsets end at 3 but there are 9 elements; the last offset must be the number of elements"),
    (lambda: SUM(X, offsets=OFFSETS.astype("f8")), sf.InputError, "offsets are f64; they must be integers"),
    (lambda: SUM(X, lengths=np.array([4, 4])), sf.InputError, "lengths add up to 8 but there are 9 elements; they must add up to the number of elements"),
    (lambda: SUM(X, uniform=4), sf.InputError,
     "9 elements do not divide into segments of 4: 1 is left over; the number of elements must be a multiple of the length; for segments of other lengths give lengths or offsets"),
    (lambda: SUM(X, uniform="4"), TypeError, "uniform= takes the length of each segment, an integer, and '4' is given"),
    (lambda: SUM(X, keys=OFFSETS), sf.InputError, "there are 5 keys but 9 elements; give one key per element"),
    (lambda: SUM(X, flags=np.array([1, 0], bool)), sf.InputError, "there are 2 flags but 9 elements; give one flag per element"),
    (lambda: SUM(X, ranges=OFFSETS), TypeError, "ranges= takes a pair of arrays, (begins, ends), and a ndarray is given; of an array of two rows give (array[0], array[1])"),
    (lambda: SUM(X, ranges=(np.array([0]), np.array([3, 4]))), sf.InputError, "ranges have 1 begin but 2 ends; there must be one of each per segment"),
    (lambda: SUM(X, ranges=(np.array([0]), np.array([3], "i4"))), sf.InputError,
     "'begins' are i64 and 'ends' i32; both are of one type"),
    (lambda: SPREAD(X.astype("i4"), offsets=OFFSETS), sf.InputError,
     "segment 2 is empty, and operator spread has no identity; give its state fields an identity (= VALUE), or an 'empty' part"),
    # Where results go.
    (lambda: SUM(X, offsets=OFFSETS, out=read_only(np.empty(4, "f4"))), sf.InputError,
     "'out' is read-only, and results are to be written there"),
    (lambda: SUM(X, offsets=OFFSETS, out=np.empty(4, "f8")), sf.InputError,
     "the results of 'result' are float32, and the array for them holds float64"),
    (lambda: SUM(X, offsets=OFFSETS, out=np.empty(3, "f4")), sf.InputError,
     "the results of 'result' are 4 segments, and the array for them has room for 3"),
    (lambda: SUM(X, offsets=OFFSETS, out=np.empty(8, "f4")[::2]), sf.InputError,
     "'out' has a stride of 8 bytes for elements of 4; elements must lie side by side, and results are written there: give a "
     "contiguous array"),
    (lambda: SUM(X, offsets=OFFSETS, out=X[:4]), sf.InputError, "'out' shares memory with 'x'; results go elsewhere"),
    (lambda: SPREAD(X.astype("i4"), out=(ROOM[:1], ROOM[:1])), sf.InputError,
     "'out.high' shares memory with 'out.low'; each result has an array of its own"),
    (lambda: SPREAD(X.astype("i4"), out={"low": ROOM[:2], "high": ROOM[1:]}), sf.InputError,
     "'out.high' shares memory with 'out.low'; each result has an array of its own"),
    (lambda: SUM(X, offsets=OFFSETS, out=OFFSETS.view("f4")[:4]), sf.InputError,
     "'out' shares memory with 'offsets'; results go elsewhere"),
    (lambda: SPREAD(X.astype("i4"), out=np.empty(1, "i4")), sf.InputError,
     "out has 1 array, and results are 2 (low, high)"),
    (lambda: SPREAD(X.astype("i4"), out={"low": np.empty(1, "i4")}), sf.InputError,
     "out has no array for 'high'; results are low, high"),
    # Devices.
    (lambda: SUM(X, offsets=OnGpu("<i4", (5,))), sf.InputError,
     "'x' lies on the host and 'offsets' on GPU 0; the arrays of a call lie together, and segfold copies nothing by itself"),
    (lambda: SUM(OnGpu("<c8")), sf.InputError,
     "'x' holds elements of type <c8; segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 in "
     "the machine's byte order"),
    (lambda: SUM(OnGpu(shape=(2**62,))), sf.InputError,
     "'x' has shape (4611686018427387904,); an array can have 281474976710656 elements at most"),
    (lambda: SUM(OnGpu(strides=(8,))), sf.InputError,
     "'x' has a stride of 8 bytes for elements of 4; elements must lie side by side, and segfold copies nothing by itself: "
     "give a contiguous copy"),
    (lambda: SUM(OnGpu(), backend="simt"), sf.InputError,
     "arrays lie on GPU 0, and the back end simt folds arrays of the host"),
    (lambda: SUM(StrangeDevice()), sf.InputError,
     "'x' does not lend its memory: BufferError: memory of this device is not lent"),
    # Words.
    (lambda: SUM(X, ofsets=OFFSETS), TypeError, "sum(x: T): nothing is called 'ofsets'; did you mean 'offsets'?"),
    (lambda: SUM(X, backend="gpu9"), sf.InputError, None),
    (lambda: SUM(X, stage="warp_per_segmnt", backend="simt"), sf.InputError, None),
    (lambda: SUM(X, assume="associativ"), sf.InputError,
     "assume= names laws, and 'associativ' is none; the laws are associative, identity, commutative, idempotent"),
    (lambda: SUM(X, check="yes"), TypeError, "check= takes True or False, and 'yes' is given"),
    (lambda: sf.bench(SUM, X, repeats=0), sf.InputError, "repeats is 0; each plan is timed 1 time or more"),
    (lambda: sf.bench(SUM, X, repeats="3"), TypeError, "repeats= takes how often each plan is timed, and '3' is given"),
    (lambda: sf.bench(SUM, X, stages=3), TypeError, "stages= takes names, and 3 is given"),
    (lambda: sf.bench(SUM, X, peers=["thrust", 3]), TypeError, "peers= takes names, and 3 is given"),
    (lambda: sf.bench(SUM, X, stages="nothing", backend="cpu"), sf.InputError, None),
    (lambda: SUM({3: X}), TypeError, "the keys of a dictionary are names, and 3 is given"),
    (lambda: SUM(X, settings={3: 4}), TypeError, "the keys of a dictionary are names, and 3 is given"),
    (lambda: sf.plan(), TypeError,
     'plan() takes an operator first, as sf.standard.sum or sf.operator("sum"), and then its arrays; none is given'),
    (lambda: sf.plan(operator=SUM), TypeError,
     'plan() takes an operator first, as sf.standard.sum or sf.operator("sum"), and then its arrays; none is given'),
    (lambda: sf.stream(SUM, X, backend=3), TypeError, "backend= takes the name of a back end, and 3 is given"),
    (lambda: sf.stream(SUM, X, device="0"), TypeError, "device= takes the ordinal of a GPU, and '0' is given"),
    (lambda: sf.stream(SUM, X, device=2**40), sf.InputError,
     "device= is 1099511627776; it is the ordinal of a GPU, from 0 to 2147483647"),
    (lambda: sf.stream(SUM, X, stage=3), TypeError, "stage= takes the name of a stage, and 3 is given"),
    (lambda: sf.stream(SUM, X, reproducible=3), TypeError, "reproducible= takes True or False, and 3 is given"),
    (lambda: sf.tune(SUM, X, seconds=-1), sf.InputError, "seconds is -1; a tuning takes more than 0"),
    (lambda: sf.tune(SUM, X, seconds="1"), TypeError, "seconds= takes a number of seconds, and '1' is given"),
    (lambda: sf.check(TYPED, prove="x"), TypeError, "prove= takes a number of seconds, and 'x' is given"),
    (lambda: sf.check(TYPED, prove=None), TypeError, "prove= takes a number of seconds, and None is given"),
    (lambda: sf.check(TYPED, seconds=[1]), TypeError, "seconds= takes a number of seconds, and [1] is given"),
    (lambda: sf.check(TYPED, cases=1.5), TypeError, "cases= takes the number of cases of each law at most, and 1.5 is given"),
    (lambda: sf.check(TYPED, seed=-1), TypeError, "seed= takes a number that is not negative, and -1 is given"),
    (lambda: sf.tune(SUM, X, evaluations=0), sf.InputError, "evaluations is 0; a tuning measures 1 plan or more"),
    (lambda: sf.tune(SUM, X, evaluations=-1), sf.InputError, "evaluations is -1; a tuning measures 1 plan or more"),
    (lambda: sf.plan(SUM, X, longest=-1), sf.InputError,
     "longest is -1; it is the number of elements of the longest segment, or 0 where nobody knows"),
    # Operators.
    (lambda: sf.operator("sums"), sf.SpecError, None),
    (lambda: sf.operator(None), TypeError, "operator() takes a text, a path, a class or a function, and None is given"),
    (lambda: sf.operator(Path("/nowhere/x.seg")), sf.InputError,
     "/nowhere/x.seg: cannot be read: No such file or directory; give the path of a text of an operator"),
    (lambda: sf.check(SUM), sf.InputError, 'operator sum is of no type yet: sum(x: T); choose one by typed("f32")'),
    (lambda: SUM.results, sf.OpenTypeError, 'operator sum is of no type yet: sum(x: T); choose one by typed("f32")'),
    (lambda: SUM.typed("float"), sf.InputError,
     "no type is called 'float'; did you mean f32 or f64? the types are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, and "
     "NumPy's names of them, such as float32"),
    (lambda: SUM.typed(np.complex64), sf.InputError,
     "no type is called 'complex64'; the types are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, and NumPy's names of them, "
     "such as float32"),
    (lambda: SUM.typed(None), sf.InputError, None),
    (lambda: sf.expression(max, "i32"), TypeError,
     'combine= takes the text of an expression, such as "a + b", and <built-in function max> is given; sf.operator() takes functions'),
    (lambda: sf.expression("a + b", lift=3), TypeError, 'lift= takes the text of an expression, such as "x * x", and 3 is given'),
    (lambda: sf.expression("a + b", finish=None), TypeError,
     'finish= takes the text of an expression, such as "sqrt(value)", and None is given'),
    (lambda: sf.expression("a + b", identity=None), TypeError,
     "identity= takes a number or the text of an expression, and None is given; without one leave it out"),
    (lambda: sf.expression("a + b", commutative="yes"), TypeError, "commutative= takes True or False, and 'yes' is given"),
    (lambda: sf.expression("a + b", None), sf.InputError, None),
    (lambda: sf.expression("a - b", "i32")(X.astype("i4"), stage="warp_per_segment", backend="simt"), sf.InputError, None),
    (lambda: sf.expression("a + b", "f32")(X, offsets=np.array([0, 0, 9]), **HOST), sf.InputError,
     "segment 0 is empty, and operator expression has no identity; give identity=EXPRESSION, the state that changes nothing"),
    (lambda: SUM(X, uniform=2**70, **HOST), sf.InputError,
     "uniform= is 1180591620717411303424; it is the length of each segment, an integer, from -9223372036854775808 to "
     "9223372036854775807"),
    (lambda: sf.check(SUM, seed=2**70), sf.InputError,
     "seed= is 1180591620717411303424; it is a number that is not negative, from 0 to 18446744073709551615"),
    # Plans.
    (lambda: sf.plan(SUM, X, offsets=OFFSETS, backend="simt")(X[:5], offsets=np.array([0, 1, 2, 3, 5])), sf.InputError,
     "the elements of 'x' are 5; the plan is for 9"),
    (lambda: sf.plan(SUM, X, offsets=OFFSETS, backend="simt")(X, uniform=3), sf.InputError, None),
    (lambda: sf.plan(SUM, X, keys=KEYS, **HOST)(X[:5], keys=KEYS[:5]), sf.InputError,
     "the plan of sum is for 9 elements in segments by keys of 4 bytes, and is given 5 elements in segments by keys of 4 bytes; "
     "resize() takes others"),
    (lambda: sf.plan(SUM, X, flags=KEYS > 0, **HOST)(X[:5], flags=KEYS[:5] > 0), sf.InputError,
     "the plan of sum is for 9 elements in segments by flags, and is given 5 elements in segments by flags; resize() takes others"),
    (lambda: sf.plan(SUM, X, keys=KEYS, **HOST)(X, flags=KEYS > 0), sf.InputError,
     "the plan of sum is for 9 elements in segments by keys of 4 bytes, and is given segments by flags; make another plan"),
    (lambda: sf.plan(SUM, X, keys=KEYS, **HOST)(X, keys=KEYS.astype("i1")), sf.InputError,
     "the plan of sum is for 9 elements in segments by keys of 4 bytes, and is given segments by keys of 1 byte; make another plan"),
    (lambda: sf.plan(SUM, X, keys=KEYS, **HOST).resize(X, keys=KEYS.astype("i1")), sf.InputError,
     "the plan of sum is for segments by keys of 4 bytes, and resize() is given segments by keys of 1 byte; it takes other numbers "
     "of elements and segments, so make another plan"),
    (lambda: sf.plan(SUM, X, out=X), sf.InputError, None),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_wrong_call(number):
    call, kind, text = CASES[number]
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    print(str(caught.value))
    if text is not None:
        assert str(caught.value) == text


def test_wrong_results_of_the_callers_own_stages_are_looked_for_there(tmp_path):
    stage = Path(__file__).parents[3] / "kernels" / "stages" / "thread_per_segment.cu"
    text = stage.read_text()
    assert "position = 0;" in text
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / stage.name).write_text(text.replace("position = 0;", "position = 1;"))
    with pytest.raises(sf.CheckError) as caught:
        SUM(X, uniform=3, backend="simt", stage="thread_per_segment", kernels=tmp_path, check=True)
    assert str(caught.value).startswith("results differ from what they should be: ")
    assert str(caught.value).endswith(f"; stages and parts are taken from kernels='{tmp_path}', so look there first")


def test_a_check_that_fails_blames_the_laws_that_were_assumed():
    x = np.arange(1 << 12, dtype=np.int32)
    least = sf.operator("operator least(x: i32) -> i32 { state m: i32 = 0  lift x  combine(a, b) min(a, b) }")
    minus = sf.expression("a - b", "i32")
    for op, laws in ((minus, "associative"), (minus, ("associative",)), (least, ["identity", "commutative"])):
        with pytest.raises(sf.CheckError) as caught:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sf.FoldWarning)
                op(x + 5, uniform=1 << 10, assume=laws, check=True, backend="simt")
        assert str(caught.value).startswith("results differ from what they should be: ")
        names = laws if isinstance(laws, str) else "', '".join(laws)
        assert str(caught.value).endswith(f"; assume='{names}' relies on what may not hold, so look there first")


def test_a_check_that_fails_says_how_laws_are_searched_longer():
    # Not associative for a number that no short search finds, nor the few elements that a call tries.
    odd = sf.operator("""operator odd(x: i64) -> i64 {
      state s: i64 = 0  lift x  combine(a, b) a % 1000003 * 7 == 3975237 ? b - a : a + b }""")
    x = np.where(np.arange(1 << 12) == 2304, 567891, 1)
    with pytest.raises(sf.CheckError) as caught:
        odd(x, uniform=1 << 10, check=True, backend="simt")
    assert str(caught.value).endswith("; a law of operator odd may not hold, for which sf.check() searches longer than a call does")


@pytest.mark.drawn
def test_a_session_that_could_not_be_made_leaves_nothing(tmp_path):
    with pytest.raises(sf.InputError):
        SUM(X, kernels=tmp_path / "nowhere")
    try:
        sf.tune(SUM, X, seconds=1, evaluations=1)  # looks at every session
    except sf.Error as error:
        assert not isinstance(error, sf.InternalError)


def test_errors_are_of_one_family():
    assert issubclass(sf.InputError, sf.Error) and issubclass(sf.InputError, ValueError)
    assert issubclass(sf.OpenTypeError, sf.InputError) and issubclass(sf.OpenTypeError, AttributeError)
    assert issubclass(sf.SpecError, sf.Error) and issubclass(sf.DeviceError, sf.Error) and issubclass(sf.InternalError, sf.Error)
    assert issubclass(sf.CheckError, sf.Error) and not issubclass(sf.CheckError, sf.InternalError)


def test_a_device_that_is_not_there():
    if sf.devices():
        pytest.skip("a GPU is here")
    with pytest.raises(sf.DeviceError, match="no NVIDIA driver|does not start|no GPU") as caught:
        SUM(X, backend="cuda")
    assert 'use the back end cpu (backend="cpu")' in str(caught.value) and "--" not in str(caught.value)
    assert 'use the back end cpu (backend="cpu")' in sf.no_gpu_reason()
    with pytest.raises(sf.DeviceError):
        sf.tune(SUM, X, backend="reference")
    assert sf.no_gpu_reason()


def test_an_array_cannot_go_while_it_is_lent():
    """Memory of the caller's is held from the first look at it to the end of the fold."""
    held = []

    class Watched(np.ndarray):
        pass

    buffer = bytearray(X.tobytes())

    class Late:
        """The second column's exporter tries to shrink the first one's memory."""

        def __dlpack__(self, **words):
            with pytest.raises(BufferError):
                buffer.extend(b"more")
            held.append(True)
            return X.copy().__dlpack__(**words)

        def __dlpack_device__(self):
            return (1, 0)

    found = sf.standard.dot(memoryview(buffer).cast("f"), Late(), backend="reference")
    assert held and found[0] == np.dot(X, X)
    del found
    assert ctypes.sizeof(ctypes.c_char * len(buffer)) == len(buffer)
    buffer.extend(b"more")


def test_a_fault_in_an_inherited_part_is_told_where_it_stands(tmp_path, monkeypatch):
    base = tmp_path / "parts_of_others.py"
    base.write_text(
        "import segfold as sf\n"
        "class Base:\n"
        "    x: sf.f32\n"
        "    class state:\n"
        "        sum: sf.f32 = 0\n"
        "    def lift(x):\n"
        "        return dict(total=x)\n"
        "    def combine(a, b):\n"
        "        return a + b\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from parts_of_others import Base

    class derived(Base):
        def finish(sum):
            return sum

    with pytest.raises(sf.SpecError, match=re.escape(f"{base}:") + "6: "):
        sf.operator(derived)


@pytest.mark.parametrize(("type_name", "largest"), [("f16", 65504.0), ("bf16", 3.38e38), ("f32", 3.4e38)])
def test_scalars_are_within_their_type(type_name, largest):
    above = sf.operator(
        "operator above(x: f32, least: scalar %s) -> i32 { state { n: i32 = 0 } "
        "lift { n = f64(x) > f64(least) ? 1 : 0 } combine(a, b) { n = a.n + b.n } finish n }" % type_name
    )
    x = np.array([1, np.inf], np.float32)
    assert above(x, least=largest) == 1
    assert above(x, least=np.inf) == 0
    told = "'least' is .*, and the operator takes a number that %s can hold" % type_name
    for beyond in (2 * largest, -2 * largest):
        with pytest.raises(sf.InputError, match=told):
            above(x, least=beyond)


def test_outputs_of_memory_that_cannot_be_written_name_what_would_be_right():
    out = np.ma.masked_array(np.zeros(1, np.int32), [True])
    with pytest.raises(sf.InputError, match="whose mask a fold neither reads nor writes; give array.data"):
        SUM(X, out=out)
    shifted = np.zeros(9, np.uint8)[1:5].view(np.int32)
    with pytest.raises(sf.InputError, match="size; give an array that does, as numpy.empty"):
        SUM(X, out=shifted)


def test_a_table_and_a_column_of_one_name_are_told_apart():
    with pytest.raises(sf.InputError, match="'x' of operator spmv is a table of f32, and another operator of the product has it as a "
                                            "column of f32; give one of them another name"):  # fmt: skip
        sf.standard.sum.typed("f32") & sf.standard.spmv.typed("f32")


def test_tables_are_checked_on_the_host_though_they_are_trusted():
    op = sf.operator("operator g(at: i32, t: table f64) -> f64 { state s: f64 = 0  lift t[at]  combine(a, b) a + b }")
    at, t = np.zeros(64, np.int32), np.ones(8)
    plan = sf.plan(op, at, t, uniform=8, trust_tables=True)
    np.testing.assert_array_equal(plan(at, t, uniform=8), np.full(8, 8))
    for place in (8, -1, 2**30):
        at[7] = place
        for call in (op, plan):
            words = {"trust_tables": True} if call is op else {}
            with pytest.raises(sf.InputError, match="indices run from 0 to 7"):
                call(at, t, uniform=8, **words)


def stand_in(module, **members):
    return type("Array", (), dict(__module__=module, **members))()


def test_missing_values_are_told_in_words():
    pandas = stand_in("pandas.arrays", isna=lambda self: np.array([False, True]), to_numpy=None)
    with pytest.raises(sf.InputError) as caught:
        SUM(pandas)
    assert str(caught.value) == ("'x' has missing values (NA), and a fold knows none; give x.to_numpy(dtype, na_value=VALUE), where VALUE "
                                 "changes no result, or x.dropna().to_numpy()")  # fmt: skip
