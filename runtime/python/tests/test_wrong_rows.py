"""What a caller is told of wrong calls of operators over rows and of write-back: whole texts."""

import numpy as np
import pytest
from test_wrong_calls import OnGpu, read_only

import segfold as sf

X = np.arange(12, dtype=np.float32).reshape(4, 3)
V = np.arange(4, dtype=np.float32)
I = np.array([0, 1, 3, 2], np.int32)  # noqa: E741
OFFSETS = np.array([0, 1, 1, 4])
ROWS = sf.operator("operator rows(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }")
WEIGHTED = sf.operator(
    "operator weighted(w: f32, x: row f32, y: row f32) -> f32 { state s: f32 = 0 lift w * (x + y) combine(a, b) a + b }"
)
OPEN = sf.operator("operator open(x: row T, y: row T) -> T { state s: T = 0 lift x + y combine(a, b) a + b }")
BAG = sf.operator("operator bag(i: i32, t: table row f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b }")
CENTRED = sf.operator(
    "operator centred(x: row f32) -> (mean: f32, each centre: f32) { state { n: i32 = 0; s: f32 = 0 } lift { n = 1; s = x } "
    "combine(a, b) { n = a.n + b.n; s = a.s + b.s } finish s / f32(n) empty 0 map x - mean }"
)
COPIES = "and segfold copies nothing by itself: give a contiguous copy in C order"
ROW = "an array of two dimensions is needed, a row of features for each entry"
LINE = (
    "an array of one dimension is needed: give {}.reshape(-1), which makes each number an element, or an operator over rows (x: row f32), "
    "which folds rows of features"
)
KINDS = "segfold folds bool, 8 to 64 bit integers, float16, bfloat16, float32 and float64 in the machine's byte order"


def room(*shape, dtype=np.float32, order="C"):
    return np.empty(shape, dtype, order)


CASES = [
    # Columns and tables of rows.
    (lambda: ROWS(V), f"'x' has shape (4,); {ROW}"),
    (lambda: ROWS(np.float32(3)), f"'x' has shape (); {ROW}"),
    (lambda: ROWS(X.reshape(2, 2, 3)), f"'x' has shape (2, 2, 3); {ROW}"),
    (lambda: ROWS(OnGpu()), f"'x' has shape (9,); {ROW}"),
    (lambda: BAG(I, V), f"'t' has shape (4,); {ROW}"),
    (lambda: ROWS(room(4, 0)), "'x' has shape (4, 0); a row has at least one feature"),
    (lambda: WEIGHTED(X, X, X), f"'w' has shape (4, 3); {LINE.format('w')}"),
    (lambda: sf.standard.softmax(X), f"'x' has shape (4, 3); {LINE.format('x')}"),
    (lambda: ROWS(np.asfortranarray(X)),
     "'x' of shape (4, 3) is in Fortran order, with strides of (4, 16) bytes; rows must lie one behind the other, with strides of "
     f"(12, 4) bytes, {COPIES}"),
    (lambda: ROWS(X.T),
     "'x' of shape (3, 4) is in Fortran order, with strides of (4, 12) bytes; rows must lie one behind the other, with strides of "
     f"(16, 4) bytes, {COPIES}"),
    (lambda: ROWS(OnGpu(shape=(4, 3), strides=(4, 16))),
     "'x' of shape (4, 3) is in Fortran order, with strides of (4, 16) bytes; rows must lie one behind the other, with strides of "
     f"(12, 4) bytes, {COPIES}"),
    (lambda: ROWS(X[::2]),
     f"'x' of shape (2, 3) has strides of (24, 4) bytes; rows must lie one behind the other, with strides of (12, 4) bytes, {COPIES}"),
    (lambda: ROWS(X[:, :2]),
     f"'x' of shape (4, 2) has strides of (12, 4) bytes; rows must lie one behind the other, with strides of (8, 4) bytes, {COPIES}"),
    (lambda: ROWS(X[::-1]),
     f"'x' of shape (4, 3) has strides of (-12, 4) bytes; rows must lie one behind the other, with strides of (12, 4) bytes, {COPIES}"),
    (lambda: ROWS(np.broadcast_to(V[:3], (4, 3))),
     f"'x' of shape (4, 3) has strides of (0, 4) bytes; rows must lie one behind the other, with strides of (12, 4) bytes, {COPIES}"),
    (lambda: BAG(I, X[:, 1:]),
     f"'t' of shape (4, 2) has strides of (12, 4) bytes; rows must lie one behind the other, with strides of (8, 4) bytes, {COPIES}"),
    (lambda: ROWS(X.astype("c8")), f"'x' holds elements of type complex64; {KINDS}; complex numbers are two columns: give "
     "x.real.copy() and x.imag.copy()"),
    (lambda: ROWS(X.astype("f8")),
     "parameter 'x' of operator rows is f32, but its array is f64; give an array of f32, or write the operator for f64"),
    (lambda: OPEN(X, X.astype("f8")),
     "parameter 'y' of operator open is f32, but its array is f64; give an array of f32, or write the operator for f64"),
    # Sizes that must agree.
    (lambda: WEIGHTED(V, X, X[:, :2].copy()), "'y' has rows of 2 features, and other parameters have 3; they must agree"),
    (lambda: WEIGHTED(V, X, X[:3]), "'y' has 3 rows, but the layout covers 4; both must agree"),
    (lambda: WEIGHTED(V[:3], X, X), "'x' has 4 rows, but the layout covers 3; both must agree"),
    (lambda: BAG(I, X[:3], backend="reference"), "table 't' has 3 entries; element 2 reads t[3], and indices run from 0 to 2"),
    (lambda: ROWS(X, offsets=np.array([0, 12])),
     "offsets go beyond the data at segment 0: it ends at 12 but there are 4 elements; the last offset must be the number of elements"),
    (lambda: ROWS(X, uniform=3),
     "4 elements do not divide into segments of 3: 1 is left over; the number of elements must be a multiple of the length; for segments of other lengths give lengths or offsets"),
    (lambda: ROWS(X, keys=np.arange(12)), "there are 12 keys but 4 elements; give one key per element"),
    (lambda: ROWS(X, flags=np.ones((4, 3), bool)), "'flags' has shape (4, 3); an array of one dimension is needed"),
    (lambda: sf.standard.softmax(V, ranges=(np.array([0, 1]), np.array([3, 4]))),
     "segments 0 and 1 share element 1, and operator softmax gives each element one output; give ranges that do not overlap"),
    # Where results go.
    (lambda: ROWS(X, offsets=OFFSETS, out=room(9)), f"'out' has shape (9,); {ROW}"),
    (lambda: ROWS(X, offsets=OFFSETS, out=room(3, 2)), "'out' has rows of 2 features, and the results have rows of 3; they must agree"),
    (lambda: ROWS(X, offsets=OFFSETS, out=room(2, 3)),
     "the results of 'result' are 3 segments, and the array for them has room for 2"),
    (lambda: ROWS(X, offsets=OFFSETS, out=room(3, 3, dtype=np.float64)),
     "the results of 'result' are float32, and the array for them holds float64"),
    (lambda: ROWS(X, offsets=OFFSETS, out=read_only(room(3, 3))), "'out' is read-only, and results are to be written there"),
    (lambda: ROWS(X, offsets=OFFSETS, out=room(3, 3, order="F")),
     "'out' of shape (3, 3) is in Fortran order, with strides of (4, 12) bytes; rows must lie one behind the other, with strides of "
     "(12, 4) bytes, and results are written there: give a C-contiguous array"),
    (lambda: ROWS(X, out=X[:1]), "'out' shares memory with 'x'; results go elsewhere"),
    (lambda: CENTRED(X, offsets=OFFSETS, out=room(3, 3)), "out has 1 array, and results are 2 (mean, centre)"),
    (lambda: CENTRED(X, offsets=OFFSETS, out={"mean": room(3, 3)}), "out has no array for 'centre'; results are mean, centre"),
    (lambda: CENTRED(X, offsets=OFFSETS, out=(room(3, 3), room(3, 3))),
     "the results of 'centre' are 4 elements, and the array for them has room for 3"),
    (lambda: CENTRED(X, offsets=OFFSETS, out=(room(3, 3), room(4, 4))),
     "'out.centre' has rows of 4 features, and the results have rows of 3; they must agree"),
    (lambda: sf.standard.softmax(V, offsets=OFFSETS, out=room(3)),
     "the results of 'result' are 4 elements, and the array for them has room for 3"),
    (lambda: sf.standard.softmax(V, offsets=OFFSETS, out=room(4, 1)), "'out' has shape (4, 1); an array of one dimension is needed"),
    # What folds no rows, and maps no elements.
    (lambda: ROWS(X, uniform=2, stage="row_tree", backend="cpu"),
     "row_tree: folds columns of numbers, and operator rows has rows; stages that can serve: lane_per_feature"),
    (lambda: ROWS(X, uniform=2, stage="warp_stream", backend="simt"),
     "warp_stream: folds columns of numbers, and operator rows has rows; stages that can serve: row_groups, row_stream"),
    (lambda: sf.stream(ROWS, X, uniform=2),
     "operator rows folds rows of features, which are not cut into slices; fold it in one piece, by a call of the operator"),
    (lambda: sf.stream(sf.standard.softmax, V, uniform=2),
     "operator softmax maps elements with their segment's results, which a segment that is cut has only when all its elements have "
     "been passed; groups in any order are read twice; fold it in one piece, by a call of the operator"),
    (lambda: sf.stream(sf.operator("operator m(x: row f32) -> each f32 { state s: f32 = 0 lift x combine(a, b) a + b map x - s }"), X,
                       groups=np.zeros(4, int)),
     "operator m folds rows of features, which are not cut into slices; fold it in one piece, by a call of the operator"),
    (lambda: ROWS & CENTRED,
     "operator centred has a map, which no product has: a product joins the results of segments; fold it alone"),
    # Plans.
    (lambda: sf.plan(ROWS, X, uniform=2, backend="simt")(X[:, :2].copy(), uniform=2),
     "the arrays have rows of 2 features, and the plan of rows was made for rows of 3; make another plan"),
    (lambda: sf.plan(ROWS, X, uniform=2, backend="simt")(X[:2], uniform=2), "the rows of 'x' are 2; the plan is for 4"),
    (lambda: sf.plan(CENTRED, X, uniform=2, backend="simt")(X, uniform=2, out=(room(2, 3), room(3, 3))),
     "the rows of 'centre' are 3; the plan is for at least 4"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_wrong_call(number):
    call, text = CASES[number]
    with pytest.raises(sf.InputError) as caught:
        call()
    assert str(caught.value) == text
