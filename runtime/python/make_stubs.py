"""Prints the stub of the extension module, segfold/_segfold.pyi; a test compares. Needs nanobind and the built package.

    PYTHONPATH=build/ci/python python runtime/python/make_stubs.py > runtime/python/segfold/_segfold.pyi
"""

import os
import re
import sys

# The package beside this file has no extension.
sys.path = [place for place in sys.path if os.path.abspath(place or ".") != os.path.dirname(os.path.abspath(__file__))]

from nanobind.stubgen import StubGen  # noqa: E402

from segfold import _segfold  # noqa: E402

_ERRORS = """import typing

__version__: str


class Error(Exception):
    \"\"\"{Error}\"\"\"

class SpecError(Error, ValueError):
    \"\"\"{SpecError}\"\"\"

class InputError(Error, ValueError):
    \"\"\"{InputError}\"\"\"

class OpenTypeError(InputError, AttributeError):
    \"\"\"{OpenTypeError}\"\"\"

class DeviceError(Error, RuntimeError):
    \"\"\"{DeviceError}\"\"\"

class InternalError(Error):
    \"\"\"{InternalError}\"\"\""""


def stub():
    """The text of the stub."""
    generator = StubGen(module=_segfold)
    generator.put(_segfold)
    text = generator.get()
    text = re.sub(r"^import typing\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^import segfold\._operator_docs\n|^    __signature__: .*\n\n", "", text, flags=re.MULTILINE)  # of each operator
    names = ("Error", "SpecError", "InputError", "OpenTypeError", "DeviceError", "InternalError")
    errors = _ERRORS.format(**{name: getattr(_segfold, name).__doc__ for name in names})
    # The classes call themselves segfold.Error and so on, and are made here.
    return re.sub(r"from segfold import \(.*?\n\)\n", lambda _: errors + "\n", text, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    print(stub(), end="")
