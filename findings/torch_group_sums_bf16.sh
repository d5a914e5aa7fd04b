#!/usr/bin/env bash
# torch (CPU): scatter_add, index_add and segment_reduce sum a group of 4096 bfloat16 ones to 4096, 256 and 256.
#
# Guess: the three are one operation, and so accumulate alike; a mean of ones is 1 whatever the type.
# Truth: `scatter_add` and `scatter_reduce` accumulate in float32 here, `index_add`, `index_put` with accumulate and
# `segment_reduce` in bfloat16, which stops at 256. `segment_reduce(mean)` divides that by the true count: 4096 ones
# have the mean 0.0625. `index_reduce(mean)` and `scatter_reduce(mean)` give 1. float16 is like it, from 2048 on.
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
count = 4096
index = torch.zeros(count, dtype=torch.long)
for dtype in (torch.bfloat16, torch.float16):
    ones = torch.ones(count, dtype=dtype)
    zero = torch.zeros(1, dtype=dtype)
    lengths = torch.tensor([count])
    print(dtype)
    print("  sum           ", ones.sum().item())
    print("  scatter_add   ", zero.scatter_add(0, index, ones).item())
    print("  index_add     ", zero.index_add(0, index, ones).item())
    print("  index_put     ", zero.index_put((index,), ones, accumulate=True).item())
    print("  segment_reduce", torch.segment_reduce(ones, "sum", lengths=lengths).item())
    print("  mean: segment_reduce", torch.segment_reduce(ones, "mean", lengths=lengths).item(),
          "scatter_reduce", zero.scatter_reduce(0, index, ones, "mean", include_self=False).item(),
          "index_reduce", zero.index_reduce(0, index, ones, "mean", include_self=False).item())
PY
)

described='torch 2.13.0
torch.bfloat16
  sum            4096.0
  scatter_add    4096.0
  index_add      256.0
  index_put      256.0
  segment_reduce 256.0
  mean: segment_reduce 0.0625 scatter_reduce 1.0 index_reduce 1.0
torch.float16
  sum            4096.0
  scatter_add    4096.0
  index_add      2048.0
  index_put      2048.0
  segment_reduce 2048.0
  mean: segment_reduce 0.5 scatter_reduce 1.0 index_reduce 1.0'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
