#!/usr/bin/env bash
# Thrust sorts negative and other integers wrongly on the host, and folds by key what it has not sorted.
#
# Guess: thrust::sort and thrust::stable_sort_by_key sort integers of any type.
# Truth: `int` is sorted by its bits with the sign flipped, but RadixEncoder<int> takes a `long`: a negative number is
# widened with ones, only bit 31 of 64 is flipped, and it comes behind all others. The same sort of `unsigned`, `long`
# or `short` is right, and so is one by a comparison of one's own. The systems OpenMP and TBB sort so too, in pieces that
# they then merge as if they were in order. The kernels of CUDA's system are other ones. CCCL 3.5.0 sorts rightly.
#
# Read: thrust/system/detail/sequential/stable_radix_sort.inl.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet nvidia-cuda-cccl==13.0.85 || exit 2
command -v "${CXX:-g++}" >/dev/null || exit 2
sorts=$(find "$folder/venv" -path '*/thrust/sort.h')

cat >"$folder/sort.cpp" <<'CPP'
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdio>
#include <vector>

template <class Number, class... Less>
void print(const char* what, Less... less)
{
    std::vector<Number> numbers;
    for (int i = 0; i < 40; ++i)
        numbers.push_back(Number(i * 7 % 5 - 2));
    thrust::stable_sort(thrust::seq, numbers.begin(), numbers.end(), less...);
    std::printf("%-20s from %lld to %lld%s\n", what, (long long)numbers.front(), (long long)numbers.back(),
                std::is_sorted(numbers.begin(), numbers.end()) ? "" : ", not sorted");
}

int main()
{
    std::printf("CCCL %d\n", CCCL_VERSION);
    print<int>("int");
    print<int>("int, own comparison", [](int a, int b) { return a < b; });
    print<long>("long");
    print<short>("short");
    print<unsigned>("unsigned");
}
CPP
"${CXX:-g++}" -std=c++17 -O1 -w -isystem "${sorts%/thrust/sort.h}" -DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP \
    -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP "$folder/sort.cpp" -o "$folder/sort"
seen=$("$folder/sort")
described='CCCL 3000001
int                  from 0 to -1, not sorted
int, own comparison  from -2 to 2
long                 from -2 to 2
short                from -2 to 2
unsigned             from 0 to 4294967295'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
