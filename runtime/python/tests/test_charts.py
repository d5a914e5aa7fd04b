"""Charts: the specifications that the program and benches give are Vega-Lite's, and can be drawn."""

import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

import segfold as sf

PROGRAM = os.environ.get("SEGFOLD_PROGRAM")
PAPERS = ["harris2007", "zuo2009", "martin2012", "patel2014", "badgujar2014", "butz2025", "segfold2026"]
X = np.arange(1 << 12, dtype=np.float32)


@pytest.fixture(scope="module")
def judge():
    """A validator of Vega-Lite's own schema, which comes with altair."""
    altair = pytest.importorskip("altair")
    jsonschema = pytest.importorskip("jsonschema")
    (file,) = pathlib.Path(altair.__file__).parent.glob("vegalite/v*/schema/vega-lite-schema.json")
    schema = json.loads(file.read_text())
    return jsonschema.validators.validator_for(schema)(schema)


def program(*words):
    if not PROGRAM:
        pytest.skip("SEGFOLD_PROGRAM does not name the program")
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)


def drawn(spec):
    vl_convert = pytest.importorskip("vl_convert")
    return vl_convert.vegalite_to_svg({**spec, "width": 640} if spec.get("width") == "container" else spec, vl_version="5.21")


@pytest.fixture(scope="module")
def bench():
    return sf.bench(sf.standard.sum, X, uniform=64, backend="cpu", repeats=1, stages=["lane_scan", "lane_per_segment"])


@pytest.mark.parametrize("name", PAPERS)
def test_charts_of_papers(name, judge, tmp_path):
    file = tmp_path / "chart.json"
    assert program("paper", name, "--measured", "--vega", file).returncode == 0
    spec = json.loads(file.read_text())
    assert judge.is_valid(spec)
    drawing = drawn(spec)
    for chart in spec.get("vconcat", [spec]):
        for panel in chart.get("hconcat", [chart]):
            for value in panel["data"]["values"]:
                assert value.get("shown", "") in drawing


def test_a_damaged_chart_is_no_specification(judge, bench):
    assert judge.is_valid(bench.chart)
    damaged = json.loads(json.dumps(bench.chart))
    damaged["layer"][0]["mark"] = {"type": "bars"}
    assert not judge.is_valid(damaged)


def test_a_chart_of_a_bench(bench):
    rows = {value["row"]: value for value in bench.chart["data"]["values"] if "value" in value}
    measured = [entry for entry in bench if entry.outcome == "measured"]
    assert measured and len(rows) == len(measured)
    for entry in measured:
        name = f"{entry.name} {entry.configuration}".strip()
        assert rows[name]["source"] == ("the plan of a run" if entry.is_chosen else "other stages")
    shown = bench._repr_mimebundle_()
    assert shown["application/vnd.vegalite.v5+json"] == bench.chart and shown["text/plain"] == str(bench)


def test_a_notebook_without_a_front_end_of_vega(bench, monkeypatch):
    table = bench._repr_mimebundle_()["text/html"]
    drawn(bench.chart)
    assert table.startswith("<svg") and "<details>" in table
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    assert bench._repr_mimebundle_()["text/html"].startswith("<pre>")


def test_the_program_draws_where_a_python_can(tmp_path):
    pytest.importorskip("vl_convert")
    with_python = dict(os.environ, PATH=f"{pathlib.Path(__import__('sys').executable).parent}:{os.environ['PATH']}")
    if not PROGRAM:
        pytest.skip("SEGFOLD_PROGRAM does not name the program")
    for name in ("chart.svg", "chart.html"):
        file = tmp_path / name
        words = [PROGRAM, "bench", "sum", "--layout", "uniform=64", "--elements", "2^12", "--backend", "cpu", "--peers", "none",
                 "--repeat", "1", "--stage", "lane_scan", "--plot", str(file)]  # fmt: skip
        run = subprocess.run(words, capture_output=True, text=True, env=with_python)
        assert run.returncode == 0, run.stderr
        text = file.read_text()
        assert text.startswith("<svg" if name == "chart.svg" else "<!DOCTYPE html>") and "lane_scan" in text


def test_the_program_says_what_draws(tmp_path):
    """Followed: --vega needs nothing."""
    if not PROGRAM:
        pytest.skip("SEGFOLD_PROGRAM does not name the program")
    file = tmp_path / "chart.svg"
    words = [PROGRAM, "paper", "harris2007", "--measured"]
    run = subprocess.run([*words, "--plot", file], capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert run.returncode == 2 and not file.exists()
    assert run.stderr.strip() == (
        "segfold: --plot: no Python in PATH has vl-convert, which draws; install it with 'pip install vl-convert-python', or write "
        "the specification with --vega FILE.json, which needs nothing"
    )
    run = subprocess.run([*words, "--vega", tmp_path / "chart.json"], capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert run.returncode == 0 and json.loads((tmp_path / "chart.json").read_text())["vconcat"]


def shown(drawing):
    """What a drawing shows wherever texts of some fonts are wider: its texts, and the bars."""
    return re.findall(r">([^<>]+)</text>", drawing), re.findall(r'aria-roledescription="bar" d="([^"]+)"', drawing)


def test_the_chart_of_the_front_page(tmp_path):
    """docs/speed.svg is a drawing of what papers/segfold2026 holds."""
    file = tmp_path / "speed.json"
    assert program("paper", "segfold2026", "--measured", "--figure", "sums of f32", "--vega", file).returncode == 0
    kept = (pathlib.Path(__file__).parents[3] / "docs" / "speed.svg").read_text()
    texts, bars = shown(kept)
    assert len(bars) == 16 and "uniform=1024" in texts
    assert shown(drawn({**json.loads(file.read_text()), "width": 720})) == (texts, bars)
