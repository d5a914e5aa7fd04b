"""Compiled plans in a file. They are compiled on a machine with NVRTC and used on GPUs of machines without it.

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
    """A compiled source text in a file of :func:`export_plans`."""

    name: str  #: name of the stage's text, such as ``tile_scan.cu``
    architecture: str  #: such as ``sm_90``
    num_bytes: int  #: size of the compiled image


@dataclasses.dataclass(frozen=True)
class Shipped:
    """The contents of a file of :func:`export_plans`."""

    compiler: str  #: version of NVRTC that compiled the plans
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
    """Compiles the plans that calls of these operators may take, and writes them to a file. Needs NVRTC, but no GPU.

    * ``architectures``: names such as ``"sm_90"`` for GPUs of compute capability 9.0, or ``"compute_90"`` for the same as PTX.
      Source texts depend on the shared memory of a capability, so name the architecture of each GPU.
    * ``layouts``: forms of segments, as for the program's ``--layout``: ``"offsets"``, ``"uniform=4"``, ``"keys"``.
    * ``num_elements``: number of elements, 1 to 2^40. If None, plans are for any number.
    * ``index_bits``, ``key_bytes``: width of indices (32 or 64 bits) and of keys (1, 2, 4 or 8 bytes).

    If an operator's ``T`` is open, give ``op.typed("f32")``. Raises InputError for a number out of range, an empty list of
    operators, an architecture that NVRTC does not know, and a file that cannot be written. Raises DeviceError if there is no
    NVRTC.
    """
    return _shipped(
        _segfold.export_plans(
            os.fspath(file), list(operators), list(architectures), list(layouts), num_elements, index_bits, key_bytes
        )
    )


def import_plans(file: "str | os.PathLike[str]") -> Shipped:
    """Adds the plans in a file of :func:`export_plans` to this user's cache, so that calls need no compiler.

    The plans work with the same version of segfold, on a machine without NVRTC or with NVRTC of the same version. Import only
    files of people whom you trust, because the compiled code runs on your GPU. Raises InputError, and adds nothing, if any part
    of the file is damaged.
    """
    return _shipped(_segfold.import_plans(os.fspath(file)))


def _shipped(contents):
    compiler, kernels = contents
    return Shipped(compiler, tuple(ShippedKernel(*kernel) for kernel in kernels))
