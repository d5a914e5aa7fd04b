"""Times the stages that find segments in flags and keys over workloads drawn by lot, on a GPU.

    python3 tests/benchmark/lots_of_found.py build/portable/runtime/segfold SEED COUNT RATES.csv

draws COUNT equal lengths and numbers of elements for each operator and form, appends a row of rates for each to the
file, as tests/data/lot has them, and prints how near the plan of the rule of thumb comes to the best. Records of the
tuner are left aside. 100 workloads take three minutes.
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


def draw(random_numbers, type_name):
    """A length and a number of elements that is a multiple of it."""
    length = int(math.exp(random_numbers.uniform(math.log(3), math.log(300))))
    num_elements = int(2 ** random_numbers.uniform(22, 27 if type_name == "f64" else 28))
    return length, num_elements // length * length


def measure(program, operator, type_name, form, length, num_elements):
    """The rate of each stage in elements a second, and that of the plan that a run takes."""
    command = [program, "bench", operator, "--type", type_name, "--layout", f"constant:length={length}", "--given-as",
               form, "--elements", str(num_elements), "--peers", "none", "--no-tune", "--repeat", "7", "--json"]
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
    random_numbers = random.Random(seed)
    if not file.exists():
        file.write_text("operator,form,elements,segments,longest,padded,rates\n")
    shares = []
    for operator, type_name in OPERATORS:
        for form in ("flags", "keys"):
            own = []
            for _ in range(count):
                length, num_elements = draw(random_numbers, type_name)
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
