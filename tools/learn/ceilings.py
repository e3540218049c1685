"""./learn ceilings

Measures, on a GPU, what it can do at most: reading, writing, copying, and
products of matrices in fp32, tf32, fp16 and bf16. Kept in
.learn/ceilings.json, for the tables of bench and the model of xray.
"""

import subprocess

from learn import build, preset, ui

FILE = ui.STATE / "ceilings.json"


def run(options) -> int:
    build.prepare()
    if not preset.chosen().on_gpu:
        raise ui.Stop(
            "Ceilings are measured on a GPU, and there is none here. Without one,"
            " ./learn xray --gpu h100 uses those that we measured on an H100.")
    build.must_build("wb_ceilings", what="the measuring program")
    program = build.must_have_program("wb_ceilings")
    ui.STATE.mkdir(exist_ok=True)
    ui.note("This takes about a minute; close what else uses the GPU.")
    ui.show_command([program, FILE])
    status = subprocess.run([program, FILE]).returncode
    if status:
        return status
    ui.note(f"  written to {FILE}: ./learn bench and ./learn xray read it there")
    return 0


def option() -> list[str]:
    """For programs that can use what was stored; nothing if nothing was."""
    stored = FILE.is_file() and FILE.stat().st_size > 0
    return ["--ceilings", str(ui.ROOT / FILE)] if stored else []
