#!/usr/bin/env bash
# Everything that needs two GPUs: the tests of devices, and what check and regress say there by devices and by ranks.
# Builds nothing.
#
#     tests/benchmark/two_gpus.sh FOLDER     FOLDER is a build folder, such as build/portable
#
# Whole outputs go to $OUT (./two_gpus without it), one file a step. The exit code is 1 where a step fails. STEPS is a
# pattern of the steps that run, for machines that are lent for minutes: STEPS='@(scale|check)*' two_gpus.sh FOLDER
set -u
folder=${1:?"usage: two_gpus.sh FOLDER [ELEMENTS [ROUNDS]]: FOLDER is where segfold was built"}
out=${OUT:-$PWD/two_gpus}
steps=${STEPS:-*}
for program in tests/gpu_tests runtime/segfold; do
    if [[ ! -x $folder/$program ]]; then
        echo "two_gpus.sh: $folder/$program is not there; build it with cmake --build $folder --target ${program##*/}" >&2
        exit 2
    fi
done
folder=$(cd "$folder" && pwd)
mkdir -p "$out" || exit 2
cd "$out" || exit 2

nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader 2>/dev/null | tee gpus.txt
nvidia-smi topo -m > topology.txt 2>/dev/null

failed=0
summary=()
# step NAME SECONDS COMMAND...: the output of a command in NAME.txt; one that takes longer is ended.
step() {
    local name=$1 limit=$2 began=$SECONDS code
    shift 2
    # shellcheck disable=SC2053
    [[ $name == $steps ]] || return 0
    timeout --kill-after=10 "$limit" "$@" > "$name.txt" 2>&1 < /dev/null
    code=$?
    case $code in
        0) word=ok ;;
        77) word="skipped: $(head -n 1 "$name.txt")" ;;
        124 | 137) word="took more than $limit s" failed=1 ;;
        *) word="exit code $code" failed=1 ;;
    esac
    if [[ $code == 0 ]] && grep -q DIFFERENT "$name.txt"; then
        word="results differ" failed=1
    elif [[ $code == 0 ]] && grep -q '\[  SKIPPED \]' "$name.txt"; then
        word="ok, of which tests were skipped"
    fi
    summary+=("$(printf '%-34s %4d s  %s' "$name" $((SECONDS - began)) "$word")")
    echo "${summary[-1]}"
}

ranks=(mpirun -n 2 --allow-run-as-root --bind-to none)
segfold=$folder/runtime/segfold
tests=$folder/tests

step scale_test 200 "$tests/gpu_tests" '--gtest_filter=ScaleOnGpu.SeveralGpusShareSlices'
step check_devices 300 "$segfold" check trace --type u64 --devices all --slices 7 --prove off
step check_ranks 300 "${ranks[@]}" "$segfold" check trace --type u64 --prove off
for stage in warp_per_segment warp_stream grid_reduce; do
    regress=("$segfold" regress "trace_i32,sum_f32" --relations --stage "$stage")
    step "regress_devices_$stage" 120 "${regress[@]}" --relation devices --devices all
    step "regress_threads_$stage" 120 "${regress[@]}" --relation ranks --devices all
    step "regress_ranks_$stage" 120 "${ranks[@]}" "${regress[@]}"
done

echo
printf '%s\n' "${summary[@]}" | tee summary.txt
exit "$failed"
