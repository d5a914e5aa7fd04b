#!/usr/bin/env bash
# JAX's reverse scan hands its function the later operand first: an order-dependent operator is combined back to front.
#
# Guess: `associative_scan(f, x, reverse=True)` gives f(x[i], f(x[i+1], ...)) at place i: suffixes in the order of the data.
# Truth: the array is turned round, scanned and turned back, so that place i has f(f(x[n-1], x[n-2]), ..., x[i]): the left
# operand is the later one. For a sum or a maximum nobody sees it; affine maps and products of matrices come out with
# their factors exchanged, without a word. A function with its operands exchanged gives what the guess says.
#
# Read: G. E. Blelloch, "Prefix Sums and Their Applications" (1990), on scans of operators that do not commute.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ||
    exit 2

seen=$(JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PY'
import functools

import jax
import jax.numpy as jnp

print("jax", jax.__version__)


def follow(earlier, later):
    """x -> w x + b, the earlier map first."""
    return earlier[0] * later[0], earlier[1] * later[0] + later[1]


def shown(maps):
    return ", ".join(f"{w:g} x + {b:g}" for w, b in zip(maps[0].tolist(), maps[1].tolist()))


maps = jnp.array([2.0, 3.0, 5.0]), jnp.array([1.0, 10.0, 100.0])
each = list(zip(*(part.tolist() for part in maps)))
suffixes = [functools.reduce(follow, each[i:]) for i in range(3)]
print("maps:               ", shown(maps))
print("suffixes in order:  ", ", ".join(f"{w:g} x + {b:g}" for w, b in suffixes))
print("reverse=True:       ", shown(jax.lax.associative_scan(follow, maps, reverse=True)))
print("operands exchanged: ", shown(jax.lax.associative_scan(lambda a, b: follow(b, a), maps, reverse=True)))
PY
)

described='jax 0.10.2
maps:                2 x + 1, 3 x + 10, 5 x + 100
suffixes in order:   30 x + 165, 15 x + 150, 5 x + 100
reverse=True:        30 x + 621, 15 x + 310, 5 x + 100
operands exchanged:  30 x + 165, 15 x + 150, 5 x + 100'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
