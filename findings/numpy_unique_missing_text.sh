#!/usr/bin/env bash
# numpy.unique of texts with missing values loses them, and its inverse gives their places to another text.
#
# Guess: `unique` of a column of StringDType(na_object=nan) has one entry for NaN, as it has for floats, and `values[inverse]` is the
# column again. So the inverse numbers groups.
# Truth: NaN has no entry. Its places get the number of another text, so that a sum by the inverse adds the values of missing keys to that
# group, in silence; counts do too. Floats are right, and so are texts without
# missing values.
#
# Read: "NumPy Enhancement Proposal 55", missing data of StringDType; numpy.unique, parameters return_inverse and equal_nan.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import numpy as np

print("numpy", np.__version__)


def show(name, column, values):
    distinct, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    again = distinct[inverse]
    same = [bool(one == other or (one != one and other != other)) for one, other in zip(again, column)]
    print(f"{name}: distinct", *distinct, "| counts", *counts, "| inverse", *inverse)
    print("  each entry again:", same, "| sums", *np.bincount(inverse, values))


values = [1.0, 10, 100, 1000, 10000]
show("texts", np.array(["b", np.nan, "a", np.nan, "b"], np.dtypes.StringDType(na_object=np.nan)), values)
show("floats", np.array([2.0, np.nan, 1.0, np.nan, 2.0]), values)
show("texts, none missing", np.array(["b", "c", "a", "c", "b"], np.dtypes.StringDType(na_object=np.nan)), values)
PY
)

described='numpy 2.4.6
texts: distinct a b | counts 1 4 | inverse 1 1 0 1 1
  each entry again: [True, False, True, False, True] | sums 100.0 11011.0
floats: distinct 1.0 2.0 nan | counts 1 2 2 | inverse 1 2 0 2 1
  each entry again: [True, True, True, True, True] | sums 100.0 10001.0 1010.0
texts, none missing: distinct a b c | counts 1 2 2 | inverse 1 2 0 2 1
  each entry again: [True, True, True, True, True] | sums 100.0 10001.0 1010.0'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
