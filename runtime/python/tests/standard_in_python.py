"""Standard operators as Python classes and functions, for one type: what tracing must make of them equals the text."""

import segfold as sf


def widening(T):
    """The type in which values of ``T`` are added up, and how they get there and back."""
    if T in (sf.f16, sf.bf16):
        return sf.f32, sf.f32, T
    return T, lambda x: x, lambda x: x


def all_of(T):
    """{name: operator} for the type ``T`` (``sf.f32``, ``sf.i32``, ...)."""
    below = -sf.inf if T.is_float else sf.lowest(T)
    above = sf.inf if T.is_float else sf.highest(T)

    def unless_nan(x, other):
        return sf.where(sf.isnan(x), other, x) if T.is_float else x

    @sf.operator
    class affine:
        scale: T
        shift: T

        class state:
            scale: T = 1
            shift: T = 0

        def lift(scale, shift):
            return dict(scale=scale, shift=shift)

        def combine(a, b):
            return dict(scale=a.scale * b.scale, shift=a.shift * b.scale + b.shift)

        results = {"scale": T, "shift": T}

    @sf.operator(commutative=True, idempotent=True)
    class all:
        x: T

        class state:
            holds: sf.bool_ = True

        def lift(x):
            return sf.bool_(x)

        def combine(a, b):
            return sf.logical_and(a, b)

    @sf.operator(commutative=True, idempotent=True)
    class any:
        x: T

        class state:
            found: sf.bool_ = False

        def lift(x):
            return sf.bool_(x)

        def combine(a, b):
            return sf.logical_or(a, b)

    def best(name, first, better):
        class made:
            x: T

            class state:
                value: T = first
                place: sf.i64 = sf.highest(sf.i64)

            def lift(x):
                return dict(
                    value=unless_nan(x, first),
                    place=sf.where(sf.isnan(x), sf.highest(sf.i64), sf.index()) if T.is_float else sf.index(),
                )

            def combine(a, b):
                later = sf.logical_or(
                    better(b.value, a.value), sf.logical_and(b.value == a.value, b.place < a.place)
                )
                return dict(value=sf.where(later, b.value, a.value), place=sf.where(later, b.place, a.place))

            def append(a, x):
                later = sf.logical_or(
                    better(x, a.value), sf.logical_and(x == a.value, a.place == sf.highest(sf.i64))
                )
                return dict(value=sf.where(later, x, a.value), place=sf.where(later, sf.index(), a.place))

            def finish(s):
                return dict(value=s.value, index=s.place)

            laws = "commutative, idempotent"

        made.__name__ = name
        return sf.operator(made)

    argmax = best("argmax", below, lambda later, earlier: later > earlier)
    argmin = best("argmin", above, lambda later, earlier: later < earlier)

    @sf.operator(commutative=True)
    class count:
        x: T

        class state:
            n: sf.i64 = 0

        lift = 1

        def combine(a, b):
            return a + b

    @sf.operator(commutative=True)
    class dot:
        x: T
        y: T

        class state:
            sum: T = 0

        def lift(x, y):
            return x * y

        def combine(a, b):
            return a + b

    @sf.operator(idempotent=True)
    class keep_first:
        x: T

        class state:
            first: T

        def lift(x):
            return x

        def combine(a, b):
            return a

    @sf.operator(commutative=True, idempotent=True)
    class max:
        x: T

        class state:
            greatest: T = below

        def lift(x):
            return unless_nan(x, below)

        def combine(a, b):
            return sf.maximum(a, b)

    @sf.operator(commutative=True, idempotent=True)
    class min:
        x: T

        class state:
            least: T = above

        def lift(x):
            return unless_nan(x, above)

        def combine(a, b):
            return sf.minimum(a, b)

    S = T if T.is_float else sf.i64

    mean_type, for_mean, _ = widening(T)
    if T in (sf.i64, sf.u64):
        mean_type = for_mean = sf.f64
    elif not T.is_float:
        mean_type = for_mean = sf.i64

    def summed(x):
        return x if T.is_float else sf.i64(x)

    @sf.operator
    class max_subarray:
        x: T

        class state:
            total: S = 0
            best: S = 0
            prefix: S = 0
            suffix: S = 0

        def lift(x):
            return {
                "total": summed(x),
                **{name: sf.maximum(summed(x), 0) for name in ("best", "prefix", "suffix")},
            }

        def combine(a, b):
            return dict(
                total=a.total + b.total,
                best=sf.maximum(sf.maximum(a.best, b.best), a.suffix + b.prefix),
                prefix=sf.maximum(a.prefix, a.total + b.prefix),
                suffix=sf.maximum(b.suffix, a.suffix + b.total),
            )

        def finish(s):
            return s.best

    @sf.operator(commutative=True)
    class mean:
        x: T

        class state:
            sum: mean_type = 0
            n: sf.i64 = 0

        def lift(x):
            return dict(sum=for_mean(x), n=1)

        def combine(a, b):
            return dict(sum=a.sum + b.sum, n=a.n + b.n)

        def finish(s):
            return sf.f64(s.sum) / sf.f64(s.n)

        empty = sf.nan

    @sf.operator(commutative=True)
    class product:
        x: T

        class state:
            product: T = 1

        def lift(x):
            return x

        def combine(a, b):
            return a * b

    @sf.operator(commutative=True)
    class sum:
        x: T

        class state:
            sum: T = 0

        def lift(x):
            return x

        def combine(a, b):
            return a + b

    made = [affine, all, any, argmax, argmin, count, dot, keep_first, max, min, max_subarray, mean, product, sum]
    made.append(of_floats(T) + write_back_of(T) if T.is_float else trace_of(T))
    found = {}
    for op in made:
        for one in op if isinstance(op, list) else [op]:
            found[one.name] = one
    return found


def of_floats(T):
    Acc, acc, back = widening(T)

    @sf.operator(commutative=True)
    class log_sum_exp:
        x: T

        class state:
            greatest: Acc = -sf.inf
            sum: Acc = 0

        def lift(x):
            return dict(greatest=sf.where(sf.isnan(x), -sf.inf, acc(x)), sum=sf.where(sf.isnan(x), sf.nan, 1))

        def combine(a, b):
            top = sf.maximum(a.greatest, b.greatest)
            left = sf.where(a.greatest == top, a.sum, a.sum * sf.exp(a.greatest - top))
            right = sf.where(b.greatest == top, b.sum, b.sum * sf.exp(b.greatest - top))
            return dict(greatest=top, sum=left + right)

        def finish(s):
            return back(s.greatest + sf.log(s.sum))

    @sf.operator
    class welford_mean_variance:
        """Mean and population variance by Welford's recurrence, merged pairwise."""

        x: T

        class state:
            n: sf.i64 = 0
            mean: Acc = 0
            m2: Acc = 0

        def lift(x):
            return dict(n=1, mean=acc(x), m2=0)

        def combine(a, b):
            total = a.n + b.n
            delta = b.mean - a.mean
            share = Acc(b.n) / Acc(total)
            return dict(
                n=total,
                mean=sf.where(a.n == 0, b.mean, sf.where(b.n == 0, a.mean, a.mean + delta * share)),
                m2=sf.where(a.n == 0, b.m2, sf.where(b.n == 0, a.m2, a.m2 + b.m2 + delta * delta * Acc(a.n) * share)),
            )

        def append(a, x):
            total = a.n + 1
            delta = acc(x) - a.mean
            step = delta * (1 / Acc(total))
            return dict(n=total, mean=a.mean + step, m2=sf.where(a.n == 0, 0.0, a.m2 + delta * (delta - step)))

        def finish(s):
            return dict(
                mean=back(sf.where(sf.isfinite(s.mean), s.mean, sf.nan)),
                variance=back(sf.where(sf.isfinite(s.mean), s.m2 / Acc(s.n), sf.nan)),
            )

        def empty():
            return dict(mean=sf.nan, variance=sf.nan)

        laws = "commutative"

    return [log_sum_exp, welford_mean_variance]


def write_back_of(T):
    Acc, acc, back = widening(T)

    @sf.operator(commutative=True)
    class centre:
        x: T

        class state:
            sum: Acc = 0

        def lift(x):
            return acc(x)

        def combine(a, b):
            return a + b

        def map(x, sum):
            return back(acc(x) - sum / Acc(sf.length()))

    @sf.operator
    class softmax:
        x: T

        class state:
            greatest: Acc = -sf.inf
            sum: Acc = 0

        def lift(x):
            return dict(greatest=sf.where(sf.isnan(x), -sf.inf, acc(x)), sum=sf.where(sf.isnan(x), sf.nan, 1))

        def combine(a, b):
            ahead = b.greatest - a.greatest
            scale = sf.exp(sf.minimum(sf.where(ahead > 0, -ahead, ahead), 0))
            return dict(
                greatest=sf.maximum(a.greatest, b.greatest),
                sum=sf.where(ahead > 0, a.sum * scale + b.sum, a.sum + b.sum * scale),
            )

        def append(a, x):
            ahead = acc(x) - a.greatest
            scale = sf.exp(-abs(ahead))
            return dict(
                greatest=sf.maximum(a.greatest, acc(x)),
                sum=sf.where(ahead > 0, a.sum * scale + 1, a.sum + sf.where(acc(x) == a.greatest, 1, scale)),
            )

        def map(x, greatest, sum):
            share = 1 / sum
            return back(sf.exp(acc(x) - greatest) * share)

        laws = "commutative"
        results = sf.each(T)

    def in_range(variance):
        return sf.logical_and(variance >= 4 / sf.highest(Acc), variance <= sf.highest(Acc))

    @sf.operator
    class standardise:
        x: T

        class state:
            n: sf.i64 = 0
            mean: Acc = 0
            low: Acc = 0
            m2: Acc = 0
            sum: Acc = 0

        def lift(x):
            return dict(n=1, mean=acc(x), low=0, m2=0, sum=acc(x) * 5.421010862427522e-20)

        def combine(a, b):
            total = a.n + b.n
            delta = (b.mean - a.mean) + (b.low - a.low)
            step = delta * (Acc(b.n) * (1 / Acc(total)))
            next = a.mean + step
            return dict(
                n=total,
                mean=sf.where(a.n == 0, b.mean, sf.where(b.n == 0, a.mean, next)),
                low=sf.where(a.n == 0, b.low, sf.where(b.n == 0, a.low, a.low + (step - (next - a.mean)))),
                m2=sf.where(a.n == 0, b.m2, sf.where(b.n == 0, a.m2, a.m2 + b.m2 + delta * (step * Acc(a.n)))),
                sum=a.sum + b.sum,
            )

        def append(a, x):
            total = a.n + 1
            delta = (acc(x) - a.mean) - a.low
            step = delta * (1 / Acc(total))
            next = a.mean + step
            return dict(
                n=total,
                mean=next,
                low=a.low + (step - (next - a.mean)),
                m2=a.m2 + delta * (delta - step),
                sum=a.sum + acc(x) * 5.421010862427522e-20,
            )

        def finish(s):
            variance = s.m2 / Acc(s.n)
            return dict(
                mean=sf.where(
                    sf.logical_and(sf.isfinite(s.mean), sf.isfinite(s.low)),
                    s.mean + s.low,
                    s.sum / Acc(s.n) * 1.8446744073709552e19,
                ),
                scale=sf.where(
                    sf.logical_and(s.m2 == 0, sf.isfinite(s.mean)),
                    0,
                    sf.where(in_range(variance), 1 / sf.sqrt(variance), sf.nan),
                ),
            )

        empty = dict(mean=sf.nan, scale=sf.nan)

        def map(x, mean, scale):
            return sf.where(sf.logical_and(scale == 0, acc(x) != mean), sf.nan, back((acc(x) - mean) * scale))

        laws = "commutative"
        results = dict(mean=Acc, scale=Acc, result=sf.each(T))

    return [centre, softmax, standardise]


def trace_of(T):
    @sf.operator
    class trace:
        x: T

        class state:
            hash: sf.u64 = 0
            power: sf.u64 = 1

        def lift(x):
            return dict(hash=(sf.u64(x) ^ 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9, power=0xD1342543DE82EF95)

        def combine(a, b):
            return dict(hash=a.hash * b.power + b.hash, power=a.power * b.power)

        results = {"hash": sf.u64, "power": sf.u64}

    return [trace]
