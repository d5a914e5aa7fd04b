"""Sorts arrays on a GPU by key or by group, with functions of the arrays' own library."""

import importlib

from . import _segfold


def _library(array):
    """Returns the module with ``argsort`` and ``unique`` for an array; None for arrays of other libraries."""
    name = type(array).__module__.partition(".")[0]
    name = "jax.numpy" if name in ("jax", "jaxlib") else name
    return importlib.import_module(name) if name in ("torch", "cupy", "jax.numpy") else None


def _rising(library, keys):
    """Maps keys to integers with the same order. Floats are ordered by their bits, and equal bits give equal integers."""
    width = keys.dtype.itemsize
    bits = keys.view(getattr(library, f"int{8 * width}"))
    kind = str(keys.dtype).rpartition(".")[2]
    if "float" in kind:
        return bits ^ ((bits >> (8 * width - 1)) & ((1 << (8 * width - 1)) - 1))
    return bits ^ -(1 << (8 * width - 1)) if kind.startswith(("uint", "bool")) else bits


def _signed(array):
    """Returns unsigned torch integers as signed ones.

    Some versions of torch cannot index unsigned integers of more than 8 bits.
    """
    library = _library(array)
    is_unsigned = library is not None and library.__name__ == "torch" and str(array.dtype).startswith("torch.uint")
    return array.view(getattr(library, f"int{8 * array.dtype.itemsize}")) if is_unsigned else array


def _taken(array, places):
    taken = _signed(array)[places]
    return taken if taken.dtype == array.dtype else taken.view(array.dtype)


def by_first(arrays):
    """Sorts arrays stably by the first one. Returns the original indices of the sorted entries, then the sorted arrays."""
    keys = arrays[0]
    library = _library(keys)
    if library is None:
        raise _segfold.InputError(
            "sort_keys=True sorts arrays on a GPU by CuPy, torch or JAX, and these are of another library; sort them by key first, stably"
        )
    rising = _rising(library, keys)
    places = library.argsort(rising, stable=True) if library.__name__ == "torch" else library.argsort(rising)  # other libraries always sort stably
    return (places, *(_taken(array, places) for array in arrays))


def count_groups(groups, num_groups):
    """Returns ``num_groups`` or, if this is None, the largest group number plus one.

    Copies the largest group number to the host. Raises InputError if a group number is too large. The message names the first element with such a number.
    """
    library = _library(groups)
    if library is None:
        raise _segfold.InputError(
            "groups= sorts arrays on a GPU by CuPy, torch or JAX, and these are of another library; sort them by group first, stably"
        )
    kind = str(groups.dtype).rpartition(".")[2]
    if kind not in ("int8", "int16", "int32", "int64", "uint8"):
        raise _segfold.InputError(f"'groups' is {kind}, and numbers of groups on a GPU are int8, int16, int32, int64 or uint8; convert them")
    is_torch = library.__name__ == "torch"
    largest = int(groups.max()) if groups.shape[0] else -1
    count = largest + 1 if num_groups is None else num_groups
    if largest >= count:
        wrong = groups >= count
        first = int((wrong.to(library.int8) if is_torch else wrong).argmax())
        groups_text = "is 1 group" if count == 1 else f"are {count} groups"
        raise _segfold.InputError(
            f"the number of the group of element {first} is {int(groups[first])}, and there {groups_text}: "
            f"numbers are less than that, and a negative one means no group"
        )
    return count


def by_group(groups, count, arrays):
    """Sorts arrays stably by group.

    Returns the original indices of the sorted entries, the begins and ends of the groups, and the arrays.

    Entries with a negative group number are in no group, and come first.
    """
    library = _library(groups)
    is_torch = library.__name__ == "torch"
    places = library.argsort(groups, stable=True) if is_torch else library.argsort(groups)  # other libraries always sort stably
    where = {"device": groups.device} if is_torch else {}
    # The number of groups may be too large for the type of ``groups``. The largest group number is not.
    last = library.arange(count, dtype=groups.dtype, **where)
    behind = library.searchsorted(groups[places], last, side="right")
    first = (groups < 0).sum().reshape(1)
    starts = library.concatenate([first.astype(behind.dtype) if not is_torch else first.to(behind.dtype), behind])
    return (places, starts[:-1], starts[1:], *(_taken(array, places) for array in arrays))


def put_back(array, places):
    """Moves entry ``i`` of ``array`` to index ``places[i]`` and returns the result.

    Works in place, except for JAX arrays, which cannot be written.
    """
    if hasattr(array, "at"):
        return array.at[places].set(array)
    entries = _signed(array)
    entries[places] = entries.clone() if hasattr(entries, "clone") else entries.copy()
    return array


def runs_and_keys(keys):
    """Returns the number of keys and the number of distinct keys. For arrays of other libraries, counts all keys as distinct."""
    library = _library(keys)
    num_runs = int(keys.shape[0])
    if library is None or num_runs == 0:
        return num_runs, num_runs
    return num_runs, int(library.unique(_rising(library, keys)).shape[0])
