"""Keys of several columns: a new segment begins where one of them changes."""

import numpy as np
import pytest

import segfold as sf

X = np.arange(8, dtype=np.float64)
DAY = np.array([1, 1, 1, 2, 2, 2, 1, 1], np.int32)
HOUR = np.array([7.0, 7.0, 8.0, 8.0, np.nan, np.nan, 8.0, 7.0])
BEGINS = [0, 2, 3, 4, 6, 7]  # by hand
SUMS = np.add.reduceat(X, BEGINS)


def test_a_tuple_of_columns_gives_as_many_columns():
    keys, sums = sf.standard.sum(X, keys=(DAY, HOUR))
    assert sums.tolist() == SUMS.tolist()
    assert [column.dtype for column in keys] == [np.int32, np.float64]
    np.testing.assert_array_equal(keys[0], DAY[BEGINS])
    np.testing.assert_array_equal(keys[1], HOUR[BEGINS])  # NaN equals NaN


def test_rows_of_keys_give_rows():
    rows = np.stack([DAY, DAY * 0 + [1, 1, 2, 2, 2, 2, 2, 2]], 1)
    keys, sums = sf.standard.sum(X, keys=rows)
    assert keys.tolist() == [[1, 1], [1, 2], [2, 2], [1, 2]]
    assert sums.tolist() == [1, 2, 12, 13]
    assert sf.standard.sum(X, keys=np.ones((8, 1), np.int8)).keys.tolist() == [[1]]


def test_several_results_stand_beside_the_keys():
    found = sf.standard.argmax(X, keys=(DAY, HOUR))
    assert found._fields == ("keys", "value", "index")
    assert found.index.tolist() == [1, 2, 3, 5, 6, 7]


def test_bits_decide_as_for_one_column():
    zeros = np.array([0.0, -0.0, 0.0], np.float32)
    assert len(sf.standard.sum(X[:3], keys=(zeros, zeros)).result) == len(sf.standard.sum(X[:3], keys=zeros).result) == 3


def test_plans_and_results_of_the_caller():
    plan = sf.plan(sf.standard.sum, X, keys=(DAY, HOUR))
    assert plan(X, keys=(DAY, HOUR)).result.tolist() == SUMS.tolist()
    out = np.zeros(8)
    keys, sums = sf.standard.sum(X, keys=(DAY, HOUR), out=out)
    assert sums.tolist() == out[:6].tolist() == SUMS.tolist() and len(keys) == 2


def test_an_array_for_what_is_no_result_is_refused():
    for name, text in {
        "keys": "out has an array for 'keys', and keys of several columns come back in new arrays; leave it out",
        "resullt": "out has an array for 'resullt', and results are result",
    }.items():
        with pytest.raises(sf.InputError) as caught:
            sf.standard.sum(X, keys=(DAY, HOUR), out={name: np.zeros(8, np.int32), "result": np.zeros(8)})
        assert str(caught.value) == text


def test_no_elements_have_no_keys():
    keys, sums = sf.standard.sum(X[:0], keys=(DAY[:0], HOUR[:0]))
    assert [len(array) for array in (*keys, sums)] == [0, 0, 0]


def test_columns_of_arrow_and_jax():
    pyarrow = pytest.importorskip("pyarrow")
    keys, sums = sf.standard.sum(X, keys=(pyarrow.array(DAY), pyarrow.array(DAY * 2)))
    assert sums.tolist() == [3, 12, 13] and keys[1].tolist() == [2, 4, 2]
    jax = pytest.importorskip("jax.numpy")
    keys, sums = sf.standard.sum(jax.arange(8.0), keys=(jax.array(DAY), jax.array(DAY)))
    assert sums.tolist() == [3, 12, 13] and isinstance(keys[0], jax.ndarray)


@pytest.mark.parametrize(
    "keys, text",
    [
        ((DAY, HOUR[:3]), "'keys[1]' has 3 keys for 8 elements; each column has a key for each element"),
        (np.zeros((3, 2)), "'keys' has 3 rows for 8 elements; keys of several columns have a row for each element"),
        (np.zeros((2, 8)), "'keys' has 2 rows for 8 elements; keys of several columns have a row for each element: give tuple(keys)"),
        ((DAY, HOUR.astype(object)), "'keys[1]' holds elements of type object; "),
        ((DAY, HOUR[::-1]), "'keys[1]' has a stride of -8 bytes for elements of 8; "),
        ((DAY, "abc"), "'keys[1]' is a builtins.str; "),
        ([DAY, [1, 2]], "'keys[1]' is a builtins.list; "),
        ((1, 1, 2), "'keys' is a builtins.tuple; "),
        ((), "'keys' is an empty tuple; a tuple of keys has at least one array"),
        ([], "'keys' is an empty list; a list of keys has at least one array"),
    ],
)
def test_wrong_columns_are_refused(keys, text):
    with pytest.raises(sf.InputError) as caught:
        sf.standard.sum(X, keys=keys)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"])
def test_columns_of_torch_of_every_type(name):
    torch = pytest.importorskip("torch")
    if not hasattr(torch, name):
        pytest.skip(f"this torch has no {name}")
    column = torch.tensor([0, 1, 1, 1, 0, 0, 0, 1]).to(getattr(torch, name))
    keys, sums = sf.standard.sum(torch.from_numpy(X), keys=(column, column))
    assert sums.tolist() == [0, 6, 15, 7] and [key.dtype for key in keys] == [column.dtype] * 2
    assert keys[0].double().tolist() == [0, 1, 0, 1]


def test_columns_of_two_libraries_are_refused():
    jax = pytest.importorskip("jax.numpy")
    with pytest.raises(sf.InputError, match=r"^'keys\[1\]' is a jaxlib\S* and 'keys\[0\]' a numpy.ndarray; columns of keys are arrays of one library$"):
        sf.standard.sum(X, keys=(DAY, jax.array(DAY)))


@pytest.mark.parametrize("keys", [(np.array([2, 1, 2, 1]), np.array([5, 7, 5, 6])), np.array([[2, 5], [1, 7], [2, 5], [1, 6]])])
def test_several_columns_are_sorted_by_the_first_one_first(keys):
    got = sf.standard.sum(np.array([1, 2, 4, 8]), keys=keys, sort_keys=True)
    assert got.result.tolist() == [8, 2, 5]
    wanted = [[1, 6], [1, 7], [2, 5]]
    assert np.array(got.keys).T.tolist() == wanted if isinstance(keys, tuple) else got.keys.tolist() == wanted
