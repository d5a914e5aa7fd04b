#!/usr/bin/env bash
# Everything that needs two GPUs: the tests of devices, ranks and NCCL, what check and regress say there, and the
# benchmark of devices beside its peers. Builds nothing.
#
#     tests/benchmark/two_gpus.sh FOLDER [ELEMENTS [ROUNDS]]     FOLDER is a build folder, such as build/portable
#
# Whole outputs go to $OUT (./two_gpus without it), one file a step; a short table comes last. The exit code is 1
# where a step fails. NCCL is that of SEGFOLD_NCCL, else that of Python's torch, else the system's. STEPS is a
# pattern of the steps that run, for machines that are lent for minutes:
#
#     STEPS='@(nccl|scale|check|regress)*' two_gpus.sh FOLDER       right results
#     STEPS='@(devices|small)*' two_gpus.sh FOLDER                  times
#     STEPS='peer*' two_gpus.sh FOLDER                              those of CUB and torch
set -u
folder=${1:?"usage: two_gpus.sh FOLDER [ELEMENTS [ROUNDS]]: FOLDER is where segfold was built"}
elements=${2:-4294967296}
rounds=${3:-15}
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$PWD/two_gpus}
steps=${STEPS:-*}
for program in tests/devices_benchmark tests/nccl_gpu_test tests/gpu_tests runtime/segfold; do
    if [[ ! -x $folder/$program ]]; then
        echo "two_gpus.sh: $folder/$program is not there; build it with cmake --build $folder --target ${program##*/}" >&2
        exit 2
    fi
done
folder=$(cd "$folder" && pwd)
mkdir -p "$out" || exit 2
cd "$out" || exit 2

if [[ -z ${SEGFOLD_NCCL:-} ]]; then
    found=$(python3 -c 'import os, nvidia.nccl as n; print(os.path.join(list(n.__path__)[0], "lib", "libnccl.so.2"))' 2>/dev/null)
    [[ -n $found && -e $found ]] && export SEGFOLD_NCCL=$found
fi
echo "NCCL: ${SEGFOLD_NCCL:-libnccl.so.2, where the system looks}"
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
few=("$elements" "$rounds" whole uniform=32 uniform=1024 geometric:mean=32)

# Right results first: each is short.
step nccl_test 120 "$tests/nccl_gpu_test"
step nccl_test_ranks 120 "${ranks[@]}" "$tests/nccl_gpu_test" '--gtest_filter=*Ranks*'
step scale_test 200 "$tests/gpu_tests" '--gtest_filter=ScaleOnGpu.*Parts*'
step check_devices 300 "$segfold" check trace --type u64 --devices all --slices 7 --prove off
step check_ranks 300 "${ranks[@]}" "$segfold" check trace --type u64 --prove off
for stage in warp_per_segment warp_stream grid_reduce; do
    regress=("$segfold" regress "trace_i32,sum_f32" --relations --stage "$stage")
    step "regress_devices_$stage" 120 "${regress[@]}" --relation devices --devices all
    step "regress_threads_$stage" 120 "${regress[@]}" --relation ranks --devices all
    step "regress_ranks_$stage" 120 "${ranks[@]}" "${regress[@]}"
done

# Times.
step devices_host 300 "$tests/devices_benchmark" "${few[@]}"
step devices_nccl 300 "$tests/devices_benchmark" --nccl "${few[@]}"
step devices_ranks_host 300 "${ranks[@]}" "$tests/devices_benchmark" "${few[@]}"
step devices_ranks_nccl 300 "${ranks[@]}" "$tests/devices_benchmark" --nccl "${few[@]}"
if [[ -x $tests/cub_devices_benchmark ]]; then
    step peer_cub 300 "$tests/cub_devices_benchmark" "${few[@]}"
else
    echo "peer_cub: $tests/cub_devices_benchmark is not there, and left out"
fi
step peer_torch 300 python3 "$here/torch_devices.py" "$elements" "$rounds"

# Small folds, where nothing but launches, copies and gathering takes time.
small=(1048576 101 whole uniform=1024 geometric:mean=32)
step small_host 60 "$tests/devices_benchmark" "${small[@]}"
step small_nccl 60 "$tests/devices_benchmark" --nccl "${small[@]}"
step small_ranks_host 60 "${ranks[@]}" "$tests/devices_benchmark" "${small[@]}"
step small_ranks_nccl 60 "${ranks[@]}" "$tests/devices_benchmark" --nccl "${small[@]}"

echo
echo "Milliseconds of one GPU and of all, and how many times as fast"
for name in devices_host devices_nccl devices_ranks_host devices_ranks_nccl peer_cub peer_torch small_host small_nccl \
    small_ranks_host small_ranks_nccl; do
    [[ -s $name.txt ]] || continue
    echo "$name"
    grep -E '^(whole|uniform|geometric)' "$name.txt" |
        sed -E 's/\([0-9.]+ - [0-9.]+\)//g; s/^([^ ]+) +/    \1 /; s/ +/ /g; s/^ /    /'
done > table.txt
cat table.txt
echo
printf '%s\n' "${summary[@]}" | tee summary.txt
exit "$failed"
