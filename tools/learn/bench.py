"""./learn bench [CHAPTER] [--fast] [--sizes small|full|grid] [--seconds S]

Measures speed, on a GPU: your kernel once it is right, our ladder, the
library, and PyTorch where it is installed. --fast measures your second stage,
"Go faster", and says what it wins: bronze for more speed than the version
before ours, silver for 90 % of ours, gold for the library's or 95 % of the
ceiling. The chart is written as an SVG file, too.
"""

import json
import subprocess
import sys
from pathlib import Path

from learn import build, ceilings, preset, selection, ui


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    selection.add_fast(parser)
    parser.add_argument("--sizes")
    parser.add_argument("--seconds")


def run(options) -> int:
    chapter = selection.single(options.chapters, options.fast)
    build.prepare()
    if not preset.chosen().on_gpu:
        raise ui.Stop(
            "Speed is measured on a GPU, and there is none here: the simulator's times"
            " say nothing about a GPU's.")
    passed_on = []
    for option in ("sizes", "seconds"):
        if value := getattr(options, option):
            passed_on += [f"--{option}", value]
    target = f"{chapter.first_stage.target}_bench"
    mine = f"{chapter.target}_bench_learner"
    # The learner's kernel is measured once it is right; before, only the ladder is.
    if chapter.has_passed():
        _json(mine).unlink(missing_ok=True)
        _run_program(mine, "your kernel", passed_on)
    _run_program(target, "the ladder", passed_on)
    script = Path("tests", chapter.path).parent / "torch_peers.py"
    if script.is_file():
        _torch(script, target, options.sizes == "grid")
    if chapter.has_passed() and options.sizes != "grid":
        _show_charts(chapter, _json(mine), _json(target))
    if not chapter.has_passed():
        ui.say(_not_measured(chapter))
    return 0


def _not_measured(chapter) -> str:
    return (f"Your kernel was not measured: it is once ./learn check {chapter.name} has"
            " passed.")


def _show_charts(chapter, mine: Path, ladder: Path) -> None:
    """A chart of each exercise at its largest size; of a second stage, the medal."""
    from learn import medals

    rows = [json.loads(file.read_text())["rows"] for file in (mine, ladder)]
    for exercise in dict.fromkeys(row["exercise"] for row in rows[0]):
        bars = medals.bars_of(*rows, exercise)
        if not bars:
            continue
        size = [row["size"] for row in rows[0] if row["exercise"] == exercise][-1]
        title = f"{exercise}, {size}"
        ui.say()
        ui.say(ui.paint(title, "bold"))
        ui.say("\n".join(medals.chart(bars)))
        if chapter.is_faster:
            version = medals.version_of(Path(chapter.solution), exercise)
            ui.say(medals.in_words(medals.medal(bars, version)))
        file = mine.with_name(f"{chapter.key}.{exercise}.svg")
        file.write_text(medals.svg(bars, title))
        ui.note(f"  as a picture: {file}")


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
