"""The benchmark of calls of few elements: every row is printed."""

import importlib.util
import pathlib

import pytest

BENCHMARK = pathlib.Path(__file__).resolve().parents[2] / "benchmark" / "call_benchmark.py"


@pytest.mark.drawn
def test_every_row(capsys, monkeypatch):
    spec = importlib.util.spec_from_file_location("call_benchmark", BENCHMARK)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    monkeypatch.setattr(benchmark, "REPEATS", 1)
    whole = benchmark.changing
    monkeypatch.setattr(benchmark, "changing", lambda op, make: whole(op, make, 12))
    benchmark.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == 3 + len(list(benchmark.segments())) + len(list(benchmark.operators())) + 2
