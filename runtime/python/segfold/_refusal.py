"""Raises errors at the wrong line of the caller's code."""

import os
import sys

from . import _segfold

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _is_inside(frame):
    """Returns whether a frame runs code of this package, or of NumPy, which calls methods of its arguments."""
    return (os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE)
            or frame.f_globals.get("__name__", "").partition(".")[0] == "numpy")


def caller():
    """Returns the innermost frame outside of this package, which is the caller's code. Returns None if there is none."""
    frame = sys._getframe(1)
    while frame is not None and _is_inside(frame):
        frame = frame.f_back
    return frame


def place():
    """Returns the file and line of the caller's code."""
    frame = caller()
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def refuse(message, hint="", at=None):
    """Raises SpecError at the place ``at``, or, if this is not given, at the line of the caller's code."""
    file, line = at if at and at[0] else place()
    _segfold.raise_spec_error(file, line, message, hint)
