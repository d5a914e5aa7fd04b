"""The benchmark of running results of columns: its plans are those of stages, and it ends in time."""

import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def benchmark_module():
    spec = importlib.util.spec_from_file_location("scan_benchmark", ROOT / "runtime" / "python" / "benchmark" / "scan_benchmark.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_plans_are_of_stages(benchmark_module):
    plans = {plan for *_, plans in benchmark_module.jobs(27) for plan in plans}
    assert len(plans) > 6
    for plan in plans:
        stage, settings = plan.split(":near,")
        text = (ROOT / "kernels" / "stages" / f"{stage}.cu").read_text()
        for setting in settings.split(","):
            name, value = setting.split("=")
            values = re.search(rf"^//% tune +{name} = (.*)$", text, re.MULTILINE)
            assert values and value in values[1].split(", "), plan


def test_ends_in_time(benchmark_module, tmp_path, monkeypatch, capsys):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setattr("sys.argv", ["scan_benchmark.py", str(slow), str(tmp_path / "rows"), "--backend", "cpu", "--seconds", "4"])
    benchmark_module.main()
    assert "no copy was timed" in capsys.readouterr().out
