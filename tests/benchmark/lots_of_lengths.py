"""Times every stage over segments whose lengths follow distributions with a mean drawn by lot, on a GPU.

    python3 tests/benchmark/lots_of_lengths.py build/portable/runtime/segfold SEED COUNT RATES.csv [--large]

draws COUNT layouts and numbers of elements for each operator, appends a row of rates for each to the file, as
kernels/ranks/rows has them, and prints how near the plan that a run takes comes to the best stage. Lengths are
geometric, Poisson, log-normal, or half of them empty, with means of 2 to 512; elements 2^16 to 2^25, with --large 2^25
to 2^28. Kernels are compiled first, by seven processes side by side. Records of the tuner are left aside. 100
workloads take two minutes.
"""

import concurrent.futures
import json
import math
import random
import subprocess
import sys

OPERATORS = [("sum", "f32"), ("sum", "f64"), ("sum", "f16"), ("sum", "i8"), ("max", "i16"), ("argmax", "f32"),
             ("mean_variance", "f32")]
COMPILERS = 7


def draw(random_numbers, is_large):
    """A layout and a number of elements."""
    kind = random_numbers.choice(["geometric", "geometric", "poisson", "lognormal", "half_empty"])
    mean = math.exp(random_numbers.uniform(math.log(2), math.log(512)))
    if kind == "lognormal":  # of the logarithm
        layout = f"lognormal:mean={max(0.1, math.log(mean) - 0.72):.2f},sigma=1.2"
    else:
        layout = f"{kind}:mean={max(2, round(mean))}"
    return layout, int(2 ** (random_numbers.uniform(25, 28) if is_large else random_numbers.uniform(16, 25)))


def command(program, operator, type_name, layout, num_elements, repeats):
    return [program, "bench", operator, "--type", type_name, "--layout", layout, "--elements", str(num_elements),
            "--peers", "none", "--no-tune", "--repeat", str(repeats), "--json"]


def measure(words, file):
    """What the plan that a run takes has of the best rate, and the names of both stages."""
    process = subprocess.run(words + ["--rates", file], capture_output=True, text=True)
    if process.returncode not in (0, 1):
        sys.exit(process.stderr)
    if process.returncode == 1:
        print(f"DIFFERS: {' '.join(words)}", flush=True)
    times = {}
    chosen = None
    for entry in json.loads(process.stdout)["workloads"][0]["entries"]:
        if entry["outcome"] == "measured":
            times[entry["name"]] = entry["milliseconds"]["median"]
            chosen = entry["name"] if entry["chosen"] else chosen
    best = min(times, key=times.get)
    return times[best] / times[chosen], chosen, best


def main():
    program, seed, count, file = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    random_numbers = random.Random(seed)
    is_large = "--large" in sys.argv[5:]
    workloads = [(operator, type_name, *draw(random_numbers, is_large))
                 for operator, type_name in OPERATORS for _ in range(count)]

    def compile_kernels(workload):
        subprocess.run(command(program, *workload, 1), capture_output=True)

    with concurrent.futures.ThreadPoolExecutor(COMPILERS) as compilers:
        list(compilers.map(compile_kernels, workloads))
    shares = []
    for operator, type_name, layout, num_elements in workloads:
        words = command(program, operator, type_name, layout, num_elements, 15 if num_elements < 2**22 else 7)
        share, chosen, best = measure(words, file)
        shares.append(share)
        if share < 0.95:
            print(f"{share:.2f} {operator} {type_name} {layout} {num_elements}: {chosen}, best {best}", flush=True)
    shares.sort()
    mean = math.exp(sum(math.log(share) for share in shares) / len(shares))
    print(f"{len(shares)} workloads: geometric mean {mean:.3f}, worst {shares[0]:.3f}, first decile "
          f"{shares[(len(shares) - 1) // 10]:.3f}")


main()
