"""The standard operators: ``segfold.standard.sum``, ``segfold.standard.mean_variance``, ...

Each call takes the type of its arrays. ``segfold.standard.sum_i32`` and ``segfold.standard.sum.typed("i32")`` have a fixed
type. ``dir(segfold.standard)`` lists all operators.
"""

import difflib as _difflib
import sys as _sys

from . import _segfold

__all__ = sorted(name for name, _ in _segfold.standard_names())


def _hint(name):
    near = _difflib.get_close_matches(name, __all__, 1)
    return f"did you mean '{near[0]}'? dir(segfold.standard) lists all" if near else f"it has {', '.join(__all__)}"


def __getattr__(name: str) -> _segfold.Operator:
    if name.startswith("__") or not _segfold.is_standard(name):
        raise AttributeError(f"segfold.standard has no operator '{name}'; {_hint(name)}")
    made = _segfold.standard_operator(name)
    setattr(_sys.modules[__name__], name, made)
    return made


def __dir__():
    return __all__
