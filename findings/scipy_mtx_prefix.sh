#!/usr/bin/env bash
# SciPy's Matrix Market reader takes the beginning of a number and drops the rest: 1.5D+01 becomes 1.5.
#
# Guess: a text that is no number of the reader's syntax is an error with its line, as `scipy.io.mmread` says of others.
# Truth: the value's longest readable beginning is taken and the rest of the line is skipped. Fortran's exponent D, a
# decimal comma and hexadecimal numbers give other values, and in an integer file 2e3 is 2 and 1.9 is 1. A plus sign,
# which the reader does not take, is an error. A reader of one's own that raises disagrees with SciPy on such files.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    scipy==1.17.1 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import io

import scipy
import scipy.io

print("scipy", scipy.__version__)


def show(field, number):
    page = f"%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {number}\n"
    try:
        value = scipy.io.mmread(io.BytesIO(page.encode())).toarray()[0, 0]
    except ValueError as error:
        value = f"ValueError: {error}"
    print(f"{field:8} {number:8} is {value}")


for number in ("1.5e+01", "1.5D+01", "1,5", "0x10", "+2"):
    show("real", number)
for number in ("2e3", "1.9"):
    show("integer", number)
PY
)

described='scipy 1.17.1
real     1.5e+01  is 15.0
real     1.5D+01  is 1.5
real     1,5      is 1.0
real     0x10     is 0.0
real     +2       is ValueError: Line 3: Invalid floating-point value.
integer  2e3      is 2
integer  1.9      is 1'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
