#!/usr/bin/env bash
# JAX on a CPU takes subnormal numbers for zeros in comparisons, so that its sort leaves them in no order.
#
# Guess: flushing subnormals to zero costs digits of sums and products; an order needs no arithmetic and is exact.
# Truth: 2e-40, 1e-40 and 0 of float32 are equal to each other. `jnp.sort` returns them as they stood, bits kept, so the
# result does not ascend; `argmax` of a rising row is its first place; `unique` keeps one of three values; the largest of
# a segment is 0. Of float64 it is the same below 2.2e-308. NumPy on the same CPU orders them.
#
# A check of a fold against NumPy fails here without a fault in the fold: compare numbers that are normal, or call a
# foreign function, which may set its thread's mode for itself.
#
# Read: IEEE 754-2019, section 5.11 on comparisons, and J. T. Coonen, "Underflow and the denormalized numbers" (1981).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ||
    exit 2

seen=$(JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PY'
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np

print("jax", jax.__version__)


def show(name, kind, tiny):
    falling = np.array([2 * tiny, tiny, 0], kind)
    rising = falling[::-1].copy()
    sorted_values = np.asarray(jnp.sort(jnp.asarray(falling)))
    print(f"{name}: sorted ascends {bool(np.all(np.diff(sorted_values) >= 0))}, bits as given {sorted_values.tobytes() == falling.tobytes()};",
          f"argmax of the rising row {int(jnp.argmax(jnp.asarray(rising)))}; distinct {len(jnp.unique(jnp.asarray(rising)))};",
          f"largest of a segment {float(jax.ops.segment_max(jnp.asarray(rising), jnp.zeros(3, jnp.int32), 1)[0])}")
    print(f"{name}, NumPy: sorted ascends {bool(np.all(np.diff(np.sort(falling)) >= 0))}; argmax {int(np.argmax(rising))}; distinct {len(np.unique(rising))}")


show("float32", np.float32, 1e-40)
show("float64", np.float64, 1e-310)
PY
)

described='jax 0.10.2
float32: sorted ascends False, bits as given True; argmax of the rising row 0; distinct 1; largest of a segment 0.0
float32, NumPy: sorted ascends True; argmax 2; distinct 3
float64: sorted ascends False, bits as given True; argmax of the rising row 0; distinct 1; largest of a segment 0.0
float64, NumPy: sorted ascends True; argmax 2; distinct 3'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
