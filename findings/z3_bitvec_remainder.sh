#!/usr/bin/env bash
# Z3's Python operators / and % of bit vectors do not belong together: (a / b) * b + a % b is not a.
#
# Guess: of signed bit vectors `/` and `%` are C's, both rounding to zero; or Python's, both rounding down. Either way
# quotient and remainder make up the dividend.
# Truth: `/` is bvsdiv, which rounds to zero as C does, and `%` is bvsmod, whose sign is the divisor's as in Python:
# -7 / 2 is -3 and -7 % 2 is 1. C's remainder is SRem (bvsrem). Of unbounded integers both differ again: they are
# Euclidean, 7 / -2 is -3 and the remainder is never negative. A law of integers that is proved with the operators is a
# law of another function than the C++ or CUDA code computes.
#
# Read: "The SMT-LIB Standard", theory of fixed-size bit vectors: bvsdiv, bvsrem, bvsmod.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet z3-solver==5.4.1.0 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
from z3 import *

print("z3", get_version_string())
a, b = BitVecs("a b", 8)


def proved(claim):
    solver = Solver()
    solver.add(b != 0, Not(claim))
    return solver.check() == unsat


def number(term):
    return simplify(term).as_signed_long()


seven, two = BitVecVal(-7, 8), BitVecVal(2, 8)
print("8 bits: -7 / 2 =", number(seven / two), " -7 % 2 =", number(seven % two), " SRem =", number(SRem(seven, two)))
print("(a / b) * b + a % b == a:       ", "proved" if proved((a / b) * b + a % b == a) else "refuted")
print("(a / b) * b + SRem(a, b) == a:  ", "proved" if proved((a / b) * b + SRem(a, b) == a) else "refuted")
print("integers: -7 / 2 =", simplify(IntVal(-7) / 2), " -7 % 2 =", simplify(IntVal(-7) % 2),
      " 7 / -2 =", simplify(IntVal(7) / -2), " 7 % -2 =", simplify(IntVal(7) % -2))
PY
)

described='z3 5.4.1
8 bits: -7 / 2 = -3  -7 % 2 = 1  SRem = -1
(a / b) * b + a % b == a:        refuted
(a / b) * b + SRem(a, b) == a:   proved
integers: -7 / 2 = -4  -7 % 2 = 1  7 / -2 = -3  7 % -2 = 1'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
