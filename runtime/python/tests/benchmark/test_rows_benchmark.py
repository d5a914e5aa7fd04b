"""The benchmark over rows: its segments are what they say, and a machine without a GPU is told so."""

import importlib.util
import pathlib

import numpy as np
import pytest

import segfold as sf

BENCHMARK = pathlib.Path(__file__).resolve().parents[2] / "benchmark" / "rows_benchmark.py"


@pytest.fixture(scope="module")
def rows_benchmark():
    spec = importlib.util.spec_from_file_location("rows_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lengths(rows_benchmark):
    num_rows = 2**16
    for layout in rows_benchmark.LAYOUTS:
        lengths = rows_benchmark.lengths_of(layout, num_rows)
        assert lengths.sum() == num_rows and lengths.min() >= 0, layout
        assert np.array_equal(lengths, rows_benchmark.lengths_of(layout, num_rows)), "each program sees the same segments"
    assert (rows_benchmark.lengths_of("equal", num_rows) == 32).all()
    geometric = rows_benchmark.lengths_of("geometric", num_rows)
    assert (geometric == 0).any() and 30 < geometric.mean() < 34
    zipf = rows_benchmark.lengths_of("zipf", num_rows)
    assert num_rows // 32 < zipf.max() <= num_rows // 8 and np.median(zipf) <= 2


def test_columns_are_places_of_the_table(rows_benchmark):
    columns = rows_benchmark.columns_of(1000)
    assert columns.dtype == np.int32 and 0 <= columns.min() and columns.max() < 1000 and len(set(columns)) > 500


@pytest.mark.parametrize("name", ["sum", "gather"])
def test_operators(rows_benchmark, name):
    """They say what the peers compute; of one feature they are operators of columns."""
    lengths, num_features = np.array([3, 0, 2]), 2
    segments = np.repeat(np.arange(3), lengths)
    x = np.arange(10, dtype=np.float32).reshape(5, num_features) / 4
    column, value = np.array([4, 0, 0, 3, 2], np.int32), np.array([1, 2, 0.5, 1, 3], np.float32)
    rows = value[:, None] * x[column] if name == "gather" else x
    wanted = np.zeros((3, num_features))
    np.add.at(wanted, segments, rows)
    operator = sf.operator(rows_benchmark.OPERATORS[name].replace("row ", ""))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    for k in range(num_features):
        arrays = (value, column, x[:, k].copy()) if name == "gather" else (x[:, k].copy(),)
        found = operator(*arrays, offsets=offsets, backend="reference")
        np.testing.assert_allclose(found, wanted[:, k], rtol=1e-6)


def test_without_a_gpu(rows_benchmark, capsys):
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(SystemExit):
            rows_benchmark.main([])
        assert "torch is not installed" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        rows_benchmark.main(["--layouts", "square"])
    assert "square is not among equal, geometric, zipf" in capsys.readouterr().err
