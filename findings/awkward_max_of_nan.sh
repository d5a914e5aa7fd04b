#!/usr/bin/env bash
# awkward's max of each list skips NaN, its max of everything does not, and argmax agrees with neither.
#
# Guess: `ak.max` is NumPy's maximum and hands NaN on; `ak.nanmax` is there to skip it. What holds of the whole array
# holds of each list.
# Truth: with `axis=1` a NaN is skipped, and a list of nothing but NaN has the maximum -inf (an empty list has None).
# With `axis=None` the result is NaN. `ak.argmax` with `axis=1` points at the NaN if it stands first in its list, and
# elsewhere at the largest number. So `list[argmax]` and `max` are two different things in one column.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    awkward==2.14.0 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import awkward as ak
import numpy as np

print("awkward", ak.__version__)
lists = ak.Array([[1.0, np.nan, 2.0], [np.nan, 1.0], [np.nan], []])
print("lists", lists.to_list())
print("max, axis=1   ", ak.max(lists, axis=1).to_list())
print("nanmax, axis=1", ak.nanmax(lists, axis=1).to_list())
print("argmax, axis=1", ak.argmax(lists, axis=1).to_list())
print("max, axis=None", ak.max(lists))
print("numpy, each   ", [float(np.max(x)) if len(x) else None for x in lists])
PY
)

described='awkward 2.14.0
lists [[1.0, nan, 2.0], [nan, 1.0], [nan], []]
max, axis=1    [2.0, 1.0, -inf, None]
nanmax, axis=1 [2.0, 1.0, None, None]
argmax, axis=1 [2, 0, 0, None]
max, axis=None nan
numpy, each    [nan, nan, nan, None]'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
