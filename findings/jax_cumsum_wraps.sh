#!/usr/bin/env bash
# JAX's cumulative sum does not end with its sum: of narrow integers one wraps and one widens.
#
# Guess: the last place of `cumsum` is `sum`, as in NumPy, whose functions JAX has by the same names.
# Truth: `jnp.sum` adds int8 as int32, `jnp.cumsum` and `jax.ops.segment_sum` as int8: three times 100 are 300, 44 and 44.
# NumPy widens both of its own. A count over uint8 flags is 44 where there are 300. `dtype=jnp.int32` mends `cumsum`;
# `segment_sum` has no such argument, and its values must be cast before. Of float32, 2^25 ones are 33554432 by `sum` and
# 16777216 by `segment_sum` on a CPU, which adds one after the other.
#
# Read: N. J. Higham, "The accuracy of floating point summation" (1993), on pairwise and recursive sums.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ||
    exit 2

seen=$(JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PY'
import jax
import jax.numpy as jnp
import numpy as np

print("jax", jax.__version__)


def show(name, values):
    one_segment = jnp.zeros(len(values), jnp.int32)
    print(f"{name}: sum {jnp.sum(values)}, cumsum ends with {jnp.cumsum(values)[-1]},",
          f"segment_sum {jax.ops.segment_sum(values, one_segment, 1)[0]}")


show("3 x 100 as int8", jnp.full(3, 100, jnp.int8))
show("300 flags as uint8", jnp.ones(300, jnp.uint8))
show("2^25 ones as float32", jnp.ones(1 << 25, jnp.float32))
narrow = np.full(3, 100, np.int8)
print(f"NumPy, 3 x 100 as int8: sum {np.sum(narrow)}, cumsum ends with {np.cumsum(narrow)[-1]}")
PY
)

described='jax 0.10.2
3 x 100 as int8: sum 300, cumsum ends with 44, segment_sum 44
300 flags as uint8: sum 300, cumsum ends with 44, segment_sum 44
2^25 ones as float32: sum 33554432.0, cumsum ends with 33554432.0, segment_sum 16777216.0
NumPy, 3 x 100 as int8: sum 300, cumsum ends with 300'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
