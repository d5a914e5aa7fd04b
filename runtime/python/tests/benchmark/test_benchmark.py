"""The benchmark beside other libraries: every row is there, and wrong results are seen."""

import importlib.util
import pathlib

import numpy as np
import pytest

BENCHMARK = pathlib.Path(__file__).resolve().parents[2] / "benchmark" / "fold_benchmark.py"


@pytest.fixture(scope="module")
def fold_benchmark():
    spec = importlib.util.spec_from_file_location("fold_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.drawn
def test_every_row(fold_benchmark, capsys):
    assert fold_benchmark.main(["--elements", "5000", "--rounds", "1", "--backend", "reference"]) == 0
    printed = capsys.readouterr().out
    names = ["segfold op(...)", "segfold plan(out=...)"]
    for name, (module, _) in fold_benchmark.LIBRARIES.items():
        if importlib.util.find_spec(module):
            names.append(name)
        else:
            assert f"{name}: left out, no {module} is installed\n" in printed
    assert "NumPy reduceat" in names
    library, reason = fold_benchmark.host_peers("")
    if library:
        names += [fold_benchmark.READING, fold_benchmark.THRUST]
    else:
        assert f"{fold_benchmark.THRUST}: left out, {reason}\n" in printed
    rows = [line for line in printed.splitlines() if line.startswith(("sum ", "mean_variance "))]
    assert len(rows) == 2 * 7 * len(names) and "wrong" not in printed


def test_headers_that_are_not_there(fold_benchmark, tmp_path):
    library, reason = fold_benchmark.host_peers(str(tmp_path))
    assert library is None
    assert reason == f"{tmp_path} has no thrust/version.h; --cccl names the folder that holds the headers of CCCL"


def test_layouts_cover_the_elements(fold_benchmark):
    for name, make in fold_benchmark.layouts(5000).items():
        offsets = make()
        assert offsets[0] == 0 and offsets[-1] == 5000 and np.all(np.diff(offsets) > 0), name


def test_wrong_results_are_seen(fold_benchmark, capsys):
    def off_by_a_segment(problem, operator):
        found = fold_benchmark.numpy_call(problem, operator)()
        return lambda: tuple(np.roll(values, 1) for values in found)

    fold_benchmark.LIBRARIES["shifted"] = ("numpy", off_by_a_segment)
    try:
        arguments = ["--elements", "5000", "--rounds", "1", "--backend", "reference", "--layouts", "uniform 32"]
        assert fold_benchmark.main(arguments) == 1
    finally:
        del fold_benchmark.LIBRARIES["shifted"]
    wrong = [line for line in capsys.readouterr().out.splitlines() if "wrong results" in line]
    assert len(wrong) == 2 and all("shifted" in line for line in wrong)


def test_unknown_words(fold_benchmark):
    with pytest.raises(SystemExit):
        fold_benchmark.main(["--layouts", "uniform 5"])
