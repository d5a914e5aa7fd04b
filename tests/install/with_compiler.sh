#!/usr/bin/env bash
# with_compiler.sh COMPILER COMMAND...: runs the command where the compiler is. With SEGFOLD_TEST_DRAW one of the two compilers
# takes its turn, another one by the text. 77: skipped.
if ! command -v "$1" >/dev/null; then
    echo "no $1 is here"
    exit 77
fi
if [[ -n $SEGFOLD_TEST_DRAW ]]; then
    compilers=(g++ clang++)
    drawn=${compilers[$(cksum <<<"$SEGFOLD_TEST_DRAW" | cut -d ' ' -f 1) % 2]}
    if [[ $1 != "$drawn" ]] && command -v "$drawn" >/dev/null; then
        echo "SEGFOLD_TEST_DRAW leaves it to other draws; without it every case is tried"
        exit 77
    fi
fi
shift
exec "$@"
