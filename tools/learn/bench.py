"""./learn bench [CHAPTER] [--sizes small|full|grid] [--seconds S]

Measures speed, on a GPU: your kernel once it is right, our ladder, the
library, and PyTorch where it is installed.
"""

import subprocess
import sys
from pathlib import Path

from learn import build, ceilings, preset, selection, ui


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--sizes")
    parser.add_argument("--seconds")


def run(options) -> int:
    chapter = selection.single(options.chapters)
    build.prepare()
    if not preset.chosen().on_gpu:
        raise ui.Stop(
            "Speed is measured on a GPU, and there is none here: the simulator's times"
            " say nothing about a GPU's.")
    passed_on = []
    for option in ("sizes", "seconds"):
        if value := getattr(options, option):
            passed_on += [f"--{option}", value]
    target = f"{chapter.target}_bench"
    # The learner's kernel is measured once it is right; before, only the ladder is.
    if chapter.has_passed():
        _run_program(f"{target}_learner", "your kernel", passed_on)
    _run_program(target, "the ladder", passed_on)
    script = Path("tests", chapter.path).parent / "torch_peers.py"
    if script.is_file():
        _torch(script, target, options.sizes == "grid")
    return 0


def _json(target: str) -> Path:
    return build.folder() / "bench" / f"{target}.json"


def _run_program(target: str, what: str, options: list[str]) -> None:
    """Builds and runs one benchmark program."""
    build.must_build(target, what=f"the benchmark of {what}")
    program = build.must_have_program(target)
    _json(target).parent.mkdir(parents=True, exist_ok=True)
    ui.say(ui.paint(what, "bold"))
    command = [str(program), "--json", str(_json(target)), *ceilings.option(), *options]
    ui.show_command(command)
    status = subprocess.run(command).returncode
    if status:
        raise ui.Stop(f"The benchmark of {what} ended with status {status}.", 1)
    ui.note(f"  written to {_json(target)}")


def _torch(script: Path, target: str, grid: bool) -> None:
    """PyTorch on the sizes that the ladder has just been measured on, where there is
    one. That may be in a virtual environment: the python3 on PATH, not ours."""
    if grid:
        command = f"python3 {script} --grid fp32 --json {_json(target)}"
        ui.note(f"  PyTorch on the same grid: {command} (or bf16)")
        return
    ui.say(ui.paint("PyTorch", "bold"))
    command = [python_on_path(), str(script), "--json", str(_json(target))]
    ui.show_command(command)
    subprocess.run(command)


def python_on_path() -> str:
    import shutil

    return shutil.which("python3") or sys.executable
