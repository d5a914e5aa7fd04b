#!/usr/bin/env bash
# torch: the maximum of an empty row is -inf, -3.4e38, 0 or an error, by which of torch's own ways it is asked for.
#
# Guess: an empty row has the identity -inf in float32, or raises, as `amax` of an empty tensor does.
# Truth: `segment_reduce` gives -inf; a jagged nested tensor pads with the least finite number, so `amax` gives
# -3.4028e38, which `isinf` does not find, and its integers the least integer. `embedding_bag` in mode "max" gives 0,
# larger than every negative row. The argmax of the empty jagged row is 0, a place that the row does not have.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    torch==2.13.0 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import warnings

warnings.simplefilter("ignore")
import torch

print("torch", torch.__version__.split("+")[0])
values = torch.tensor([-1.0, -2.0])
try:
    print("amax of an empty tensor", torch.zeros(0).amax(0))
except IndexError as error:
    print("amax of an empty tensor:", type(error).__name__)
print("segment_reduce         ", torch.segment_reduce(values, "max", lengths=torch.tensor([2, 0])).tolist())
rows = torch.nested.nested_tensor([values, torch.ones(0)], layout=torch.jagged)
print("jagged amax            ", [float("%.5g" % y) for y in rows.amax(1).tolist()], "argmax", rows.argmax(1).tolist())
whole = torch.nested.nested_tensor([values.long(), torch.ones(0, dtype=torch.long)], layout=torch.jagged)
print("jagged amax of int64   ", whole.amax(1).tolist())
bags = torch.nn.functional.embedding_bag(torch.tensor([0, 1]), values[:, None], torch.tensor([0, 2]), mode="max")
print("embedding_bag          ", bags[:, 0].tolist())
PY
)

described='torch 2.13.0
amax of an empty tensor: IndexError
segment_reduce          [-1.0, -inf]
jagged amax             [-1.0, -3.4028e+38] argmax [0, 0]
jagged amax of int64    [-1, -9223372036854775808]
embedding_bag           [-1.0, 0.0]'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
