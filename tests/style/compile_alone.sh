#!/usr/bin/env bash
# Whether sources of the libraries include what they use: builds that compile several at a time hide it where they do not.
# Without arguments all of them, two at a time, in minutes; --sample N takes N, other ones for each commit; or files. 77: skipped.
cd "$(dirname "$0")/../.." || exit 1
read -ra compiler <<<"${CXX:-c++}"
command -v "${compiler[0]}" >/dev/null || { echo "no ${compiler[0]} is here"; exit 77; }
mapfile -t sources < <(find dsl codegen runtime -name '*.cpp' ! -path 'runtime/python/*' ! -path 'runtime/examples/*' \
    ! -path '*/shim/*' ! -path 'runtime/backends/thrust/*' ! -name solver_child.cpp | LC_ALL=C sort)
if [[ $1 == --sample ]]; then
    commit=$(git rev-parse HEAD 2>/dev/null || date +%F)
    mapfile -t sources < <(printf '%s\n' "${sources[@]}" | shuf -n "$2" --random-source=<(yes "$commit"))
elif (($#)); then
    sources=("$@")
fi
# What the build defines for single files counts for nothing here, but has to be there.
defines=(-DSEGFOLD_VERSION='"0"' -DSEGFOLD_SIMT_SUPPORT='"/dev/null"' -DSEGFOLD_SOLVER_PROGRAM='"/dev/null"')
printf '%s\0' "${sources[@]}" |
    xargs -0 -P 2 -n 1 "${compiler[@]}" -std=c++20 -fsyntax-only -w -I. -Iruntime/include "${defines[@]}"
