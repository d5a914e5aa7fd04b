"""The benchmark of running results beside other libraries: every row is there, and wrong results are seen and not timed."""

import importlib.util
import pathlib

import numpy as np
import pytest

BENCHMARK = pathlib.Path(__file__).resolve().parents[2] / "benchmark" / "running_benchmark.py"
FEW = ["--elements", "65536", "--rounds", "1", "--backend", "reference"]


@pytest.fixture(scope="module")
def running_benchmark():
    spec = importlib.util.spec_from_file_location("running_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.drawn
def test_every_row(running_benchmark, capsys):
    assert running_benchmark.main([*FEW, "--layouts", "whole,uniform 32,geometric 32"]) == 0
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if line.startswith(running_benchmark.WORKS)]
    assert "wrong" not in printed
    for name, (module, _) in running_benchmark.HOST.items():
        of_library = [row for row in rows if f" {name} " in row]
        if importlib.util.find_spec(module):
            assert of_library, name
        else:
            assert f"{name}: left out, no {module} is installed\n" in printed
    assert len([row for row in rows if running_benchmark.PLAN in row]) == 9
    assert len([row for row in rows if " NumPy cumsum " in row]) == 3  # NumPy has no recurrence


@pytest.mark.parametrize("work", ["sum", "recurrence", "rows"])
def test_wrong_results_are_seen(running_benchmark, work, capsys, monkeypatch):
    plan = running_benchmark.segfold_plan

    def off_by_an_element(problem):
        call = plan(problem, "reference")
        return lambda: np.roll(call(), 1, axis=0)

    monkeypatch.setattr(running_benchmark, "HOST", {"shifted": ("numpy", off_by_an_element)})
    assert running_benchmark.main([*FEW, "--works", work, "--layouts", "uniform 1024"]) == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if "wrong results, not timed" in line]
    assert len(wrong) == 1 and "shifted" in wrong[0]


def test_a_scan_that_does_not_begin_anew_is_wrong(running_benchmark):
    for work in running_benchmark.WORKS:
        problem = running_benchmark.Problem(work, running_benchmark.layouts(4096)["uniform 32"])
        joined = running_benchmark.Problem(work, running_benchmark.layouts(4096)["whole"])
        found = running_benchmark.segfold_plan(joined, "reference")()
        assert joined.is_right(found) and not problem.is_right(found), work


def test_unknown_words(running_benchmark):
    for words in (["--layouts", "uniform 5"], ["--works", "mean"], ["--elements", "10"]):
        with pytest.raises(SystemExit):
            running_benchmark.main(words)
