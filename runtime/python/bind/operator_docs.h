#pragma once
// Docstrings for the calls of an operator.

// The keyword arguments of a call, as a string literal from which signatures are built.
#define SEGFOLD_WORDS_OF_A_CALL                                                                            \
    "offsets: typing.Any = None, lengths: typing.Any = None, keys: typing.Any = None, "                    \
    "flags: typing.Any = None, ranges: typing.Any = None, uniform: int | None = None, "                    \
    "by: typing.Any = None, sort: bool = True, groups: typing.Any = None, num_groups: int | None = None, " \
    "out: typing.Any = None, stage: str | None = None, settings: dict[str, int] | None = None, "           \
    "reproducible: bool = False, backend: str = 'auto', device: int | None = None, "                       \
    "kernels: typing.Any = None, assume: typing.Any = (), check: bool = False, validate: bool = False, "   \
    "trust_tables: bool = False, assume_finite: bool = False, longest: int = 0, sort_keys: bool = False, " \
    "first: str | None = None, **named: typing.Any) -> typing.Any"

namespace segfold::python {

inline constexpr const char* kCallDoc =
    R"(Folds each segment of the columns.

Columns, tables and scalars are given by position, by name, or in one dictionary; a column is a contiguous array of one
dimension and of the type that the operator declares, a scalar a number. A column or a table of rows (``x: row f32``) is
an array ``[n, K]`` in C order, and all rows of a call are of K features. Segments are given by one of

* ``offsets=``: S + 1 non-decreasing integers, the first 0, the last the number of elements;
* ``lengths=``: S integers that add up to the number of elements;
* ``uniform=``: the length of every segment;
* ``ranges=``: a pair of S begins and S ends, which may leave gaps and overlap;
* ``keys=``: a key for each element; runs of equal neighbours are the segments, and with ``sort_keys=True`` all elements
  of a key. A tuple of arrays, or an array with a row for each element, are keys of several columns;
* ``by=``: keys in any order, as ``keys=`` with ``sort_keys=True``; results come in ascending order of the keys, or with
  ``sort=False`` as keys first stand;
* ``groups=``: the number of its group for each element, in any order, below ``num_groups=``; negative for no group;
* ``flags=``: a flag for each element, not 0 where a segment begins;

or by none of them: one segment of all elements.

Returns an array of S results, of the same kind and on the same device as the first column; where the operator has
several results, or segments are given by keys, a named tuple of arrays. Results over rows are ``[S, K]``. Results for
every element (``each``) are as long as the input, ``[n]`` or ``[n, K]``. ``out=`` takes arrays to write instead, in the order of
the results, as one array, a sequence or a dictionary. A name that a named tuple cannot have ends with an underscore
instead: ``class_``, ``x_`` for ``_x``, and ``keys_`` beside the keys. An array ``bins`` among the results is an array
each for ``bins_0``, ``bins_1``, ..., and ``bins`` the tuple of them. Nothing but keys and groups in any order copies arrays; on a GPU the fold is queued
on the current stream of the arrays' library.

Further words: ``stage``, ``settings``, ``reproducible`` choose a plan; ``first='fast'`` counts the time to compile, ``first='best'`` does not; ``backend``, ``device``, ``kernels``, ``assume`` a
back end; ``check=True`` compares every segment with the reference and with Thrust, and warns of those that it cannot judge, as
values on the way overflow, or as roundings alone may change a value by more than a quarter; for arrays on a GPU, ``validate=True`` checks segments first, ``trust_tables=True`` leaves out the check of table reads, ``assume_finite=True`` says that columns
hold neither infinities nor NaN, and ``longest`` is the length of the longest segment.

Raises InputError (a ValueError) for arrays or segments that are wrong, SpecError where a law is refuted that the fold relies
on, DeviceError where the device or a compiler fails, TypeError for words that nobody knows.)";

inline constexpr const char* kScanDoc =
    R"(Running results: for each element, the results of the elements of its segment up to it.

Takes what a call takes, and returns arrays as long as the columns: of ``sum`` the running sum, of ``mean`` the running mean.
With ``exclusive=True`` an element gets the results of the elements before it; the first one of a segment gets those of an
empty segment. With ``reverse=True`` segments are scanned from their end. An operator that has a part ``scan`` says itself what
each element gets; ``reverse`` turns its direction round. None counts as False. A column that is called ``exclusive`` or
``reverse`` is given by position or in a dictionary.

Rows are scanned by ``backend="reference"`` alone; a state of more than 64 bytes, and a ``combine`` that is refuted to be
associative, by the back ends cpu and reference, not on a GPU.

Raises InputError for an operator with a ``map``, for overlapping ranges, and where ``exclusive`` is asked of an operator that
has a part ``scan`` or gives empty segments no result.)";

}  // namespace segfold::python
