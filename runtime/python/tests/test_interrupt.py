"""What Ctrl-C ends: compilers that a call waits for."""

import os
import subprocess
import sys
import time

import pytest

COMPILER = """#!/bin/sh
# A driver as compilers have: it waits for a program of its own.
case "$*" in *--version*) echo "g++ (slow) 12.2.0"; exit 0;; esac
sleep 120 &
echo $! >> "$SLEEPERS"
echo $$ >> "$SLEEPERS"
wait
"""
CALL = """
import _thread, os, threading, time
import numpy as np, segfold as sf

def interrupt():
    while not os.path.exists(os.environ["SLEEPERS"]):
        time.sleep(0.01)
    _thread.interrupt_main()

threading.Thread(target=interrupt, daemon=True).start()
try:
    sf.standard.sum(np.ones(1 << 20, np.float32), uniform=32, backend=BACKEND)
except KeyboardInterrupt:
    print("interrupted")
"""


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("backend", ["cpu", "simt"])
def test_a_compiler_ends_with_the_call_that_waits_for_it(tmp_path, backend):
    compiler, sleepers, scratch = tmp_path / "c++", tmp_path / "sleepers", tmp_path / "scratch"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    scratch.mkdir()
    words = {**os.environ, "CXX": str(compiler), "SLEEPERS": str(sleepers), "TMPDIR": str(scratch), "SEGFOLD_CACHE_DIR": str(tmp_path / "cache")}
    begin = time.monotonic()
    found = subprocess.run([sys.executable, "-c", CALL.replace("BACKEND", repr(backend))], env=words, capture_output=True, text=True, timeout=100)
    assert found.stdout == "interrupted\n", found.stderr
    assert time.monotonic() - begin < 60
    started = sleepers.read_text().split()
    assert len(started) >= 2
    deadline = time.monotonic() + 10
    while any(map(is_running, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, started))
    assert not list(scratch.glob("**/text.cpp")), "an interrupted compilation leaves nothing behind"
