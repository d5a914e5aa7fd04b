#!/usr/bin/env bash
# torch: the gradient of logcumsumexp is NaN at a leading -inf, even where no used result is -inf.
#
# Guess: -inf is the identity of logsumexp and the usual mask; its gradient is 0, as that of `torch.logsumexp` is.
# Truth: the forward result is right (-inf, 0, ...), the gradient of a -inf that begins the scan is NaN, also if the
# gradient of the -inf result is 0 by slicing it off. A -inf in the middle is fine, and so is -1e30 at the start.
# JAX's cumlogsumexp gives a number for the same scan.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    torch==2.13.0 numpy==2.4.6 jax==0.10.2 jaxlib==0.10.2 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import warnings

warnings.simplefilter("ignore")
import jax
import torch

print("torch", torch.__version__.split("+")[0], "jax", jax.__version__)
inf = float("inf")


def gradient(function, values):
    x = torch.tensor(values, requires_grad=True)
    function(x).sum().backward()
    return [round(g, 4) for g in x.grad.tolist()]


running = torch.logcumsumexp(torch.tensor([-inf, 0.0, 1.0]), 0)
print("logcumsumexp of (-inf, 0, 1)", [round(y, 4) for y in running.tolist()])
print("gradients of the sum of")
print("  logcumsumexp, (-inf, 0, 1)    ", gradient(lambda x: torch.logcumsumexp(x, 0), [-inf, 0.0, 1.0]))
print("  its last two, (-inf, 0, 1)    ", gradient(lambda x: torch.logcumsumexp(x, 0)[1:], [-inf, 0.0, 1.0]))
print("  its last two, (-1e30, 0, 1)   ", gradient(lambda x: torch.logcumsumexp(x, 0)[1:], [-1e30, 0.0, 1.0]))
print("  logcumsumexp, (0, -inf, 1)    ", gradient(lambda x: torch.logcumsumexp(x, 0), [0.0, -inf, 1.0]))
print("  logsumexp, (-inf, 0, 1)       ", gradient(lambda x: torch.logsumexp(x, 0), [-inf, 0.0, 1.0]))
of_jax = jax.grad(lambda x: jax.lax.cumlogsumexp(x)[1:].sum())(jax.numpy.array([-inf, 0.0, 1.0]))
print("  its last two in JAX           ", [round(float(g), 4) for g in of_jax])
PY
)

described='torch 2.13.0 jax 0.10.2
logcumsumexp of (-inf, 0, 1) [-inf, 0.0, 1.3133]
gradients of the sum of
  logcumsumexp, (-inf, 0, 1)     [nan, 1.2689, 0.7311]
  its last two, (-inf, 0, 1)     [nan, 1.2689, 0.7311]
  its last two, (-1e30, 0, 1)    [0.0, 1.2689, 0.7311]
  logcumsumexp, (0, -inf, 1)     [2.2689, 0.0, 0.7311]
  logsumexp, (-inf, 0, 1)        [0.0, 0.2689, 0.7311]
  its last two in JAX            [0.0, 1.2689, 0.7311]'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
