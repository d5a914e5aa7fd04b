#!/usr/bin/env bash
# polars: the float32 sum of a group changes when another aggregate is asked for beside it.
#
# Guess: `agg(sum, var)` gives the same sums as `agg(sum)`, and the sum of a group is the sum of its Series.
# Truth: the list of aggregates decides how the sum is added. Alone or beside the mean it is added one after another in
# float32 and stops at 2^24 when ones are added; beside `var` it is 2^25, as `Series.sum` is. The mean of the same group
# is exact in each case, so mean * count is not the sum. `list.sum` stops at 2^24 too. With several threads the sum
# depends on their number as well; one is set here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    polars==2.1.0 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import os

os.environ["POLARS_MAX_THREADS"] = "1"
import numpy as np
import polars as pl

print("polars", pl.__version__)
ones = np.ones(2**25, "f4")
frame = pl.DataFrame({"key": np.zeros(ones.size, "i1"), "x": ones})


def of_group(*more):
    return frame.group_by("key").agg(pl.col("x").sum().alias("sum"), *more)["sum"].to_list()


print("Series.sum        ", pl.Series(ones).sum())
print("agg(sum)          ", of_group())
print("agg(sum, mean)    ", of_group(pl.col("x").mean().alias("mean")))
print("agg(sum, var)     ", of_group(pl.col("x").var().alias("var")))
print("agg(mean)         ", frame.group_by("key").agg(pl.col("x").mean())["x"].to_list())
print("agg(list).list.sum", frame.group_by("key").agg(pl.col("x")).select(pl.col("x").list.sum())["x"].to_list())
PY
)

described='polars 2.1.0
Series.sum         33554432.0
agg(sum)           [16777216.0]
agg(sum, mean)     [16777216.0]
agg(sum, var)      [33554432.0]
agg(mean)          [1.0]
agg(list).list.sum [16777216.0]'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
