#!/usr/bin/env bash
# Whether 0.0 and -0.0, or NaN and NaN, are one group differs among Arrow, polars, DuckDB, pandas and NumPy.
#
# Guess: a group-by of floating-point keys compares with ==: both zeros are one group, and each NaN is one of its own.
# Truth: no group-by below does. Arrow does the opposite on both counts: two zeros, one NaN; its run_end_encode cuts
# runs so too, and its join of 0.0 with -0.0 finds no partner. polars and DuckDB have one zero and one NaN; pandas one
# zero, and NaN is dropped. Runs that are cut where NumPy's x[1:] != x[:-1] is true follow ==, and so end elsewhere
# than those of Arrow and polars. Keys must be made canonical before results of two libraries are compared.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 pandas==3.1.1 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

keys = np.array([0.0, -0.0, np.nan, np.nan])
frame = pd.DataFrame({"key": keys, "value": [1, 2, 4, 8]})
columns = pa.Table.from_pandas(frame)
print("sums of 1, 2, 4, 8 under the keys 0.0, -0.0, nan, nan")
sums = columns.group_by("key", use_threads=False).aggregate([("value", "sum")])
print("  pyarrow", pa.__version__, sums["value_sum"].to_pylist())
sums = pl.from_arrow(columns).group_by("key", maintain_order=True).agg(pl.col("value").sum())
print("  polars ", pl.__version__, sums["value"].to_list())
sums = duckdb.sql("select sum(value)::int from columns group by key order by 1").fetchall()
print("  duckdb ", duckdb.__version__, [row[0] for row in sums])
print("  pandas ", pd.__version__, frame.groupby("key")["value"].sum().to_list())

print("ends of the runs of 0.0, -0.0, nan, nan")
print("  pyarrow", pc.run_end_encode(columns["key"].combine_chunks()).run_ends.to_pylist())
print("  polars ", pl.Series(keys).rle().struct.field("len").cum_sum().to_list())
print("  numpy  ", [*(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), keys.size])

right = pa.table({"key": [-0.0], "other": [1]})
print("pyarrow joins 0.0 with -0.0:", pa.table({"key": [0.0]}).join(right, "key", join_type="inner").num_rows, "rows")
PY
)

described='sums of 1, 2, 4, 8 under the keys 0.0, -0.0, nan, nan
  pyarrow 26.0.1 [1, 2, 12]
  polars  2.1.0 [3, 12]
  duckdb  2.0.1 [3, 12]
  pandas  3.1.1 [3]
ends of the runs of 0.0, -0.0, nan, nan
  pyarrow [1, 2, 4]
  polars  [2, 4]
  numpy   [2, 3, 4]
pyarrow joins 0.0 with -0.0: 0 rows'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
