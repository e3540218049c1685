"""Shows what a checked run wrote, as text and as one HTML page.

./learn xray calls it; see its help for what a learner types.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from xray.gpu import Gpu, Resources, find_gpu, read_ptxas, take_ceilings  # noqa: E402
from xray.page import Page  # noqa: E402
from xray.run import Run, read_run, select, spare_given  # noqa: E402
from xray.terminal import Printer  # noqa: E402


@dataclass
class Report:
    """What is shown, and how."""

    run: Run
    title: str  # "day01/05-dot-product"
    root: str  # paths are shown relative to it
    program: str  # how to start it on a GPU, for Nsight Compute
    gpu: Gpu | None
    resources: list[Resources]
    resources_note: str  # why there are none
    colour: bool
    width: int  # columns of the terminal; 0: unknown, so that lines stay whole


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="xray", allow_abbrev=False)
    add = parser.add_argument
    add("--json", required=True, help="what the simulator wrote (SIMT_CHECK_JSON)")
    add("--contract", help="what a benchmark wrote with --xray FILE")
    add("--html", type=Path, help="write the page, too")
    add("--quiet", action="store_true", help="print nothing but errors")
    add("--kernel", default="", help="only kernels whose name contains it")
    add("--section", default="", help="only this rung, as v3")
    add("--own", default="", help="the learner's lines, as path/file.cu:3-5,9")
    add("--gpu", help="a key of gpus.json, for the model and the occupancy")
    add("--ceilings", help="of ./learn ceilings, used if they are of that GPU")
    add("--ptxas", help="the output of nvcc -cubin -Xptxas -v")
    add("--title")
    add("--root", default="", help="the folder that paths are relative to")
    add("--program", default="./program", help="how to start it on a GPU")
    add("--colour", action="store_true")
    add("--width", type=int, default=0, help="columns of the terminal")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    chosen = options(words)
    run = read_run(chosen.json, chosen.contract)
    select(run, chosen.kernel, chosen.section)
    spare_given(run, chosen.own)
    gpu = find_gpu(chosen.gpu) if chosen.gpu else None
    if gpu and chosen.ceilings:
        take_ceilings(gpu, chosen.ceilings)
    report = Report(
        run, chosen.title or run.program, chosen.root, chosen.program, gpu,
        read_ptxas(chosen.ptxas) if chosen.ptxas else [],
        "nvcc says nothing about this kernel" if chosen.ptxas else
        "install nvcc to see registers and occupancy", chosen.colour, chosen.width)
    # The page first: a reader of the text may stop early, as in `| head`.
    if chosen.html:
        chosen.html.parent.mkdir(parents=True, exist_ok=True)
        chosen.html.write_text(Page(report).html(), encoding="utf-8")
    if not chosen.quiet:
        sys.stdout.reconfigure(errors="replace")
        Printer(report).print()
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
