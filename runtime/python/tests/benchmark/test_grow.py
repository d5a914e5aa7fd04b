"""The order of stages and their configurations are what kernels/ranks grows from the rows that are there, to the byte."""

import os
import pathlib
import subprocess
import sys

import pytest

RANKS = pathlib.Path(__file__).parents[4] / "kernels" / "ranks"
PINNED = "1.7.2"


def test_the_order_grows_again():
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed, so that the order of stages is not grown again")
    if sklearn.__version__ != PINNED:
        pytest.skip(f"scikit-learn {sklearn.__version__} is here, and the order was grown by {PINNED}")
    grown = subprocess.run([sys.executable, RANKS / "grow.py", "-"], capture_output=True, text=True, check=True,
                           env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
    assert grown == (RANKS / "order.txt").read_text()
    assert len(grown) <= 150_000


def test_the_configurations_grow_again():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed, and configure.py uses grow.py, which imports it")
    program = "import sys, configure; sys.stdout.write(configure.text())"
    grown = subprocess.run([sys.executable, "-c", program], cwd=RANKS, capture_output=True, text=True, check=True).stdout
    assert grown == (RANKS / "configurations.txt").read_text()
