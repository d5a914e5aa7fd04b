"""Folds the segments of an array with any associative operator, on a GPU or a CPU.

>>> import numpy as np, segfold as sf
>>> x = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
>>> sf.standard.sum(x, offsets=[0, 3, 5, 5, 9])
Traceback (most recent call last):
    ...
segfold.InputError: 'offsets' is a builtins.list; an array of NumPy, torch, CuPy, JAX or Arrow is needed, or one that speaks \
DLPack, __cuda_array_interface__ or the buffer protocol: give numpy.asarray(offsets)
>>> sf.standard.sum(x, offsets=np.array([0, 3, 5, 5, 9]))
array([ 8.,  6.,  0., 22.], dtype=float32)

* :func:`operator` makes an operator from a text, a Python class or a Python function. ``segfold.standard`` holds the standard
  operators.
* An operator is called with arrays and segments: ``op(x, offsets=o)``.
* :func:`stream` folds columns that do not fit into memory, from files and iterators.
* :func:`plan` chooses and compiles a plan once, for arrays of the same sizes.
* :func:`gradient` returns the gradient of an operator, as operators.
* :func:`explain` returns the full texts of all warnings about an operator.
* :func:`check` searches for counter-examples to an operator's laws. :func:`tune` searches for the fastest plan. :func:`bench`
  times all stages.

Errors are :class:`SpecError`, :class:`InputError`, :class:`DeviceError`, :class:`CheckError` and :class:`InternalError`. All
derive from :class:`Error`.
"""

import atexit as _atexit
import sys as _sys

try:
    from . import _segfold
except ImportError as _error:  # free-threaded interpreters cannot load wheels of the stable ABI
    if getattr(_sys, "_is_gil_enabled", lambda: True)():
        raise
    raise ImportError(
        "this build of segfold is for Python with its lock, and this interpreter runs without; build segfold from "
        "source with it (pip install --no-binary segfold segfold): importing it then turns the lock on"
    ) from _error
if not getattr(_sys, "_is_gil_enabled", lambda: True)():  # importing the module has not enabled the lock
    raise ImportError(
        "segfold needs the interpreter's lock, which PYTHON_GIL=0 or -X gil=0 keeps off; without them, importing segfold "
        "turns the lock on"
    )

from ._segfold import (
    CheckError,
    DeviceArray,
    DeviceError,
    Error,
    InputError,
    InternalError,
    OpenTypeError,
    Operator,
    Plan,
    SpecError,
    __version__,
    automatic_backend,
    backends,
    no_gpu_reason,
    nvrtc,
    plan,
)
from . import _operator_docs
from ._gradient import Gradient, gradient
from ._results import FoldWarning
from ._verbs import (
    Bench,
    BenchEntry,
    CounterExample,
    Device,
    LawFinding,
    LawReport,
    Tuned,
    bench,
    check,
    devices,
    explain,
    expression,
    operator,
    tune,
)
from ._stream import stream
from . import cache, standard
from .trace import *  # noqa: F403  types and functions for traced operators
from .trace import __all__ as _trace_names

bool = bool_  # noqa: A001, F405  not in __all__, so that "from segfold import *" leaves Python's bool alone

_operator_docs.install()
_atexit.register(_segfold.wait_for_abandoned)

__all__ = [
    "Bench",
    "BenchEntry",
    "CheckError",
    "CounterExample",
    "Device",
    "DeviceArray",
    "DeviceError",
    "Error",
    "FoldWarning",
    "Gradient",
    "InputError",
    "InternalError",
    "LawFinding",
    "LawReport",
    "OpenTypeError",
    "Operator",
    "Plan",
    "SpecError",
    "Tuned",
    "__version__",
    "automatic_backend",
    "backends",
    "bench",
    "cache",
    "check",
    "devices",
    "explain",
    "expression",
    "gradient",
    "no_gpu_reason",
    "nvrtc",
    "operator",
    "plan",
    "standard",
    "stream",
    "tune",
    *_trace_names,
]
