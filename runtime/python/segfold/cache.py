"""Compiled plans in one file: made on a machine with NVRTC, for the GPUs of machines without.

    sf.cache.export_plans("plans.zip", [sf.standard.sum_f32, mine], architectures=["sm_80", "sm_90"])
    sf.cache.import_plans("plans.zip")
"""

import dataclasses
import os
import typing

from . import _segfold

__all__ = ["Shipped", "ShippedKernel", "export_plans", "import_plans"]


@dataclasses.dataclass(frozen=True)
class ShippedKernel:
    """A compiled text in a file of :func:`export_plans`."""

    name: str  #: the stage's text, such as ``tile_scan.cu``
    architecture: str  #: ``sm_90``
    num_bytes: int  #: of the compiled image


@dataclasses.dataclass(frozen=True)
class Shipped:
    """What a file of :func:`export_plans` holds."""

    compiler: str  #: the version of NVRTC that compiled
    kernels: tuple[ShippedKernel, ...]


def export_plans(
    file: "str | os.PathLike[str]",
    operators: "typing.Iterable[_segfold.Operator]",
    *,
    architectures: typing.Iterable[str],
    layouts: typing.Iterable[str] = ("offsets",),
    num_elements: int | None = None,
    index_bits: int = 32,
    key_bytes: int = 4,
) -> Shipped:
    """Compiles the plans that calls of these operators may take, and writes them into one file. It needs NVRTC and no GPU.

    * ``architectures``: names such as ``"sm_90"``, for GPUs of compute capability 9.0; ``"compute_90"`` for the same as PTX. Texts are
      emitted for the shared memory of that capability, and a GPU of another one asks for other texts: name each GPU's own.
    * ``layouts``: how segments are given, as the program's ``--layout`` takes it: ``"offsets"``, ``"uniform=4"``, ``"keys"``.
    * ``num_elements``: plans for this many elements, 1 to 2^40; without it, for any number.
    * ``index_bits``, ``key_bytes``: width of indices (32 or 64), and of keys (1, 2, 4 or 8 bytes).

    An operator whose ``T`` is open takes ``op.typed("f32")``. Raises InputError for a number out of its range, for no operators, for
    an architecture that NVRTC does not know and for a file that cannot be written, DeviceError if there is no NVRTC.
    """
    return _shipped(
        _segfold.export_plans(
            os.fspath(file), list(operators), list(architectures), list(layouts), num_elements, index_bits, key_bytes
        )
    )


def import_plans(file: "str | os.PathLike[str]") -> Shipped:
    """Adds the plans in a file of :func:`export_plans` to this user's cache, so that calls compile nothing.

    They serve the same version of segfold on a machine without NVRTC, or with an NVRTC of the same version. Import files of those
    only whom you trust: what they compiled runs on your GPU. Raises InputError, and adds nothing, if anything in the file is
    damaged.
    """
    return _shipped(_segfold.import_plans(os.fspath(file)))


def _shipped(contents):
    compiler, kernels = contents
    return Shipped(compiler, tuple(ShippedKernel(*kernel) for kernel in kernels))
