#!/usr/bin/env bash
# Whether a JAX array from DLPack shares memory with its NumPy array depends on the address, 64 bytes at a time.
#
# Guess: `jax.dlpack.from_dlpack` of a NumPy array on the CPU either always shares memory (DLPack is zero-copy) or
# always copies (jax.Array is immutable).
# Truth: it shares the memory if the address is a multiple of 64, and copies otherwise, without a word. NumPy promises
# no such alignment, and a slice or a member of a record shifts the address. So a later write into the NumPy array
# changes an "immutable" jax.Array, or does not. `copy=False` raises where a copy is needed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import jax
import numpy as np

print("jax", jax.__version__)
memory = np.zeros(512, "u1")
start = -memory.ctypes.data % 64
for shift in (0, 4, 16, 32, 64):
    column = memory[start + shift : start + shift + 16].view("f4")
    column[:] = 1
    taken = jax.dlpack.from_dlpack(column)
    column[:] = 9
    try:
        jax.dlpack.from_dlpack(column, copy=False)
        told = "allowed"
    except ValueError as error:
        told = type(error).__name__
    print(f"{shift:2} bytes behind a multiple of 64: jax sees {taken.tolist()}, copy=False is", told)
PY
)

described='jax 0.10.2
 0 bytes behind a multiple of 64: jax sees [9.0, 9.0, 9.0, 9.0], copy=False is allowed
 4 bytes behind a multiple of 64: jax sees [1.0, 1.0, 1.0, 1.0], copy=False is ValueError
16 bytes behind a multiple of 64: jax sees [1.0, 1.0, 1.0, 1.0], copy=False is ValueError
32 bytes behind a multiple of 64: jax sees [1.0, 1.0, 1.0, 1.0], copy=False is ValueError
64 bytes behind a multiple of 64: jax sees [9.0, 9.0, 9.0, 9.0], copy=False is allowed'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
