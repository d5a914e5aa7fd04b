#!/usr/bin/env bash
# scipy.ndimage: the maximum of an absent label is 0, and its median is a value of another label.
#
# Guess: a label of `index` that no element has gives nan, or raises, in all measurements, as `mean` gives nan.
# Truth: `maximum` and `minimum` give 0 (above all values of a negative image), `maximum_position` the first place, and
# `median` a value that belongs to another label. `labeled_comprehension` is the one that asks for a value for absent
# labels. Count the elements of each label (`sum_labels` of ones) before any of the others is believed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    scipy==1.17.1 numpy==2.4.6 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import warnings

import numpy as np
import scipy
from scipy import ndimage

warnings.simplefilter("ignore")
print("scipy", scipy.__version__)
values = np.array([-5.0, -3.0, -8.0])
labels = np.array([1, 1, 3])
index = [1, 2, 3]
print("values", values.tolist(), "labels", labels.tolist(), "asked for", index)
for name in ("sum_labels", "mean", "maximum", "minimum", "median", "maximum_position"):
    print(f"  {name:16}", np.asarray(getattr(ndimage, name)(values, labels, index)).ravel().tolist())
print("  numpy.max, nan  ", ndimage.labeled_comprehension(values, labels, index, np.max, float, np.nan).tolist())
PY
)

described='scipy 1.17.1
values [-5.0, -3.0, -8.0] labels [1, 1, 3] asked for [1, 2, 3]
  sum_labels       [-8.0, 0.0, -8.0]
  mean             [-4.0, nan, -8.0]
  maximum          [-3.0, 0.0, -8.0]
  minimum          [-5.0, 0.0, -8.0]
  median           [-4.0, -5.0, -8.0]
  maximum_position [1, 0, 2]
  numpy.max, nan   [-3.0, nan, -8.0]'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
