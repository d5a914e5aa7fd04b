"""Runs device_arrays.py in a process of its own."""

import os
import subprocess
import sys

import pytest


@pytest.mark.drawn
def test_arrays_of_a_gpu_that_does_nothing():
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "device_arrays.py")
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", tests], capture_output=True, text=True)
    print(ran.stdout)
    if ran.returncode == 77:
        pytest.skip(ran.stdout.strip().splitlines()[-1])
    assert ran.returncode == 0, ran.stderr
