"""Times the plan that a run takes for the workloads that the project promises something about, on a GPU.

    python3 tests/benchmark/shares_of_workloads.py build/portable/runtime/segfold FOLDER [PART OF A NAME]

prints a line for each workload: the share of the memory's read rate that the plan reaches, beside those of other plans
that were asked for, and writes the JSON documents of `segfold bench` to FOLDER. Needs numpy. 2^28 elements, records of
the tuner left aside.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

NUM_ELEMENTS = 1 << 28

WIDE = """operator wide(x: TYPE) -> STATE {
  state sum: STATE = 0
  lift STATE(x)
  combine(a, b) a + b
  laws commutative
}
"""

GEOMETRIC = "geometric:mean=32"
STREAMS = ["lean_stream", "warp_stream"]


def cut(lengths):
    """Offsets of the lengths, the last one cut to NUM_ELEMENTS."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    offsets = offsets[offsets < NUM_ELEMENTS]
    return np.append(offsets, NUM_ELEMENTS).astype(np.int32)


def two_or_three(random):
    return random.integers(2, 4, size=NUM_ELEMENTS // 2)


def ascending(random):
    """A power law whose mean length is about 4, the shortest first."""
    lengths = np.minimum(random.pareto(1.3, size=NUM_ELEMENTS // 4) + 1, NUM_ELEMENTS // 64).astype(np.int64)
    return np.sort(lengths[np.cumsum(lengths) < NUM_ELEMENTS])


def empty_runs(random):
    """Runs of 900 empty segments between runs of 900 around 32."""
    lengths = random.integers(16, 49, size=2 * NUM_ELEMENTS // 32)
    return np.where(np.arange(lengths.size) // 900 % 2 == 0, lengths, 0)


DRAWN = {"2 and 3": two_or_three, "ascending": ascending, "runs of empty": empty_runs}


def workloads(folder):
    """Name, operator, layout, other flags."""
    offsets = {}
    for name, draw in DRAWN.items():
        file = folder / (name.replace(" ", "_") + ".npy")
        np.save(file, cut(draw(np.random.default_rng(5))))
        offsets[name] = f"offsets={file}"
    wide = {}
    for narrow, state in (("f16", "f32"), ("bf16", "f32"), ("i8", "i32")):
        wide[narrow] = str(folder / f"wide_{narrow}.seg")
        pathlib.Path(wide[narrow]).write_text(WIDE.replace("TYPE", narrow).replace("STATE", state))
    for layout in (GEOMETRIC, "poisson:mean=32", "zipf:exponent=1.9", "lognormal:mean=3,sigma=1.2", "half_empty:mean=32",
                   "giant:half,rest=4", "bimodal:short=4,long=1024,share=0.1"):
        yield f"sum f32, {layout}", "sum", layout, []
    for name, layout in offsets.items():
        yield f"sum f32, {name}", "sum", layout, []
    for narrow in ("f16", "bf16", "i8"):
        yield f"sum {narrow}, wide, {GEOMETRIC}", wide[narrow], GEOMETRIC, []
        yield f"sum {narrow}, wide, uniform=24", wide[narrow], "uniform=24", []
    for narrow in ("f16", "bf16"):
        yield f"sum {narrow}, {GEOMETRIC}", "sum", GEOMETRIC, ["--type", narrow]
        yield f"sum {narrow}, uniform=24", "sum", "uniform=24", ["--type", narrow]
    for op in ("argmax", "mean_variance"):
        yield f"{op} f32, {GEOMETRIC}", op, GEOMETRIC, []
        yield f"{op} f32, uniform=64", op, "uniform=64", []
    for op in ("max_subarray", "longest_run", "matrix_2x2"):
        yield f"{op}, {GEOMETRIC}", op, GEOMETRIC, []
    for form in ("flags", "keys"):
        for length in (4, 32, 1024):
            yield f"sum f32, constant {length} by {form}", "sum", f"constant:length={length}", ["--given-as", form]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    for name, op, layout, flags in workloads(folder):
        if part not in name:
            continue
        command = [program, "bench", op, "--layout", layout, "--no-tune", "--peers", "none", "--json", "--repeat", "11",
                   *flags]
        if not layout.startswith("offsets="):
            command += ["--elements", str(NUM_ELEMENTS)]
        is_by_offsets = "uniform" not in layout and "--given-as" not in flags
        for stage in STREAMS if is_by_offsets else ["run_stream" if "--given-as" in flags else "group_per_segment"]:
            command += ["--plan", stage]
        process = subprocess.run(command, capture_output=True, text=True)
        if process.returncode not in (0, 1):
            print(f"{name}: {process.stderr.strip()}", flush=True)
            continue
        (folder / (name.replace(" ", "_").replace(",", "") + ".json")).write_text(process.stdout)
        document = json.loads(process.stdout)
        timed = [entry for entry in document["workloads"][0]["entries"] if entry["outcome"] == "measured"]
        shares = [f"{entry['name']}{'*' if entry['chosen'] else ''} {entry['fraction']:.3f}"
                  for entry in timed]
        print(f"{name:50} {'' if process.returncode == 0 else 'DIFFERS '}{'  '.join(shares)}", flush=True)


main()
