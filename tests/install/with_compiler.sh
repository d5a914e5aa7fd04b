#!/usr/bin/env bash
# with_compiler.sh COMPILER COMMAND...: runs the command where the compiler is. 77: skipped.
if ! command -v "$1" >/dev/null; then
    echo "no $1 is here"
    exit 77
fi
shift
exec "$@"
