#!/usr/bin/env bash
# Arrow's list_parent_indices and list_flatten do not belong together: one counts what null lists hide, one does not.
#
# Guess: `list_flatten` gives the elements, `list_parent_indices` the list of each element, so the two columns are the
# input of a group-by. Both are vector functions of one argument, and the pair is the usual recipe.
# Truth: a null list may keep a range of elements that nobody sees (a mask over the lists, polars' `when`, a struct
# field under a null). `list_flatten` leaves them out, `list_parent_indices` gives them an index: of five elements
# four come back, with five indices. Cut to the shorter length, elements go to the wrong list without an error.
# The kinds of lists differ: for a list view the hidden element has the index null, for a fixed-size list none.
# `fill_null([])` first drops what is hidden.
#
# Read: pyarrow, "Compute Functions", the texts of list_flatten ("Null list values do not emit anything") and
# list_parent_indices ("For each value in each list"); "Arrow Columnar Format", Variable-size List Layout.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet pyarrow==26.0.1 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import pyarrow as pa
import pyarrow.compute as pc

print("pyarrow", pa.__version__)
lists = pa.ListArray.from_arrays(pa.array([0, 2, 3, 5]), pa.array([10, 20, 30, 40, 50]),
                                 mask=pa.array([False, True, False]))
lists.validate(full=True)
kinds = {
    "list": lists,
    "list view": pa.ListViewArray.from_arrays(pa.array([0, 2, 3]), pa.array([2, 1, 2]), lists.values,
                                              mask=pa.array([False, True, False])),
    "fixed-size list": pa.FixedSizeListArray.from_arrays(pa.array([10, 20, 30, 31, 40, 50]), 2,
                                                         mask=pa.array([False, True, False])),
}
for name, column in kinds.items():
    print(f"{name}: {column.to_pylist()}")
    print("  elements", pc.list_flatten(column).to_pylist(), "parents", pc.list_parent_indices(column).to_pylist())

filled = lists.fill_null([])
print("list after fill_null([]): elements", filled.flatten().to_pylist(),
      "parents", pc.list_parent_indices(filled).to_pylist())
PY
)

described='pyarrow 26.0.1
list: [[10, 20], None, [40, 50]]
  elements [10, 20, 40, 50] parents [0, 0, 1, 2, 2]
list view: [[10, 20], None, [40, 50]]
  elements [10, 20, 40, 50] parents [0, 0, None, 2, 2]
fixed-size list: [[10, 20], None, [40, 50]]
  elements [10, 20, 40, 50] parents [0, 0, 2, 2]
list after fill_null([]): elements [10, 20, 40, 50] parents [0, 0, 2, 2]'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
