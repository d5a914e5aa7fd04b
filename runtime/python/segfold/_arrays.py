"""Arrays in traced functions. An array stands for several fields of a state, or for several results."""

import operator

from ._expressions import Value, make, refuse_operations
from ._kinds import array
from ._refusal import refuse


class Entries:
    """An array in a traced function, such as ``a.late`` in ``a.late[h]``. It has a length, and can be iterated like a list."""

    __slots__ = ("_sf_name", "_sf_values")

    _sf_described = "an array"

    def __init__(self, name, values):
        self._sf_name = name
        self._sf_values = list(values)

    def _sf_told(self):
        return f"array '{self._sf_name}' of {len(self._sf_values)}"

    def _sf_advice(self, symbol):
        if symbol[0].isalpha() or symbol == "~":
            return f"read an entry of it, as in a.{self._sf_name}[0]"
        return f"write it of entries, as in [p {symbol} q for p, q in zip(a.{self._sf_name}, b.{self._sf_name})]"

    def __getitem__(self, at):
        if isinstance(at, slice):
            return self._sf_values[at]
        if isinstance(at, Value):
            return self._chosen(at)
        try:
            at = operator.index(at)
        except TypeError:
            refuse(f"the index of '{self._sf_name}' is {at!r}", "an index is an integer")
        length = len(self._sf_values)
        if not -length <= at < length:
            refuse(f"'{self._sf_name}' has no entry {at}", f"they run from 0 to {length - 1}" if length > 1 else "its only one is 0")
        return self._sf_values[at]

    def _chosen(self, at):
        """Returns the entry at a computed index. If the index is out of range, returns the last entry, as the text form does."""
        if at._sf_type is None or not at._sf_type.is_integer:
            refuse(f"the index of '{self._sf_name}' is {at._sf_described()}", "an index is an integer: sf.i32(i)")
        *others, chosen = self._sf_values
        for k, value in reversed(list(enumerate(others))):
            chosen = make("conditional", (), (at == k, value, chosen), value._sf_type)
        return chosen

    def __iter__(self):
        return iter(self._sf_values)

    def __bool__(self):
        refuse("an array is neither true nor false, so that 'if' cannot ask it", self._sf_advice("if"))

    def __hash__(self):
        refuse("an array is no value yet, so that no dict or set can look it up", self._sf_advice("hash"))


refuse_operations(Entries)
Entries.__len__ = lambda self: len(self._sf_values)


def flat(members):
    """Returns a list of ``(name, type)`` of all fields. An array in ``members`` contributes one field per entry."""
    return [pair for name, kind in members
            for pair in ([(entry, kind.type) for entry in kind.entries(name)] if isinstance(kind, array) else [(name, kind)])]  # fmt: skip


def values_of(members, value):
    """Returns a dictionary from each member's name to ``value(name, type)``.

    The name of an array is mapped to an Entries object.
    """
    return {name: Entries(name, [value(entry, kind.type) for entry in kind.entries(name)]) if isinstance(kind, array) else value(name, kind)
            for name, kind in members}  # fmt: skip


def is_list(value):
    return isinstance(value, (list, tuple, Entries)) and not hasattr(value, "_asdict")


def spread(what, sets, members, at):
    """Returns a dictionary from names to the values that a part sets.

    Splits arrays into entries; without ``members``, also splits lists.
    """
    arrays = {name: kind for name, kind in members if isinstance(kind, array)}
    spread = {}
    for name, value in sets.items():
        if name in arrays and not is_list(value):
            refuse(f"{what} sets '{name}' to one value", f"it is an array: give a list of {arrays[name].length}", at)
        if name not in arrays and (members or not is_list(value)):
            spread[name] = value
            continue
        entries = list(value)
        if name in arrays and len(entries) != arrays[name].length:
            refuse(f"{what} sets '{name}' to {len(entries)} {'value' if len(entries) == 1 else 'values'}", f"it is an array of {arrays[name].length}", at)
        spread.update((f"{name}_{k}", entry) for k, entry in enumerate(entries))
    return spread
