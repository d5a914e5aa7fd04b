#!/bin/sh
# Fuzzes the language: tests/fuzz/run.sh [SECONDS] [FOLDER] [TARGET]
#
# TARGET is parser_fuzz, which reads and runs texts (if not given), or emit_fuzz, which emits CUDA of them. Builds it
# with clang, libFuzzer and the address and undefined behaviour sanitizers into FOLDER (build/fuzz if not given) and
# runs it for SECONDS (60 if not given) on one core. What it learns stays in FOLDER/corpus; what fails is written to
# FOLDER/crash-* or FOLDER/timeout-*. To keep a find, shrink it (FOLDER/TARGET -minimize_crash=1 FILE) and put it into
# tests/fuzz/corpus, which fuzz_corpus_test replays.
set -eu
seconds=${1:-60}
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${2:-$root/build/fuzz}
target=${3:-parser_fuzz}
compiler=${CXX:-$(command -v clang++ || command -v clang++-14 || true)}
[ -n "$compiler" ] || { echo "run.sh: clang++ is needed and was not found; set CXX" >&2; exit 3; }

mkdir -p "$folder/corpus"
cd "$root"
case $target in
    parser_fuzz) sources="tests/fuzz/parser_fuzz.cpp tests/fuzz/find_fault.cpp" ;;
    emit_fuzz)
        files=$(cd kernels && find . -path ./vocabulary -prune -o \( -name '*.cu' -o -name '*.cuh' \) -print | sed 's|^\./||' | LC_ALL=C sort | paste -s -d '|' -)
        cmake -DOUTPUT="$folder/embedded_kernels.cpp" -DSYMBOL=embedded_kernels -DROOT=kernels -DFILES="$files" \
            -P codegen/embed.cmake
        native=$(find kernels/cpu -name '*.cpp' -o -name '*.h' | sed 's|^kernels/||' | LC_ALL=C sort | paste -s -d '|' -)
        cmake -DOUTPUT="$folder/embedded_native_kernels.cpp" -DSYMBOL=embedded_native_kernels -DROOT=kernels \
            -DFILES="$native" -P codegen/embed.cmake
        words=$(cd kernels/vocabulary && find . -type f | sed 's|^\./||' | LC_ALL=C sort | paste -s -d '|' -)
        cmake -DOUTPUT="$folder/vocabulary_files.cpp" -DSYMBOL=vocabulary_files -DROOT=kernels/vocabulary \
            -DFILES="$words" -P codegen/embed.cmake
        sources="tests/fuzz/emit_fuzz.cpp tests/fuzz/find_escape.cpp $folder/embedded_kernels.cpp $folder/embedded_native_kernels.cpp \
            $folder/vocabulary_files.cpp"
        for unit in $(find codegen -name '*.cpp'); do
            sources="$sources $unit"
        done
        ;;
    *) echo "run.sh: unknown target '$target'; the targets are parser_fuzz and emit_fuzz" >&2; exit 2 ;;
esac
names=$(cd dsl/standard && find . -name '*.seg' | sed 's|^\./||' | LC_ALL=C sort | paste -s -d '|' -)
cmake -DOUTPUT="$folder/standard_operator_files.cpp" -DSYMBOL=standard_operator_files -DROOT=dsl/standard \
    -DFILES="$names" -P codegen/embed.cmake
sources="$sources $folder/standard_operator_files.cpp"
for unit in $(find dsl -name '*.cpp'); do
    sources="$sources $unit"
done
# shellcheck disable=SC2086
"$compiler" -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DFMT_HEADER_ONLY \
    -I. $sources -o "$folder/$target"

mkdir -p "$folder/seeds"
cp dsl/standard/*.seg tests/errors/*.seg "$folder/seeds"
exec nice -n 19 "$folder/$target" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 -max_len=4096 \
    -dict=tests/fuzz/seg.dict -artifact_prefix="$folder/" "$folder/corpus" tests/fuzz/corpus "$folder/seeds"
