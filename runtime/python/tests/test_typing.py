"""What a type checker says of the package: nothing under ``mypy --strict``, and faults of callers."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy is here")

SOURCES = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = '''
from typing import Any

import numpy as np
import segfold as sf


class Spread:
    x: sf.i32

    class state:
        ends: sf.i32[2] = (sf.highest(sf.i32), sf.lowest(sf.i32))  # type: ignore

    @staticmethod
    def lift(x: sf.Value) -> list[sf.Value]:
        return [x, x]

    @staticmethod
    def combine(a: Any, b: Any) -> dict[str, Any]:
        return dict(ends=[sf.minimum(a.ends[0], b.ends[0]), sf.maximum(a.ends[1], b.ends[1])])


spread = sf.operator(Spread)


@sf.operator(identity=0, commutative=True)
def total(a: sf.f64, b: sf.f64) -> sf.f64:
    return a + b


x = np.arange(6.0)
print(total(x, uniform=3), spread(x.astype(np.int32)), sf.check(total)["associative"].verdict, sf.bench(total, x)[0].milliseconds)
name, number, is_table = spread.parameters[0]
reveal_type(name)
reveal_type(spread.results)
reveal_type(sf.plan(total, x).explain())
'''


def told(*arguments, folder):
    words = {**os.environ, "MYPYPATH": str(SOURCES)}
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(folder / "cache"), *map(str, arguments)]
    return subprocess.run(command, env=words, cwd=folder, capture_output=True, text=True).stdout


def test_the_stubs_are_whole(tmp_path):
    stubs = sorted((SOURCES / "segfold").glob("*.pyi"))
    assert len(stubs) == 2 and told(*stubs, folder=tmp_path) == "Success: no issues found in 2 source files\n"


def test_operators_and_their_calls(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    lines = told(program, folder=tmp_path).splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        'note: Revealed type is "str"',
        'note: Revealed type is "tuple[tuple[str, str], ...]"',
        'note: Revealed type is "dict[str, str]"',
        "no issues found in 1 source file",
    ]
    program.write_text(PROGRAM + 'total(x, uniform="3")\n')
    assert 'Argument "uniform" to "__call__" of "Operator" has incompatible type "str"' in told(program, folder=tmp_path)
