"""Prints the stub of the extension module. Needs nanobind and the built package.

A test compares the output with segfold/_segfold.pyi. This command updates the file:

    PYTHONPATH=build/ci/python python runtime/python/make_stubs.py > runtime/python/segfold/_segfold.pyi
"""

import os
import re
import sys

# Removes this folder from the path, because its package lacks the extension module. The built package is imported.
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

class CheckError(Error):
    \"\"\"{CheckError}\"\"\"

class InternalError(Error):
    \"\"\"{InternalError}\"\"\""""

# Result types that nanobind's generator does not know: function, type in the extension, type in the stub.
_RESULTS = [
    ("shape", "tuple", "tuple[int, ...]"),
    ("__cuda_array_interface__", "dict", "dict[str, Any]"),
    ("__dlpack_device__", "tuple", "tuple[int, int]"),
    ("types", "tuple", "tuple[str, ...]"),
    ("parameters", "tuple", "tuple[tuple[str, str, bool], ...]"),
    ("scalars", "tuple", "tuple[str, ...]"),
    ("rows", "tuple", "tuple[str, ...]"),
    ("results", "tuple", "tuple[tuple[str, str], ...]"),
    ("outputs", "tuple", "tuple[str, ...]"),
    ("laws", "tuple", "tuple[str, ...]"),
    ("__reduce__", "tuple", "tuple[Any, ...]"),
    ("standard_names", "tuple", "tuple[tuple[str, str], ...]"),
    ("check", "tuple", "tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...], str]"),
    ("tune", "dict", "dict[str, Any]"),
    ("bench", "dict", "dict[str, Any]"),
    ("devices", "list", "list[dict[str, Any]]"),
    ("backends", "tuple", "tuple[tuple[str, str], ...]"),
    ("nvrtc", "tuple", "tuple[str, str]"),
]
_ARGUMENTS = [
    ("__dlpack__(self, **kwargs)", "__dlpack__(self, **kwargs: Any)"),
    ("*arrays, **words)", "*arrays: Any, **words: Any)"),
    ("columns: list,", "columns: list[Any],"),
    ("facts: dict)", "facts: dict[str, Any])"),
]


def _typed(text):
    """Replaces the types in _RESULTS and _ARGUMENTS. Each of them must occur in the text."""
    for name, said, meant in _RESULTS:
        text, count = re.subn(rf"(    def |^def ){name}\((.*)\) -> {said}:", rf"\1{name}(\2) -> {meant}:", text, flags=re.MULTILINE)
        assert count == 1, (name, count)
    for said, meant in _ARGUMENTS:
        assert said in text, said
        text = text.replace(said, meant)
    return text


def stub():
    """Returns the text of the stub."""
    generator = StubGen(module=_segfold)
    generator.put(_segfold)
    text = _typed(generator.get())
    text = re.sub(r"^import typing\n", "", text, flags=re.MULTILINE)
    # Each operator has its own signature, so the class declares none.
    text = re.sub(r"^import segfold\._operator_docs\n|^    __signature__: .*\n\n", "", text, flags=re.MULTILINE)
    names = ("Error", "SpecError", "InputError", "OpenTypeError", "DeviceError", "CheckError", "InternalError")
    errors = _ERRORS.format(**{name: getattr(_segfold, name).__doc__ for name in names})
    # Replaces the import of the error classes from segfold by their declarations.
    return re.sub(r"from segfold import \(.*?\n\)\n", lambda _: errors + "\n", text, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    print(stub(), end="")
