"""Makes associative operators by lot, so that the order of stages grows from more operators than the standard ones.

A made operator is a product of one to three parts: sums, extremes, counts, first and last elements, maps, hashes, statistics,
with exponentials, divisions and remainders. Each part is associative, and so is their product. Parts share the columns.
"""

TYPES = ["f32"] * 8 + ["f64"] * 3 + ["i32"] * 4 + ["i64"] * 2 + ["i8", "i8", "u8", "i16", "i16", "f16", "f16", "bf16", "u32", "u64"]


def is_float(kind):
    return kind in ("f16", "bf16", "f32", "f64")


def wide(kind):
    return {"i8": "i32", "i16": "i32", "u8": "u32", "f16": "f32", "bf16": "f32"}.get(kind, kind)


def least(kind):
    return "-inf" if is_float(kind) else f"lowest({kind})"


def greatest(kind):
    return "inf" if is_float(kind) else f"highest({kind})"


class Part:
    """A part of an operator: state fields as (name, type, identity), the texts of lift and combine of each, and combine's lets."""

    def __init__(self, fields, lift, combine, lets="", commutes=True):
        self.fields, self.lift, self.combine, self.lets, self.commutes = fields, lift, combine, lets, commutes


def real(kind):
    return wide(kind) if is_float(kind) else "f32" if kind != "f64" else kind


def a_sum(lot, n, x, kind):
    acc = wide(kind)
    value = f"{acc}({x})"
    lifted = lot.choice([value, value, f"{value} * {value}", f"abs({value})" if acc[0] != "u" else value])
    return Part([(f"sum{n}", acc, "0")], [lifted], [f"a.sum{n} + b.sum{n}"])


def a_wide_sum(lot, n, x, kind):
    acc = "f64" if is_float(kind) else "i64"
    return Part([(f"sum{n}", acc, "0")], [f"{acc}({x})"], [f"a.sum{n} + b.sum{n}"])


def an_extreme(lot, n, x, kind):
    call, identity = lot.choice([("max", least(kind)), ("min", greatest(kind))])
    return Part([(f"most{n}", kind, identity)], [x], [f"{call}(a.most{n}, b.most{n})"])


def a_range(lot, n, x, kind):
    return Part([(f"low{n}", kind, greatest(kind)), (f"high{n}", kind, least(kind))], [x, x],
                [f"min(a.low{n}, b.low{n})", f"max(a.high{n}, b.high{n})"])


def a_count(lot, n, x, kind):
    acc = lot.choice(["i32", "i64", "u32"])
    return Part([(f"count{n}", acc, "0")], [f"{x} > 1 ? 1 : 0"], [f"a.count{n} + b.count{n}"])


def bits(lot, n, x, kind):
    acc = lot.choice(["u32", "u64"])
    sign = lot.choice("|^")
    value = f"u32(1) << u32({x} > 1 ? 3 : 7)" if is_float(kind) else f"{acc}({x})"
    return Part([(f"bits{n}", acc, "0")], [f"{acc}({value})"], [f"a.bits{n} {sign} b.bits{n}"])


def a_first(lot, n, x, kind):
    return Part([(f"seen{n}", "bool", "false"), (f"first{n}", kind, "0")], ["true", x],
                [f"a.seen{n} || b.seen{n}", f"a.seen{n} ? a.first{n} : b.first{n}"], commutes=False)


def a_last(lot, n, x, kind):
    return Part([(f"has{n}", "bool", "false"), (f"last{n}", kind, "0")], ["true", x],
                [f"a.has{n} || b.has{n}", f"b.has{n} ? b.last{n} : a.last{n}"], commutes=False)


def an_argument(lot, n, x, kind):
    place = lot.choice(["i64", "i32"])
    return Part([(f"best{n}", kind, least(kind)), (f"at{n}", place, f"highest({place})")], [x, f"{place}(index)"],
                [f"later{n} ? b.best{n} : a.best{n}", f"later{n} ? b.at{n} : a.at{n}"],
                f"let later{n} = b.best{n} > a.best{n} || b.best{n} == a.best{n} && b.at{n} < a.at{n};")


def a_map(lot, n, x, kind):
    acc = wide(kind) if is_float(kind) else lot.choice(["u32", "u64"])
    return Part([(f"scale{n}", acc, "1"), (f"shift{n}", acc, "0")], [f"{acc}({x})", f"{acc}({x}) + 1"],
                [f"a.scale{n} * b.scale{n}", f"a.shift{n} * b.scale{n} + b.shift{n}"], commutes=False)


def a_path(lot, n, x, kind):
    acc = real(kind)
    return Part([(f"way{n}", acc, "0"), (f"start{n}", acc, "-inf")], [f"{acc}({x})", f"{acc}({x}) - 1"],
                [f"a.way{n} + b.way{n}", f"max(a.start{n} + b.way{n}, b.start{n})"], commutes=False)


def a_part_sum(lot, n, x, kind):
    acc = wide(kind)
    x = f"{acc}({x})"
    low = "0"
    return Part([(f"total{n}", acc, "0"), (f"most{n}", acc, low), (f"ahead{n}", acc, low), (f"behind{n}", acc, low)],
                [x, f"max({x}, 0)", f"max({x}, 0)", f"max({x}, 0)"],
                [f"a.total{n} + b.total{n}", f"max(max(a.most{n}, b.most{n}), a.behind{n} + b.ahead{n})",
                 f"max(a.ahead{n}, a.total{n} + b.ahead{n})", f"max(b.behind{n}, a.behind{n} + b.total{n})"], commutes=False)


def exponentials(lot, n, x, kind):
    acc = real(kind)
    return Part([(f"top{n}", acc, "-inf"), (f"mass{n}", acc, "0")], [f"{acc}({x})", "1"],
                [f"max(a.top{n}, b.top{n})", f"ahead{n} > 0 ? a.mass{n} * scale{n} + b.mass{n} : a.mass{n} + b.mass{n} * scale{n}"],
                f"let ahead{n} = b.top{n} - a.top{n}; let scale{n} = exp(min(ahead{n} > 0 ? -ahead{n} : ahead{n}, 0));")


def a_logarithm(lot, n, x, kind):
    acc = real(kind)
    return Part([(f"share{n}", acc, "-inf")], [f"{acc}({x})"],
                [f"a.share{n} == b.share{n} ? a.share{n} + 0.6931471805599453 : max(a.share{n}, b.share{n}) + log1p(exp(-abs(a.share{n} - b.share{n})))"])


def a_variance(lot, n, x, kind):
    acc = real(kind)
    return Part([(f"n{n}", acc, "0"), (f"mean{n}", acc, "0"), (f"m2{n}", acc, "0")], ["1", f"{acc}({x})", "0"],
                [f"all{n}", f"a.mean{n} + delta{n} * part{n}", f"a.m2{n} + b.m2{n} + delta{n} * delta{n} * a.n{n} * part{n}"],
                f"let all{n} = a.n{n} + b.n{n}; let delta{n} = b.mean{n} - a.mean{n}; let part{n} = all{n} == 0 ? 0 : b.n{n} / all{n};")


def a_hash(lot, n, x, kind):
    acc = lot.choice(["u32", "u64"])
    value = f"{x} > 1 ? 3 : 5" if is_float(kind) else f"{acc}({x})"
    return Part([(f"power{n}", acc, "1"), (f"hash{n}", acc, "0")], [f"{acc}(31)", f"{acc}({value})"],
                [f"a.power{n} * b.power{n}", f"a.hash{n} * b.power{n} + b.hash{n}"], commutes=False)


def a_remainder(lot, n, x, kind):
    acc = lot.choice(["u32", "u64"])
    value = f"{x} > 1 ? 3 : 5" if is_float(kind) else f"{acc}({x}) % 60013 "
    return Part([(f"rest{n}", acc, "1")], [f"{acc}({value})"], [f"a.rest{n} * b.rest{n} % 60013"])


def a_turn(lot, n, x, kind):
    acc = real(kind)
    return Part([(f"re{n}", acc, "1"), (f"im{n}", acc, "0")], [f"{acc}(0.5)", f"{acc}({x}) * 0.25"],
                [f"a.re{n} * b.re{n} - a.im{n} * b.im{n}", f"a.re{n} * b.im{n} + a.im{n} * b.re{n}"])


def changes(lot, n, x, kind):
    return Part([(f"any{n}", "i32", "0"), (f"begin{n}", kind, "0"), (f"end{n}", kind, "0"), (f"changes{n}", "i32", "0")], ["1", x, x, "0"],
                [f"a.any{n} | b.any{n}", f"a.any{n} != 0 ? a.begin{n} : b.begin{n}", f"b.any{n} != 0 ? b.end{n} : a.end{n}",
                 f"a.changes{n} + b.changes{n} + (a.any{n} != 0 && b.any{n} != 0 && a.end{n} != b.begin{n} ? 1 : 0)"], commutes=False)


def a_streak(lot, n, x, kind):
    acc = lot.choice(["i32", "i64"])
    late = f"{acc}({x} > 1 ? 1 : 0)"
    return Part([(f"all{n}", acc, "0"), (f"leading{n}", acc, "0"), (f"trailing{n}", acc, "0"), (f"longest{n}", acc, "0")],
                ["1", late, late, late],
                [f"a.all{n} + b.all{n}", f"a.leading{n} == a.all{n} ? a.leading{n} + b.leading{n} : a.leading{n}",
                 f"b.trailing{n} == b.all{n} ? a.trailing{n} + b.trailing{n} : b.trailing{n}",
                 f"max(max(a.longest{n}, b.longest{n}), a.trailing{n} + b.leading{n})"], commutes=False)


def two_best(lot, n, x, kind):
    return Part([(f"one{n}", kind, least(kind)), (f"two{n}", kind, least(kind))], [x, least(kind)],
                [f"max(a.one{n}, b.one{n})", f"max(min(a.one{n}, b.one{n}), max(a.two{n}, b.two{n}))"])


def a_matrix(lot, n, x, kind):
    acc = wide(kind) if is_float(kind) else "u32"
    names = [f"m{n}_{i}{j}" for i in (0, 1) for j in (0, 1)]
    product = [f"a.m{n}_{i}0 * b.m{n}_0{j} + a.m{n}_{i}1 * b.m{n}_1{j}" for i in (0, 1) for j in (0, 1)]
    return Part([(name, acc, one) for name, one in zip(names, "1001")], [f"{acc}({x})", f"{acc}(1)", f"{acc}(0)", f"{acc}({x})"], product,
                commutes=False)


PARTS = [a_sum] * 5 + [an_extreme] * 3 + [a_wide_sum, a_range, a_count, bits, a_first, a_last, an_argument, an_argument, a_map, a_map, a_path,
                                          a_part_sum, exponentials, exponentials, a_logarithm, a_variance, a_variance, a_hash, a_remainder,
                                          a_turn, changes, a_streak, two_best, a_matrix]

# Parts that also work over rows of features: their results are rows of the column's type.
ROW_PARTS = [a_sum] * 5 + [an_extreme] * 3 + [a_wide_sum, a_range, a_count, a_map, a_path, a_part_sum, exponentials, two_best]


def operator_text(lot, name, rows=False, maps=False):
    """Returns the text of an operator by lot. `rows`: it is over rows of features. `maps`: it writes back."""
    kinds = [lot.choice(TYPES) for _ in range(lot.choice([1, 1, 1, 1, 2, 2, 3]))]
    gathers = lot.random() < (0.3 if rows else 0.12)
    columns, values = [], []
    row = "row " if rows else ""
    for i, kind in enumerate(kinds):
        if gathers and i == 0:
            columns += ["at: i32", f"table0: table {row}{kind}"]
            values.append("table0[at]")
        else:
            columns.append(f"x{i}: {row}{kind}")
            values.append(f"x{i}")
    count = 1 if rows and lot.random() < 0.7 else lot.choice([1, 1, 1, 1, 1, 2, 2, 2, 3, 3])
    chosen = [lot.choice(ROW_PARTS if rows else PARTS) for _ in range(count)]
    used = [i % len(kinds) for i in range(max(count, len(kinds)))]
    chosen += [lot.choice([a_sum, an_extreme]) for _ in range(len(used) - count)]  # so that each column is read
    parts = [maker(lot, n, values[i], kinds[i]) for n, (maker, i) in enumerate(zip(chosen, used))]
    fields = [field for part in parts for field in part.fields]
    names = [field[0] for field in fields]
    shown = [field for field in fields if lot.random() < 0.7] or fields[:1]
    results = f"each {kinds[0]}" if maps else "(" + ", ".join(f"{field}_out: {kind}" for field, kind, _ in shown) + ")"
    lines = [f"operator {name}({', '.join(columns)}) -> {results} {{"]
    lines.append("  state { " + "; ".join(f"{field}: {kind} = {identity}" for field, kind, identity in fields) + " }")
    lifted = [text for part in parts for text in part.lift]
    lines.append("  lift { " + "; ".join(f"{field} = {text}" for field, text in zip(names, lifted)) + " }")
    joined = [text for part in parts for text in part.combine]
    lines.append("  combine(a, b) { " + " ".join(part.lets for part in parts) + " " +
                 "; ".join(f"{field} = {text}" for field, text in zip(names, joined)) + " }")
    if maps:
        lines.append(f"  map {kinds[0]}({wide(kinds[0])}({values[0]}) - {wide(kinds[0])}({lot.choice([field for field, kind, _ in fields if kind != 'bool'])}))")
    else:
        lines.append("  finish { " + "; ".join(f"{field}_out = {field}" for field, _, _ in shown) + " }")
    if all(part.commutes for part in parts):
        lines.append("  laws commutative")
    return "\n".join(lines) + "\n}\n"

