#!/usr/bin/env bash
# Z3: nlsat.reorder makes one question of nonlinear reals 100 times faster, and its neighbour as much slower.
#
# Guess: a tactic's option is good or bad for a kind of problem. Two ways to write that Chan's merge of (count, mean,
# sum of squared deviations) is associative want the same setting.
# Truth: with counts > 0 the default (true) takes a fraction of a second and false tens of seconds. With counts >= 0 and
# a guard against the empty state it is the other way round. Neither setting serves both; ask both, each in a process
# of its own with a time limit.
# The seconds are printed beside the result; the comparison asks only which setting is at least ten times faster.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet z3-solver==5.4.1.0 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import subprocess
import sys

QUESTION = """
import sys, time
from z3 import *

guarded, reorder = sys.argv[1] == "guarded", sys.argv[2] == "true"
set_param("nlsat.reorder", reorder)


def merge(a, b):
    (n1, m1, q1), (n2, m2, q2) = a, b
    n, d = n1 + n2, m2 - m1
    mean, square = m1 + d * n2 / n, q1 + q2 + d * d * n1 * n2 / n
    return (n, If(n == 0, 0, mean), If(n == 0, 0, square)) if guarded else (n, mean, square)


states = [Reals(f"n{i} m{i} q{i}") for i in range(3)]
a, b, c = states
solver = Solver()
for n, m, q in states:
    solver.add(*([n >= 0, Implies(n == 0, And(m == 0, q == 0))] if guarded else [n > 0]))
solver.add(merge(merge(a, b), c)[2] != merge(a, merge(b, c))[2])
begin = time.monotonic()
print(solver.check(), time.monotonic() - begin)
"""


def seconds(form, reorder):
    """Time of an answer; 60 where none came by then."""
    try:
        run = subprocess.run([sys.executable, "-c", QUESTION, form, reorder], capture_output=True, text=True,
                             check=True, timeout=60)
    except subprocess.TimeoutExpired:
        return 60.0
    answer, taken = run.stdout.split()
    if answer != "unsat":
        raise RuntimeError(f"{form}: {answer}")
    return float(taken)


import z3

print("z3", z3.get_version_string())
for form, name in (("plain", "counts > 0"), ("guarded", "counts >= 0, guarded")):
    times = {reorder: seconds(form, reorder) for reorder in ("true", "false")}
    print(f"{name}: true {times['true']:.2f} s, false {times['false']:.2f} s", file=sys.stderr)
    better, worse = sorted(times, key=times.get)
    much = "at least ten times faster" if times[worse] >= 10 * times[better] else "no faster"
    print(f"{name}: nlsat.reorder={better} is {much}")
PY
)

described='z3 5.4.1
counts > 0: nlsat.reorder=true is at least ten times faster
counts >= 0, guarded: nlsat.reorder=false is at least ten times faster'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
