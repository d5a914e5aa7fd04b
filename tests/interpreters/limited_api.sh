#!/usr/bin/env bash
# limited_api.sh COMPILER NANOBIND PYTHON: whether the extension's sources keep to the limited API of Python 3.12, for which its
# wheels are made. COMPILER reads them with the headers in the folders NANOBIND and PYTHON; Python 3.11's hide what the limited API
# hides, and limited_api_3_12.h declares what it has gained since. 77: skipped.
cd "$(dirname "$0")/../.." || exit 1
compiler=$1 nanobind=$2 headers=$3
version=$(sed -nE 's/^#define PY_VERSION +"3\.([0-9]+).*/\1/p' "$headers/patchlevel.h")
if ((version < 11)); then
    echo "the headers of Python 3.$version do not know what later limited APIs have (Py_buffer); 3.11's do"
    exit 77
fi
errors=$(for source in runtime/python/bind/{,arrays/}*.cpp; do echo "#include \"$source\""; done |
    "$compiler" -std=c++20 -fsyntax-only -fdiagnostics-color=never -w -x c++ -DPy_LIMITED_API=0x030C0000 -DSEGFOLD_VERSION='"0"' -I. \
        -isystem "$nanobind" -isystem "$headers" -include tests/interpreters/limited_api_3_12.h - 2>&1) && exit 0
echo "$errors"
# What nanobind itself needs is no fault of the sources; its next release may need more.
grep -qE '^(\./)?runtime/.*: (fatal )?error: ' <<<"$errors" && exit 1
echo "nanobind's headers need more of the limited API than tests/interpreters/limited_api_3_12.h declares"
exit 77
