"""The configurations of stages that draw.py measures. They are listed in candidates.txt."""

import itertools
import pathlib
import re

KERNELS = pathlib.Path(__file__).resolve().parent.parent


def first_values(stage):
    """Returns the tunables of a stage with the first value of each."""
    path = next(path for room in ("stages/*.cu", "ladder/*.cu", "cpu/*.cpp") for path in KERNELS.glob(room) if path.stem == stage)
    return {name: int(value) for name, value in re.findall(r"^//% *tune +(\w+) = (\d+)", path.read_text(), re.MULTILINE)}


def candidates():
    """Returns the configurations of each stage, as --plan takes them."""
    all_of = {}
    for line in (KERNELS / "ranks" / "candidates.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        stage, *tunables = line.split()
        names = [word.split("=")[0] for word in tunables]
        for values in itertools.product(*(word.split("=")[1].split("|") for word in tunables)):
            own = first_values(stage) | dict(zip(names, values))
            all_of.setdefault(stage, []).append(",".join(f"{name}={value}" for name, value in own.items()))
    return all_of


def plans_by_lot(lot, on_host, count):
    """Returns the flags of a bench that time `count` configurations, by lot, of each of the three stages that rank first."""
    flags = ["--first", "3"]
    for stage, own in candidates().items():
        if (KERNELS / "cpu" / f"{stage}.cpp").exists() == on_host:
            flags += [word for settings in lot.sample(own, min(count, len(own))) for word in ("--plan", f"{stage}:near,{settings}")]
    return flags
