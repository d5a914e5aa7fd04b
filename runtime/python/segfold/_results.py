"""Named tuples for results, which can be pickled, and warnings."""

import collections
import contextlib
import functools
import keyword
import os
import sys
import threading
import typing
import warnings


class FoldWarning(UserWarning):
    """A reason to doubt results, such as a law that a search has refuted."""


_told: typing.Set[str] = set()
_local = threading.local()


@contextlib.contextmanager
def standing_for(step, op):
    """Returns a context in which calls of ``step``, an operator of the gradient of ``op``, do not repeat warnings about ``op``."""
    outer = getattr(_local, "names", None)
    _local.names = (f"operator {step} ", f"operator {op} ")
    try:
        yield
    finally:
        _local.names = outer


def warn(text):
    """Warns at the caller's line, which is the innermost line outside of this package, torch and JAX."""
    names = getattr(_local, "names", None)
    of_operator = text.replace(*names, 1) if names else text
    if names and of_operator in _told:
        return
    _told.add(of_operator)
    inside = [os.path.dirname(__file__) + os.sep]
    for library in ("torch", "jax"):
        if library in sys.modules:
            inside.append(os.path.dirname(getattr(sys.modules[library], "__file__", None) or __file__) + os.sep)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(tuple(inside)):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, FoldWarning, stacklevel=level)


@functools.lru_cache(maxsize=None)
def result_class(names):
    """Returns the class of named tuples for results with these names. Each class is made once.

    If a named tuple cannot have a name, an underscore is moved or added to its end: ``class_`` for ``class``, ``x_`` for
    ``_x``, and ``keys_`` for a result ``keys`` beside the segments' keys.
    """
    names = _usable(names)
    made = collections.namedtuple("Results", names)
    made.__module__ = __name__
    made.__doc__ = "Results of a fold: " + ", ".join(names) + "; an array for each, with a value for each segment."
    for stem, members in _arrays(names).items():
        doc = f"The arrays {members[0]} to {members[-1]}, in a tuple."
        setattr(made, stem, property(lambda self, members=members: tuple(getattr(self, name) for name in members), doc=doc))
    made.__reduce__ = lambda self: (restore, (names, tuple(self)))
    return made


def _usable(names):
    usable = []
    for name in names:
        name = name.lstrip("_") + "_" if name.startswith("_") else name
        name = f"result{name}" if not name.isidentifier() or name == "_" else name
        while keyword.iskeyword(name) or name in usable:
            name += "_"
        usable.append(name)
    return tuple(usable)


def _arrays(names):
    """Finds arrays among the names of results. ``bins_0`` to ``bins_7``, from ``bins: i32[8]``, give ``{"bins": (...)}``."""
    found = {}
    for name in names:
        stem, _, number = name.rpartition("_")
        if stem and number == str(len(found.get(stem, ()))):
            found[stem] = (*found.get(stem, ()), name)
    known = set(names) | set(dir(tuple)) | {"_make", "_replace", "_asdict", "_fields"}
    return {stem: members for stem, members in found.items() if len(members) > 1 and stem not in known}


def restore(names, values):
    """Makes a named tuple of results. Called when unpickling."""
    return result_class(names)(*values)
