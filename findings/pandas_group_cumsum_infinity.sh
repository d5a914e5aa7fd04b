#!/usr/bin/env bash
# pandas' running sum by group turns what follows an infinity into NaN; its sum by group and its plain cumsum do not.
#
# Guess: `groupby(k).cumsum()` is `cumsum` on each group, and its last row is `groupby(k).sum()`.
# Truth: the running sum by group is compensated (Kahan). After an infinity the compensation is inf - inf, so every
# later row of that group is NaN, and so after an overflow: three times 1e308 gives 1e308, inf, nan. `groupby.sum`
# compensates too but guards the infinity; `Series.cumsum`, also through `groupby.apply`, has no compensation.
# A compensated scan needs the same guard.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    pandas==3.1.1 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import numpy as np
import pandas as pd

print("pandas", pd.__version__)
for values in ([1.0, np.inf, 2.0, 3.0], [1e308, 1e308, 1e308]):
    column = pd.Series(values)
    groups = column.groupby([0] * len(values))
    with np.errstate(over="ignore"):
        print("values", values)
        print("  groupby.cumsum         ", groups.cumsum().to_list())
        print("  groupby.apply of cumsum", groups.apply(lambda x: x.cumsum()).to_list())
        print("  cumsum                 ", column.cumsum().to_list())
        print("  groupby.sum            ", groups.sum().to_list())
PY
)

described='pandas 3.1.1
values [1.0, inf, 2.0, 3.0]
  groupby.cumsum          [1.0, inf, nan, nan]
  groupby.apply of cumsum [1.0, inf, inf, inf]
  cumsum                  [1.0, inf, inf, inf]
  groupby.sum             [inf]
values [1e+308, 1e+308, 1e+308]
  groupby.cumsum          [1e+308, inf, nan]
  groupby.apply of cumsum [1e+308, inf, inf]
  cumsum                  [1e+308, inf, inf]
  groupby.sum             [inf]'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
