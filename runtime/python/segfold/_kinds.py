"""What parameters and results may be beside plain columns and values of a segment: annotations of operators."""


class table:
    """The annotation of a side table: ``weights: sf.table(sf.f32)`` is read at any place, as ``weights[i]``.

    ``sf.table(sf.row(sf.f32))`` is a table of rows of features.
    """

    def __init__(self, type):
        self.type = type.type if isinstance(type, row) else type
        self.is_row = isinstance(type, row)


class row:
    """The annotation of a column of rows: ``x: sf.row(sf.f32)`` is an array ``[n, K]``; the operator folds each of K features alone."""

    def __init__(self, type):
        self.type = type


class each:
    """In ``results``, a value for every element: ``results = dict(mean=sf.f32, centred=sf.each(sf.f32))``; ``map`` gives it."""

    def __init__(self, type):
        self.type = type


class scalar:
    """The annotation of a scalar: ``threshold: sf.scalar(sf.f32)`` is one number for all elements, given with each call."""

    def __init__(self, type):
        self.type = type
