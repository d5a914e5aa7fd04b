"""Chooses which values of a traced part get names (``let``), so that the text resembles the function and repeats nothing."""

import collections

from ._expressions import Value

_MOST_LEVELS = 150  # deepest tree without names; the language allows 256 levels
_WORDS = set(
    "operator state lift combine append finish empty map scan laws let table commutative idempotent true false inf nan lowest highest "
    "epsilon index position segment length min max abs sqrt rsqrt exp exp2 expm1 log log2 log1p pow sin cos tanh floor "
    "ceil round fma popcount clz isnan isfinite copysign bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 T a b".split()
)


def lets_of(sets, found, taken):
    """Returns a list of ``(value, name)`` of the values that get names, in the order in which they were made.

    These are local variables (``found``), nested operations that are used more than once, and values at which a deep tree, such
    as a loop's, is cut. ``sets`` are the values that the part sets. ``taken`` are names that are already in use.
    """
    used, uses, open_values = {}, collections.Counter(), list(sets.values())
    while open_values:
        value = open_values.pop()
        uses[value._sf_number] += 1
        if value._sf_number not in used:
            used[value._sf_number] = value
            open_values.extend(value._sf_arguments)
    taken = _WORDS | taken
    lets = {}

    def bind(value, name):
        while name in taken:
            name += "_"
        taken.add(name)
        lets[value._sf_number] = name

    for name, value in found.items():
        if isinstance(value, Value) and value._sf_number in used and value._sf_arguments and value._sf_number not in lets:
            bind(value, name)
    always, depths, steps = _always_evaluated(sets), {}, 0  # depths: number of levels from each value down to the nearest named values
    harmless = set()  # values that may be computed even if the condition around them is false
    varying = set()  # values that depend on something other than constants
    for number in sorted(used):
        value, arguments = used[number], used[number]._sf_arguments
        depths[number] = 1 + max((0 if below._sf_number in lets else depths[below._sf_number] for below in arguments), default=0)
        if not _may_fail(value) and all(below._sf_number in harmless for below in arguments):
            harmless.add(number)
        if value._sf_kind in ("name", "field", "gather") or any(below._sf_number in varying for below in arguments):
            varying.add(number)
        is_cut = depths[number] > _MOST_LEVELS and number in always
        is_shared = depths[number] > 2 and uses[number] > 1 and number in varying and (number in always or number in harmless)
        if (is_cut or is_shared) and number not in lets:
            steps += 1
            bind(value, f"step{steps}")
    return [(used[number], lets[number]) for number in sorted(lets)]


def _always_evaluated(sets):
    """Returns the numbers of the values that are computed under all conditions."""
    always, open_values = set(), list(sets.values())
    while open_values:
        value = open_values.pop()
        if value._sf_number not in always:
            always.add(value._sf_number)
            is_choice = value._sf_kind == "conditional" or (value._sf_kind == "binary" and value._sf_facts[0] in ("&&", "||"))
            open_values.extend(value._sf_arguments[:1] if is_choice else value._sf_arguments)
    return always


def _may_fail(value):
    """Returns whether a value may be computed only if its condition holds.

    Table reads, integer divisions and shifts are such values.
    """
    symbol = value._sf_facts[0] if value._sf_kind == "binary" else None
    is_division = symbol in ("/", "%") and (value._sf_type is None or value._sf_type.is_integer)
    return value._sf_kind == "gather" or is_division or symbol in ("<<", ">>")
