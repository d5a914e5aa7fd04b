#!/usr/bin/env bash
# The same decimal text is another float32 in NumPy and pandas than in Arrow, polars and DuckDB; bfloat16 is like it.
#
# Guess: reading "1.00000005960464477540" as float32 gives the nearest float32 everywhere; IEEE 754 asks for it.
# Truth: NumPy (float32 of a text, astype, loadtxt) and pandas (three engines) round to double first, which lands on
# the middle between two float32, and then to even: 1.0. The text lies above the middle, so 1.0000001 is nearest, which
# Arrow, polars and DuckDB give. `np.float32(integer)` takes the same way, `int64.astype` does not, so the scalar and
# the array differ. ml_dtypes takes double to bfloat16 by way of float32. np.float16 of a double rounds once.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 ml_dtypes==0.6.0 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import io

import duckdb
import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv

text = "1.00000005960464477540"  # above the middle of 1 and the next float32
page = f"x\n{text}\n".encode()


def show(name, value):
    print(f"  {name}: {float(value):.9g}")


print("text as float32, numpy", np.__version__, "pandas", pd.__version__, "pyarrow", pa.__version__,
      "polars", pl.__version__, "duckdb", duckdb.__version__)
show("numpy.float32", np.float32(text))
show("numpy.loadtxt", np.loadtxt(io.StringIO(text), dtype="f4"))
for engine in ("c", "python", "pyarrow"):
    show(f"pandas.read_csv {engine}", pd.read_csv(io.BytesIO(page), dtype={"x": "f4"}, engine=engine)["x"][0])
options = pa.csv.ConvertOptions(column_types={"x": pa.float32()})
show("pyarrow.csv", pa.csv.read_csv(io.BytesIO(page), convert_options=options)["x"][0].as_py())
show("polars.read_csv", pl.read_csv(page, schema={"x": pl.Float32})["x"][0])
show("duckdb", duckdb.sql(f"select '{text}'::float").fetchall()[0][0])

whole = 9007199791611905
print(f"the integer {whole} as float32")
print("  numpy.float32  ", int(np.float32(whole)))
print("  array.astype   ", int(np.array(whole).astype("f4")))
number = 1 + 2.0**-8 + 2.0**-40  # above the middle of 1 and the next bfloat16
print("a double as bfloat16, ml_dtypes", ml_dtypes.__version__)
print("  array.astype   ", float(np.array(number).astype(ml_dtypes.bfloat16)), "next", 1 + 2.0**-7)
number = 1 + 2.0**-11 + 2.0**-40
print("a double as float16", float(np.float16(number)), "next", 1 + 2.0**-10)
PY
)

described='text as float32, numpy 2.4.6 pandas 3.1.1 pyarrow 26.0.1 polars 2.1.0 duckdb 2.0.1
  numpy.float32: 1
  numpy.loadtxt: 1
  pandas.read_csv c: 1
  pandas.read_csv python: 1
  pandas.read_csv pyarrow: 1
  pyarrow.csv: 1.00000012
  polars.read_csv: 1.00000012
  duckdb: 1.00000012
the integer 9007199791611905 as float32
  numpy.float32   9007199254740992
  array.astype    9007200328482816
a double as bfloat16, ml_dtypes 0.6.0
  array.astype    1.0 next 1.0078125
a double as float16 1.0009765625 next 1.0009765625'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
