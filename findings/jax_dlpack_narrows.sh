#!/usr/bin/env bash
# jax.dlpack.from_dlpack turns 64-bit columns into 32-bit ones without a word, with copy=False too.
#
# Guess: DLPack exchanges memory. A consumer that cannot take a type raises BufferError, and `copy=False` makes sure
# that nothing is converted. Otherwise JAX warns, as `jnp.asarray(x, dtype="int64")` does.
# Truth: while `jax_enable_x64` is off (the default) the array is converted to 32 bits: 2^40 comes back as 0, 2^31 as
# -2^31, and a double as a float. No warning, no error, and `copy=False` does not refuse. Keys, positions and offsets
# of 64 bits must be checked against the dtype of the result. A Python integer of that size is an OverflowError.
#
# Read: "JAX: The Sharp Bits", Double (64bit) precision; "Python Specification for DLPack", the argument copy.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import warnings

import jax
import jax.numpy as jnp
import numpy as np

print("jax", jax.__version__)
memory = np.zeros(256, "u1")
start = -memory.ctypes.data % 64  # from_dlpack refuses copy=False for other addresses
keys = memory[start : start + 24].view("i8")
keys[:] = [2**40, 2**31, 7]
print("numpy", keys.dtype, keys.tolist())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for copy in (None, False):
        taken = jax.dlpack.from_dlpack(keys, copy=copy)
        print(f"from_dlpack, copy={copy}:", taken.dtype, taken.tolist(), "warnings:", len(caught))
    jnp.asarray(keys, dtype="int64")
    print("asarray, dtype=int64: warnings:", len(caught))
try:
    jnp.asarray(2**40)
except OverflowError as error:
    print("asarray of a Python integer:", type(error).__name__)
PY
)

described='jax 0.10.2
numpy int64 [1099511627776, 2147483648, 7]
from_dlpack, copy=None: int32 [0, -2147483648, 7] warnings: 0
from_dlpack, copy=False: int32 [0, -2147483648, 7] warnings: 0
asarray, dtype=int64: warnings: 1
asarray of a Python integer: OverflowError'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
