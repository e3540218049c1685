#!/usr/bin/env python3
"""The kernels of one step of the decoder, from what Nsight Compute wrote of them.

    profile.py OUT.json MACHINE.json CSV ...

    CSV           of `ncu --csv --page raw --print-units base --log-file CSV
                  --metrics gpu__time_duration.sum --clock-control none
                  --cache-control none day07_fusion_case_study_bench --row ...`
    MACHINE.json  of the benchmark on that GPU: what the machine was

A step goes from the embedding to the choice of a token. Its kernels say which version
and which size it is; of each kernel the median over all steps of a version is taken.
"""
import csv
import json
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

NAMES = {"embed_kernel": "embed", "rotate_append_kernel": "rotate_append",
         "qkv_append_kernel": "qkv_append", "attend_kernel": "attend",
         "add_kernel": "add", "add_norm_kernel": "add_norm", "pick_kernel": "pick",
         "layernorm_residual_kernel": "layernorm_residual",
         "norm_qkv_append_kernel": "norm_qkv_append"}
# Whose kernels a version has, and no version before it.
VERSIONS = [("v4", "norm_qkv_append"), ("s0", "layernorm_residual"),
            ("v3", "qkv_append"), ("v2", "add_norm"), ("v1", "norm")]


class Kernel:
    """One launch, as a row of the CSV has it."""

    def __init__(self, row):
        self.name = re.sub(r"^(void )?|[<(].*$", "", row["Kernel Name"])
        self.blocks = int(re.match(r"\((\d+)", row["Grid Size"])[1])
        self.us = float(row["gpu__time_duration.sum"].replace(",", "")) / 1e3


def kernels_of(path):
    """All launches of a file, in their order."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    header = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if not header:
        raise ValueError(f"{path}: ncu has written no table into it")
    rows = list(csv.DictReader(lines[header[0]:]))
    unit = rows[0]["gpu__time_duration.sum"]
    if unit not in ("ns", "nsecond"):
        raise ValueError(f"{path}: times are in {unit}, not in ns: --print-units base")
    return [Kernel(row) for row in rows[1:] if row["ID"].isdigit()]


def products(step):
    """The names of a step's launches: a product has that of its place."""
    names = []
    for i, kernel in enumerate(step):
        before = names[-1] if names else ""
        behind = step[i + 1].name if i + 1 < len(step) else ""
        name = NAMES.get(kernel.name)
        if kernel.name.startswith("norm_") and name is None:
            name = "norm"
        if kernel.name == "norm_product_kernel":
            name = "norm_logits" if behind == "pick_kernel" else "norm_up"
        if kernel.name == "product_add_kernel":
            name = "out_add" if before == "attend" else "down_add"
        if kernel.name == "product_kernel":
            name = ("out" if before == "attend" else "down" if before == "up" else
                    "qkv" if behind == "rotate_append_kernel" else
                    "logits" if behind == "pick_kernel" else "up")
        if name is None:
            raise ValueError(f"{kernel.name} is no kernel of a step")
        names.append(name)
    return names


def steps_of(kernels):
    """Whole steps, as lists of launches."""
    step = None
    for kernel in kernels:
        if kernel.name == "embed_kernel":
            step = []
        if step is None:
            continue
        step.append(kernel)
        if kernel.name == "pick_kernel":
            yield step
            step = None


def rows_of(paths):
    """A row for each kernel of each version and size, and one for all of them."""
    found = defaultdict(list)
    for path in paths:
        for step in steps_of(kernels_of(path)):
            names = products(step)
            version = next(v for v, name in VERSIONS if name in names)
            out = next(k for k, n in zip(step, names) if n in ("out", "out_add"))
            size = f"{names.count('attend')}x{8 * out.blocks}"  # 8 rows a block
            us = defaultdict(float)
            for name, kernel in zip(names, step):
                us[name] += kernel.us
            found[size, version].append((us, {n: names.count(n) for n in us}))
    rows = []
    for (size, version), steps in sorted(found.items()):
        launches = steps[0][1]
        if any(other != launches for _, other in steps):
            raise ValueError(f"{size}, {version}: not all steps have the same launches")
        total = statistics.median(sum(us.values()) for us, _ in steps)
        kernels = {name: statistics.median(us[name] for us, _ in steps)
                   for name in launches}
        for name, us in [*kernels.items(), ("all", total)]:
            count = launches.get(name, sum(launches.values()))
            rows.append({"size": size, "version": version, "kernel": name,
                         "launches": count, "us": round(us, 2),
                         "us_each": round(us / count, 2),
                         "percent": round(100 * us / total, 1), "steps": len(steps)})
    return rows


def main():
    """Writes OUT.json."""
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    out, machine, *paths = sys.argv[1:]
    known = json.loads(Path(machine).read_text(encoding="utf-8"))
    text = json.dumps({
        "what": "kernels of one step of the decoder by Nsight Compute, each by itself: "
                "launches, the median over steps of their microseconds, and their "
                "share of all kernels",
        "program": "ncu --metrics gpu__time_duration.sum --clock-control none "
                   "--cache-control none on day07_fusion_case_study_bench --row; then "
                   "tests/day07-tuning/09-fusion-case-study/story/profile.py",
        "machine": {key: known["machine"][key] for key in ("gpu", "cuda", "driver")},
        "date": known["rows"][0]["date"]}, indent=2)
    rows = ",\n".join("    " + json.dumps(row) for row in rows_of(paths))
    Path(out).write_text(f'{text[:-2]},\n  "rows": [\n{rows}\n  ]\n}}\n',
                         encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(str(error))
