"""The benchmark beside cuSPARSE: its matrices are what they say, and a machine without a GPU is told so."""

import importlib.util
import pathlib

import numpy as np
import pytest

import segfold as sf

BENCHMARK = pathlib.Path(__file__).resolve().parents[2] / "benchmark" / "spmv_benchmark.py"


@pytest.fixture(scope="module")
def spmv_benchmark():
    spec = importlib.util.spec_from_file_location("spmv_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dense(matrix):
    found = np.zeros((matrix.num_rows, matrix.num_columns), np.float32)
    for row in range(matrix.num_rows):
        for k in range(matrix.offsets[row], matrix.offsets[row + 1]):
            found[row, matrix.columns[k]] += matrix.values[k]
    return found


def test_words(spmv_benchmark, tmp_path):
    (tmp_path / "a.py").write_text("one two 3 one")
    (tmp_path / "b.py").write_text("(two, four)")
    (tmp_path / "c.txt").write_text("five")
    near, in_files = spmv_benchmark.text_matrices(str(tmp_path), 1)
    assert dense(near).tolist() == [[2, 2, 0], [2, 0, 1], [0, 1, 0]]  # one, two, four
    assert dense(in_files).tolist() == [[2, 0], [1, 1], [0, 1]]
    assert near.longest == 2 and near.bytes_moved == 8 * 5 + 4 * 4 + 4 * 3 + 4 * 3
    with pytest.raises(SystemExit, match="holds no words"):
        list(spmv_benchmark.text_matrices(str(tmp_path / "nowhere"), 1))


@pytest.mark.parametrize("points", [7, 27])
def test_stencils(spmv_benchmark, points):
    matrix = spmv_benchmark.stencil(points, 4)
    places = np.stack(np.unravel_index(np.arange(64), (4, 4, 4)))
    steps = np.abs(places[:, :, None] - places[:, None, :])
    near = (steps.max(axis=0) <= 1) & ((steps.sum(axis=0) <= 1) | (points == 27))
    assert np.array_equal(dense(matrix), near.astype(np.float32))
    x = np.arange(64, dtype=np.float32)
    found = sf.standard.spmv(matrix.values, matrix.columns, x, offsets=matrix.offsets, backend="reference")
    assert np.array_equal(found, near.astype(np.float32) @ x)


def test_without_a_gpu(spmv_benchmark, capsys):
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(SystemExit):
            spmv_benchmark.main([])
        assert "torch is not installed" in capsys.readouterr().err
