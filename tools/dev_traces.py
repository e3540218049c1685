#!/usr/bin/env python3
"""Records the traces that the book shows (book/data/traces), from the solutions.

    tools/dev_traces.py [NAME ...]

Builds what it needs in build/sim. A trace repeats exactly: git shows what has changed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from learn import trace, trace_page

FOLDER = ROOT / "book/data/traces"
BUILD = ROOT / "build/sim"
# The name; the program, the rung, a part of the size.
TRACES = {
    "dot_product": ("day01_dot_product_xray_solution", "v2", ""),
    "transpose": ("day02_transpose_xray_solution", "v2", ""),
    "reduction": ("day03_reduction_xray_solution", "v2", ""),
    "softmax": ("day03_softmax_xray_solution", "v3", ""),
    "flash_attention": ("day06_flash_attention_xray_solution", "v4", ""),
    "hopper_attention": ("day06_hopper_attention_xray_solution", "v3", "Nk512")}


def record(program: str, rung: str, size: str) -> dict:
    subprocess.run(["ninja", "-C", BUILD, program], check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        environment = os.environ | {
            "SIMT_TRACE": str(file), "SIMT_TRACE_SECTION": rung, "SIMT_SEED": "0",
            "SIMT_CHECK_THROUGH": trace.THROUGH, "SIMT_CHECK_TABLE": "0"}
        command = [BUILD / program, "--xray", Path(folder) / "contract.json"]
        command += ["--size", size] if size else []
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        return trace_page.complete(json.loads(file.read_text()), ROOT)


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names or TRACES:
        text = trace_page.compact(record(*TRACES[name]))
        (FOLDER / f"{name}.json").write_text(text)
        print(f"{name}: {len(text)} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
