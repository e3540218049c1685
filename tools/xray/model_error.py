#!/usr/bin/env python3
"""model_error.py BUILD_DIR: how far the model of ./learn xray is off, on the H100 that
book/data/day01.json was measured on. Writes book/data/xray_model_error.json and prints
a table. The counts come from this machine's simulator, the times from that file.

Each measured row of at least 64 MB is predicted by scaling what was counted on a
smaller problem: in proportion to the bytes, or along the line through two problems.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from xray.gpu import find_gpu  # noqa: E402
from xray.model import predict  # noqa: E402
from xray.run import Access, Contract, Kernel, Run, read_run  # noqa: E402

ROOT = Path(__file__).parents[2]
MEASURED = "book/data/day01.json"
OUTPUT = ROOT / "book/data/xray_model_error.json"
LEAST_BYTES = 64e6  # below, a row is mostly launch
# Chapter, size that is counted, rows that are predicted, a larger size for the line.
CHAPTERS = (
    ("vector_add", "n = 1048576", "", ""),
    ("saxpy_grid_stride", "n = 1048576", "", ""),
    ("add_bias_nchw", "8 64 56 56", "56 56", ""),
    ("add_bias_nchw", "8 2048 7 7", " 7 7", ""),
    # Sums have parts that do not grow with n.
    ("dot_product", "n = 1048576", "", "n = 16777216"))
COUNTS = ("requests", "lanes", "sectors", "ideal_sectors", "wavefronts")


def count(build: Path, chapter: str, size: str) -> Run:
    """Runs the rungs of a chapter on one size."""
    found = build.rglob(f"day01_{chapter}_xray_solution")
    program = next(p for p in found if p.is_file() and os.access(p, os.X_OK))
    with tempfile.TemporaryDirectory() as folder:
        run, contract = f"{folder}/run.json", f"{folder}/contract.json"
        subprocess.run(
            [program, "--xray", contract, "--size", size], check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"SIMT_CHECK_TABLE": "0", "SIMT_CHECK_EXIT": "0",
                              "SIMT_CHECK_JSON": run})
        return read_run(run, contract)


def extrapolated(small: Kernel, large: Kernel, near: float, far: float) -> Kernel:
    """The kernel with each count on the line through two: near * one + far * other."""
    def at(one: float, other: float) -> float:
        return max(0.0, near * one + far * other)

    def kind(access: Access) -> tuple:
        return access.place.line, access.op, access.space, access.bytes

    others = {kind(access): access for access in reversed(large.accesses)}
    accesses = [
        replace(access, **{
            name: at(getattr(access, name),
                     getattr(others.get(kind(access), Access()), name))
            for name in COUNTS})
        for access in small.accesses]
    totals = {key: at(value, large.total(key)) for key, value in small.totals.items()}
    return replace(small, accesses=accesses, totals=totals)


def predict_rung(run: Run, larger: Run | None, contract: Contract, size: float, gpu):
    """All kernels of a rung, one after another, on a problem of so many bytes: seconds,
    and what bounds the longest of them."""
    seconds, launches, longest = 0.0, 0.0, None
    for kernel in run.of(contract.name):
        near, far, large = size / contract.bytes, 0.0, kernel
        if larger:
            end = larger.contract(contract.name).bytes
            near = (end - size) / (end - contract.bytes)
            far = (size - contract.bytes) / (end - contract.bytes)
            large = next(k for k in larger.of(contract.name) if k.name == kernel.name)
        one = predict(extrapolated(kernel, large, near, far), gpu, 0)
        seconds, launches = seconds + one.seconds, launches + one.launch
        if longest is None or one.seconds > longest.seconds:
            longest = one
    longest.launch = launches
    return seconds, longest.bound


def rows_of(run: Run, larger: Run | None, wanted: str, gpu):
    """The measured rows of a run's rungs whose size contains `wanted`."""
    for row in json.loads((ROOT / MEASURED).read_text("utf-8"))["rows"]:
        contract, size = run.contract(row["rung"]), row.get("bytes", 0.0)
        if contract.bytes <= 0 or size < LEAST_BYTES or wanted not in row["size"]:
            continue
        if larger and larger.contract(row["rung"]).bytes <= 0:
            continue
        seconds, bound = predict_rung(run, larger, contract, size, gpu)
        us = row["median_us"]
        yield {"exercise": row["exercise"], "rung": row["rung"], "size": row["size"],
               "measured_us": us, "predicted_us": seconds * 1e6,
               "ratio": seconds * 1e6 / us, "bound": bound, "counted_on": contract.size}


def main(build: Path) -> None:
    gpu, rows = find_gpu("h100"), []
    for chapter, size, wanted, larger_size in CHAPTERS:
        larger = count(build, chapter, larger_size) if larger_size else None
        rows += rows_of(count(build, chapter, size), larger, wanted, gpu)
    head = {"gpu": "NVIDIA H100 80GB HBM3", "measured": MEASURED,
            "model": "tools/xray/model.py, common/simt/data/gpus.json"}
    lines = ",\n".join("    " + json.dumps(row, separators=(",", ":")) for row in rows)
    text = json.dumps(head, indent=2).removesuffix("\n}")
    OUTPUT.write_text(f'{text},\n  "rows": [\n{lines}\n  ]\n}}\n')
    print("| version | size | measured | model | model / measured | bound |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row['rung']} | {row['size']} | {row['measured_us']:.0f} us |"
              f" {row['predicted_us']:.0f} us | {row['ratio']:.2f} | {row['bound']} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
