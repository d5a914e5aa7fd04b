#!/usr/bin/env bash
# JAX maps a function of one's own over a NumPy array, and cannot compile its gradient: the array must be JAX's.
#
# Guess: a compiled loss may close over NumPy arrays, which JAX takes as constants, as it does everywhere.
# Truth: `vmap` maps a `custom_vjp` function over such an array. Its forward rule calls the function again, so that second
# derivatives work. The gradient is right without `jit`, and with it ends in an AssertionError ("non-canonical constant").
# Without `vmap`, with an array of `jnp.asarray`, and with a function whose gradient JAX derives itself, it works. The code
# of such a function cannot convert the array: below `vmap` it sees a tracer.
#
# Read: R. Frostig, M. J. Johnson, C. Leary, "Compiling machine learning programs via high-level tracing" (2018).
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


def product(x, y):
    return x * y


own = jax.custom_vjp(product)
own.defvjp(lambda x, y: (own(x, y), (x, y)), lambda kept, g: ((g * kept[1]).sum(), g * kept[0]))
rows = np.ones((4, 10), np.float32)


def outcome(function, values, maps, compiles):
    def loss(weights):
        return (jax.vmap(function)(weights, values) if maps else function(weights[0], values[0])).sum()

    gradient = jax.grad(loss)
    try:
        return float((jax.jit(gradient) if compiles else gradient)(jnp.ones(4))[0])
    except AssertionError as error:
        return "AssertionError: " + str(error).split(":")[0]


for name, asked in [
    ("custom_vjp, vmap, NumPy", (own, rows, True, False)),
    ("custom_vjp, vmap, NumPy, jit", (own, rows, True, True)),
    ("custom_vjp, vmap, jnp.asarray, jit", (own, jnp.asarray(rows), True, True)),
    ("custom_vjp, NumPy, jit", (own, rows, False, True)),
    ("derived gradient, vmap, NumPy, jit", (product, rows, True, True)),
]:
    print(f"{name}: {outcome(*asked)}")
PY
)

described='jax 0.10.2
custom_vjp, vmap, NumPy: 10.0
custom_vjp, vmap, NumPy, jit: AssertionError: non-canonical constant of type ndarray
custom_vjp, vmap, jnp.asarray, jit: 10.0
custom_vjp, NumPy, jit: 10.0
derived gradient, vmap, NumPy, jit: 10.0'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
