"""The operators that come with segfold: ``segfold.standard.sum``, ``segfold.standard.mean_variance``, ...

They take the type of the arrays that they are given; ``segfold.standard.sum_i32`` and ``segfold.standard.sum.typed("i32")``
are of one type. ``dir(segfold.standard)`` lists them.
"""

import sys as _sys

from . import _segfold

_summaries = dict(_segfold.standard_names())

__all__ = sorted(_summaries)


def __getattr__(name: str) -> _segfold.Operator:
    if name.startswith("__") or not _segfold.is_standard(name):
        raise AttributeError(f"segfold.standard has no operator '{name}'; it has {', '.join(__all__)}")
    made = _segfold.standard_operator(name)
    made.__doc__ = _summaries.get(name, made.description)
    setattr(_sys.modules[__name__], name, made)
    return made


def __dir__():
    return __all__
