#!/usr/bin/env bash
# xarray's rolling sums change with the packages that are installed: a value that has left the window may stay in it.
#
# Guess: `rolling(t=2).sum()` is defined by its window. Bottleneck and numbagg only make it faster.
# Truth: both keep a running sum: they add the newest value and subtract the oldest one. What a value of 1e20 or an infinity
# has cost stays after it has left the window: 0 where 2 is right, and NaN to the end of the array. xarray takes numbagg
# where it is installed, else Bottleneck, else NumPy, which folds each window anew and is right. A standard deviation by
# numbagg is right, too; Bottleneck's is off by 5e7. pandas compensates its sums, and gives NaN for each window that
# holds an infinity.
#
# Read: K. Tangwongsan, M. Hirzel, S. Schneider, "In-Order Sliding-Window Aggregation in Worst-Case Constant Time" (2021),
# on operators without an inverse.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet numpy==2.4.6 pandas==3.1.1 \
    xarray==2026.9.0 bottleneck==1.6.0 numbagg==0.9.6 || exit 2

seen=$("$folder/venv/bin/python" - 2>/dev/null <<'PY'
import bottleneck, numbagg, numpy, pandas, xarray

print("xarray", xarray.__version__, "bottleneck", bottleneck.__version__, "numbagg", numbagg.__version__, "pandas", pandas.__version__)
LARGE = [1e20, 1.0, 1.0, 1.0, 1.0]
INFINITE = [1.0, float("inf"), 1.0, 1.0, 1.0]
STEPS = [1e16, 1.0, 2.0, 3.0, 4.0, 5.0]


def line(values):
    return " ".join(f"{value:.3g}" for value in values)


for name, options in {
    "numpy": {"use_numbagg": False, "use_bottleneck": False},
    "bottleneck": {"use_numbagg": False, "use_bottleneck": True},
    "numbagg": {"use_numbagg": True, "use_bottleneck": False},
}.items():
    with xarray.set_options(**options):
        roll = lambda values, length: xarray.DataArray(values, dims="t").rolling(t=length)
        print(f"{name:10} sums after 1e20: {line(roll(LARGE, 2).sum().values)}; after inf: {line(roll(INFINITE, 2).sum().values)};",
              f"deviations of steps: {line(roll(STEPS, 3).std().values)}")
roll = lambda values: pandas.Series(values).rolling(2).sum()
print(f"{'pandas':10} sums after 1e20: {line(roll(LARGE))}; after inf: {line(roll(INFINITE))}")
PY
)

described='xarray 2026.9.0 bottleneck 1.6.0 numbagg 0.9.6 pandas 3.1.1
numpy      sums after 1e20: nan 1e+20 2 2 2; after inf: nan inf inf 2 2; deviations of steps: nan nan 4.71e+15 0.816 0.816 0.816
bottleneck sums after 1e20: nan 1e+20 0 0 0; after inf: nan inf inf nan nan; deviations of steps: nan nan 4.71e+15 5.48e+07 5.48e+07 5.48e+07
numbagg    sums after 1e20: nan 1e+20 0 0 0; after inf: nan inf inf nan nan; deviations of steps: nan nan 4.71e+15 0.816 0.816 0.816
pandas     sums after 1e20: nan 1e+20 2 2 2; after inf: nan nan nan 2 2'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
