#!/usr/bin/env bash
# Arrow groups dictionary columns by index, not by value: one key can come back as two groups, and so can null.
#
# Guess: a dictionary is an encoding. A group-by, `unique` and a join see the values, as they do for plain strings.
# Truth: `Table.group_by` and `unique` take the index. The format allows equal values, and nulls, in a dictionary
# (concatenated or hand-made dictionaries have them), and then "a" is two groups. A null of the dictionary and a null
# of the column are two groups too, both printed as None. Casting the key to its value type first mends both.
#
# Read: "Arrow Columnar Format", Dictionary-encoded Layout, which allows duplicates and nulls in dictionaries.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet pyarrow==26.0.1 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import pyarrow as pa

print("pyarrow", pa.__version__)


def groups(keys):
    table = pa.table({"key": keys, "value": list(range(1, len(keys) + 1))})
    sums = table.group_by("key", use_threads=False).aggregate([("value", "sum")])
    return [f"{key} {value}," for key, value in zip(sums["key"].to_pylist(), sums["value_sum"].to_pylist())]


def show(name, keys):
    keys.validate(full=True)
    print(f"{name}: keys", *keys.to_pylist())
    print("  sums by the dictionary:", *groups(keys))
    print("  sums by its values:    ", *groups(keys.cast(pa.string())))


show("equal values", pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 2]), pa.array(["a", "a", "b"])))
show("two kinds of null", pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None])))
PY
)

described='pyarrow 26.0.1
equal values: keys a a a b
  sums by the dictionary: a 4, a 2, b 4,
  sums by its values:     a 6, b 4,
two kinds of null: keys a None None
  sums by the dictionary: a 1, None 2, None 3,
  sums by its values:     a 1, None 5,'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
