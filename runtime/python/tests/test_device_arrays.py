"""Runs device_arrays.py in a process of its own."""

import os
import subprocess
import sys

import pytest


@pytest.mark.drawn
@pytest.mark.parametrize("words", [{}, {"SEGFOLD_TEST_OLD_DRIVER": "1"}], ids=["today's", "old"])
def test_arrays_of_a_gpu_that_does_nothing(words):
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "device_arrays.py")
    selected = ["-k", "graph"] if words else []
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", tests, *selected], env=os.environ | words, capture_output=True, text=True)
    print(ran.stdout)
    if ran.returncode == 77:
        pytest.skip(ran.stdout.strip().splitlines()[-1])
    assert ran.returncode == 0, ran.stderr
