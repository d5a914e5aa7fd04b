"""Times the stages that find segments in flags and keys over workloads drawn by lot, on a GPU.

    python3 tests/benchmark/lots_of_found.py build/portable/runtime/segfold SEED COUNT RATES.csv [--small]

draws COUNT equal lengths and numbers of elements for each operator and form, appends a row of rates for each to the
file, as kernels/ranks/rows has them, and prints how near the plan that a run takes comes to the best. Lengths are 3 to
300, elements 2^22 to 2^28; with --small 3 to 2^20, and 2^16 to 2^23. Records of the tuner are left aside. 100 workloads
take three minutes.
"""

import json
import math
import pathlib
import random
import subprocess
import sys

OPERATORS = [("sum", "i8"), ("sum", "f16"), ("argmax", "f32"), ("argmax", "f64"), ("max_subarray", "f32"),
             ("mean_variance", "f32"), ("mean_variance", "f64"), ("sum", "f32"), ("affine", "f32")]
STAGES = ["run_stream", "lean_stream", "run_tiles"]


def draw(random_numbers, type_name, is_small):
    """A length and a number of elements that is a multiple of it."""
    length = int(math.exp(random_numbers.uniform(math.log(3), math.log(2**20 if is_small else 300))))
    most_bits = 23 if is_small else 27 if type_name == "f64" else 28
    num_elements = int(2 ** random_numbers.uniform(16 if is_small else 22, most_bits))
    return length, max(1, num_elements // length) * length


def measure(program, operator, type_name, form, length, num_elements):
    """The rate of each stage in elements a second, and that of the plan that a run takes."""
    repeats = "15" if num_elements < 2**22 else "7"
    command = [program, "bench", operator, "--type", type_name, "--layout", f"constant:length={length}", "--given-as",
               form, "--elements", str(num_elements), "--peers", "none", "--no-tune", "--repeat", repeats, "--json"]
    for stage in STAGES:
        command += ["--plan", stage]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode not in (0, 1):
        sys.exit(process.stderr)
    if process.returncode == 1:
        print(f"DIFFERS: {' '.join(command)}", flush=True)
    rates, chosen = {}, 0
    for entry in json.loads(process.stdout)["workloads"][0]["entries"]:
        if entry["outcome"] != "measured":
            continue
        rate = num_elements / (entry["milliseconds"]["median"] * 1e-3)
        rates[entry["name"]] = max(rate, rates.get(entry["name"], 0))
        if entry["chosen"]:
            chosen = max(rate, chosen)
    return rates, chosen


def main():
    program, seed, count, file = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    is_small = "--small" in sys.argv[5:]
    random_numbers = random.Random(seed)
    if not file.exists():
        file.write_text("operator,form,elements,segments,longest,padded,rates\n")
    shares = []
    for operator, type_name in OPERATORS:
        for form in ("flags", "keys"):
            own = []
            for _ in range(count):
                length, num_elements = draw(random_numbers, type_name, is_small)
                rates, chosen = measure(program, operator, type_name, form, length, num_elements)
                own.append(chosen / max(rates.values()))
                written = " ".join(f"{stage}={rate:.4g}" for stage, rate in rates.items())
                with file.open("a") as table:
                    table.write(f"{operator}_{type_name},{form},{num_elements},{num_elements // length},{length},"
                                f"{num_elements},{written}\n")
            print(f"{operator} {type_name} by {form}:", " ".join(f"{share:.2f}" for share in own), flush=True)
            shares += own
    shares.sort()
    mean = math.exp(sum(math.log(share) for share in shares) / len(shares))
    print(f"{len(shares)} workloads: geometric mean {mean:.3f}, worst {shares[0]:.3f}, first decile "
          f"{shares[(len(shares) - 1) // 10]:.3f}")


main()
