"""What Ctrl-C ends: a call, the work that it leaves behind, and compilers that it waits for."""

import os
import signal
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


LONG_CALLS = {
    "reference": "sf.standard.moments(x, uniform=1000, backend='reference')",
    "one long segment": "sf.standard.moments(x, backend='reference')",
    "check of a fold": "sf.standard.moments(x, check=True)",
    "simt": "sf.standard.sum(x, uniform=1000, backend='simt')",
    "bench": "sf.bench(sf.standard.sum, x[:1 << 22], uniform=128, repeats=100000, backend='cpu')",
    "tune": "sf.tune(sf.standard.sum, x[:1 << 22], uniform=128, seconds=60, backend='cpu')",
    "check": "sf.check(renamed, seconds=60, cases=10**9, prove=0)",
    "proof": "sf.check(renamed, seconds=0.01, prove=60)",
}
LEFT_BEHIND = """
import os, time
import numpy as np, segfold as sf

x = np.random.default_rng(1).random(60_000_000)
renamed = sf.operator(sf.standard.linear_regression.typed("f64").text.replace("linear_regression", "fitted"))
print("begin", flush=True)
try:
    CALL
    print("done", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
begin = time.monotonic()
busy = 1
while busy > 0.1 and time.monotonic() - begin < 60:
    before = os.times()
    time.sleep(0.5)
    busy = os.times().user - before.user
print(time.monotonic() - begin, flush=True)
"""


@pytest.mark.drawn
@pytest.mark.parametrize("call", LONG_CALLS)
def test_work_that_is_left_behind_ends_soon(call, tmp_path):
    words = {**os.environ, "SEGFOLD_CACHE_DIR": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    program = LEFT_BEHIND.replace("CALL", LONG_CALLS[call])
    with subprocess.Popen([sys.executable, "-c", program], env=words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begin\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        line = process.stdout.readline()
        if line == "done\n":
            process.communicate(timeout=100)
            pytest.skip("the call had ended before the signal came")
        # Within a second on an idle machine; left alone, most of these calls go on for a minute and more.
        assert line == "interrupted\n" and time.monotonic() - begin < 4
        assert float(process.stdout.readline()) < 6, "seconds until the processor has nothing to do"
        begin = time.monotonic()
        process.communicate(timeout=100)
        assert process.returncode == 0 and time.monotonic() - begin < 4
