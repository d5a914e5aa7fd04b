#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy over what one build compiles several at a time, which reads headers once
# for all of them; tests are left out. Arguments: the build folder; --sample N takes N of these units, other ones for each
# commit, since all take three minutes of a core. 77: skipped.
cd "$(dirname "$0")/../.." || exit 1
for tool in clang-tidy-14 clang-tidy; do
    [[ $("$tool" --version 2>/dev/null) == *"version 14."* ]] && break
    tool=
done
if [[ -z $tool ]]; then
    echo "no clang-tidy 14 is here"
    exit 77
fi
units=$(grep -o '"file": "[^"]*/Unity/unity_[^"]*"' "$1/compile_commands.json" 2>/dev/null | cut -d '"' -f 4 |
    grep -v -e nanobind-static -e /tests/) # another project's, and what goes into no program
if [[ -z $units ]]; then
    echo "the build compiles every source by itself (SEGFOLD_UNITY)"
    exit 77
fi
if [[ $2 == --sample ]]; then
    commit=$(git rev-parse HEAD 2>/dev/null || date +%F)
    units=$(LC_ALL=C sort <<<"$units" | shuf -n "$3" --random-source=<(yes "$commit"))
fi
# The compiler judges what is C++: clang 14 stumbles over <ranges> and <source_location> of GCC 12.
found=$(xargs -P 2 -n 1 "$tool" --quiet --extra-arg=-ferror-limit=0 -p "$1" <<<"$units" 2>/dev/null |
    grep -E ' \[(bugprone|modernize|performance)-' | sort -u)
[[ -z $found ]] || { echo "$found" && exit 1; }
