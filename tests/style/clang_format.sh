#!/usr/bin/env bash
# Whether clang-format would change a C++ file. Releases of clang-format differ, so that only 14 counts; 77: skipped.
cd "$(dirname "$0")/../.." || exit 1
for tool in clang-format-14 clang-format; do
    if [[ $("$tool" --version 2>/dev/null) == *"version 14."* ]]; then
        find codegen dsl runtime tests -path tests/golden -prune -o \( -name '*.cpp' -o -name '*.h' \) -print0 |
            xargs -0 -n 40 -P 2 "$tool" --dry-run -Werror
        exit
    fi
done
echo "no clang-format 14 is here"
exit 77
