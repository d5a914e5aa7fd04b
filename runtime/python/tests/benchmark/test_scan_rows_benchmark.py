"""The benchmark of running results of rows: its sequences, operators and loops agree, and a machine without a GPU is told so."""

import importlib.util
import pathlib

import numpy as np
import pytest

import segfold as sf

BENCHMARK = pathlib.Path(__file__).resolve().parents[2] / "benchmark" / "scan_rows_benchmark.py"


@pytest.fixture(scope="module")
def benchmark_module():
    spec = importlib.util.spec_from_file_location("scan_rows_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_offsets(benchmark_module):
    offsets = benchmark_module.offsets_of(2**18)
    lengths = np.diff(offsets)
    assert offsets[0] == 0 and offsets[-1] == 2**18 and offsets.dtype == np.int32
    assert lengths[:-1].min() >= benchmark_module.LEAST and lengths.max() <= benchmark_module.MOST and len(lengths) > 30


@pytest.mark.parametrize("name", ["recurrence", "average", "sum"])
def test_operators_are_what_the_loop_says(benchmark_module, name):
    offsets, random = np.array([0, 5, 6, 40], np.int32), np.random.default_rng(1)
    columns = [random.random((40, 3), np.float32) for _ in range(2 if name == "recurrence" else 1)]
    found = sf.operator(benchmark_module.OPERATORS[name])(*columns, offsets=offsets, backend="reference")
    wanted = benchmark_module.by_loop(name, columns, offsets)
    assert benchmark_module.is_right(found, wanted)
    assert not benchmark_module.is_right(found + 1, wanted)


def test_words(benchmark_module):
    with pytest.raises(SystemExit, match="there is no work 'mean'"):
        benchmark_module.main(["--works", "sum,mean"])
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        with pytest.raises(SystemExit, match="it needs a GPU"):
            benchmark_module.main([])
