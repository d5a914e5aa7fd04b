"""The order of stages is what kernels/ranks/grow.py grows from the rows that are there, to the byte."""

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
