"""Named tuples of results, which pickle, and warnings."""

import collections
import functools


class FoldWarning(UserWarning):
    """Something that should be known before results are relied on, such as a law that a search has refuted."""


@functools.lru_cache(maxsize=None)
def result_class(names):
    """The class of results with these names; there is one of each, kept for ever."""
    made = collections.namedtuple("Results", names, rename=True)
    made.__module__ = __name__
    made.__doc__ = "Results of a fold: " + ", ".join(names) + "; an array for each, with a value for each segment."
    made.__reduce__ = lambda self: (restore, (names, tuple(self)))
    return made


def restore(names, values):
    """What unpickling calls."""
    return result_class(names)(*values)
