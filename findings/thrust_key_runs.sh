#!/usr/bin/env bash
# Thrust's reduce_by_key and unique compare a key with the run's first in one system, with its neighbour in another.
#
# Guess: which keys make a run is part of the interface, so reduce_by_key with "nearly equal" as predicate finds the
# same runs in each system.
# Truth: the sequential and C++ systems compare with the first key of the run, the OpenMP system with the key before,
# also on one thread. For keys 0, 1, 2, 3, 4, 5 and a difference of at most 1 that is three runs against one. The pages
# call the predicate a Binary Predicate that "determines equality"; results agree only if it is transitive. Keys
# with a tolerance must be made whole numbers first, or cut by head flags.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    nvidia-cuda-cccl==13.2.75 || exit 2

command -v g++ > "$folder/found" || { echo "this needs g++" >&2; exit 2; }
headers=$(echo "$folder"/venv/lib/python*/site-packages/nvidia/*/include/cccl)
cat > "$folder/runs.cpp" <<'CPP'
#include <cstdio>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/system/cpp/execution_policy.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/unique.h>
#include <thrust/version.h>

template <class System>
void show(const char* name, System system)
{
    int keys[] = {0, 1, 2, 3, 4, 5};
    const int ones[] = {1, 1, 1, 1, 1, 1};
    int run_keys[6];
    int sums[6];
    const auto near = [](int a, int b) { return b - a <= 1; };
    const auto ends = thrust::reduce_by_key(system, keys, keys + 6, ones, run_keys, sums, near);
    std::printf("%s: reduce_by_key finds runs of", name);
    for (int* sum = sums; sum != ends.second; ++sum) {
        std::printf(" %d", *sum);
    }
    std::printf(", unique keeps %d keys\n", static_cast<int>(thrust::unique(system, keys, keys + 6, near) - keys));
}

int main()
{
    std::printf("Thrust %d\n", THRUST_VERSION);
    show("sequential", thrust::seq);
    show("C++       ", thrust::cpp::par);
    show("OpenMP    ", thrust::omp::par);
}
CPP
g++ -std=c++17 -O1 -fopenmp -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP -I"$headers" "$folder/runs.cpp" \
    -o "$folder/runs" || exit 2
seen=$(OMP_NUM_THREADS=1 "$folder/runs")

described='Thrust 300200
sequential: reduce_by_key finds runs of 2 2 2, unique keeps 3 keys
C++       : reduce_by_key finds runs of 2 2 2, unique keeps 3 keys
OpenMP    : reduce_by_key finds runs of 6, unique keeps 1 keys'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
