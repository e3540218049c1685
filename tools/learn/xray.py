"""./learn xray [CHAPTER | FILE.cu] [options] [-- ARGUMENTS]

What the memory system would do for each line of your kernel, and what is
unsafe in it, without a GPU. Also for any program of your own; ARGUMENTS are
passed on to it. The report is written as a page, too.
--solution     the versions of the solution; --rung v3 only one of them
--given        judge the given lines, too, not only those that you wrote
--kernel NAME  only kernels whose name contains NAME
--size TEXT    on the size that contains TEXT, as "n = 4096"
--gpu MODEL    h100 (usual), a100, rtx4090 or t4: for the predicted time
--seed N       another order of threads and blocks, the same for the same N
--html FILE    where the page goes (build/xray/NAME.html)

./learn xray --trace CHAPTER | FILE.cu records one block and writes a page on
which you go through its steps: where each warp is, its lanes, shared memory.
--block X,Y,Z  which block (0,0,0); -o FILE: where the page goes; --kernel,
               --rung, --size and --seed as above
"""

import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import markers
from learn import (
    build, ceilings, compile_errors, lint, preset, selection, steps, trace, ui)

FOLDER = Path("build/xray")  # where reports go
GPUS = Path("common/simt/data/gpus.json")
FOUND = 86  # the checker's exit status when it has found something


def arguments(parser) -> None:
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--solution", action="store_true")
    parser.add_argument("--given", action="store_true")
    parser.add_argument("--rung")
    parser.add_argument("--kernel")
    parser.add_argument("--size")
    parser.add_argument("--gpu", default="h100", type=str.lower)
    parser.add_argument("--seed")
    parser.add_argument("--html")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--block")
    parser.add_argument("-o", "--output")


def run(options) -> int:
    if len(options.targets) > 1:
        raise ui.Stop(
            f"One chapter or file at a time, please: {', '.join(options.targets)}"
            " (arguments of your own program stand behind --).")
    if options.seed and not options.seed.isdigit():
        raise ui.Stop(f"--seed is '{options.seed}', but must be a whole number.")
    if (options.block or options.output) and not options.trace:
        raise ui.Stop("--block and -o go with --trace (./learn help xray).")
    models = gpus()
    if models and options.gpu not in models:
        raise ui.Stop(
            f"There is no data of a GPU '{options.gpu}'; there is {' '.join(models)}.")
    # --rung is one of the solution's.
    options.solution = options.solution or bool(options.rung)
    # The simulator counts, whatever else this machine has.
    ui.Settings.device = "cpu"
    if os.environ.get("WB_PRESET", "").startswith("cuda"):
        os.environ["WB_PRESET"] = "sim"
    target = options.targets[0] if options.targets else ""
    return (_program if _is_own_program(target) else _chapter)(target, options)


def gpus() -> dict:
    """What the model knows of each GPU."""
    try:
        return json.loads(GPUS.read_text())["gpus"]
    except OSError:
        return {}


def _absolute(path: str) -> Path:
    """Seen from where ./learn was called."""
    return ui.Settings.invoked_from / path


def _is_own_program(typed: str) -> bool:
    """A .cu file that is not a chapter's?"""
    path = os.path.relpath(_absolute(typed).resolve(), ui.ROOT)
    return typed.endswith(".cu") and not re.match(r"(solutions/)?day\d", path)


def _chapter(target: str, options) -> int:
    """The learner's file, or the solution's rungs, on the benchmark's inputs."""
    chapter = selection.single(options.targets)
    build.prepare()
    is_solution = options.solution or "solutions/" in target
    file = chapter.solution if is_solution else chapter.file
    if not Path(file).is_file():
        raise ui.Stop(
            f"{file} is missing; ./learn reset {chapter.name} puts the starter there.")
    name = f"{chapter.target}_xray" + ("_solution" if is_solution else "")
    _build(name, file)
    command = [build.must_have_program(name), "--xray", _file(name, "contract")]
    if options.size:
        command += ["--size", options.size]
    if options.trace:
        if not is_solution:
            _stop_if_unsolved(file)
        return trace.show(name, command, options)
    _run(name, command, options, "" if is_solution else chapter.file)
    _ask_for_registers(name, file, options.gpu, "-I", chapter.path)
    title = chapter.label + (", the solution" if is_solution else "")
    bench = f"build/cuda/{chapter.target}_bench" + ("" if is_solution else "_learner")
    own = "" if is_solution or options.given else _own_lines(chapter)
    return _show(name, title, bench, options, own)


def _own_lines(chapter) -> str:
    """The lines of the learner's file that the starter does not have, for the report's
    --own; "" if there is no starter to compare with."""
    try:
        starter = markers.text_of(chapter.file).split("\n")
    except (OSError, markers.MarkerError):
        return ""
    file = ui.ROOT / chapter.file
    text = file.read_text(errors="replace").split("\n")
    edits = difflib.SequenceMatcher(None, starter, text, autojunk=False).get_opcodes()
    ranges = [f"{first + 1}-{last}" for what, _, _, first, last in edits
              if what != "equal" and last > first]
    return f"{file}:{','.join(ranges)}"


def _build(target: str, file: str) -> None:
    """The program."""
    if not build.has_target(target):
        raise ui.Stop(
            "This chapter has no benchmark whose inputs the report could use; make a"
            " small program of it: ./learn xray path/to/program.cu")
    result = build.targets(target, what="what the report is made with")
    if result.status == 0:
        return
    if sentence := build.full_disk(result.text):
        raise ui.Stop(sentence)
    ui.complain(ui.indent(compile_errors.in_words(result.text, file)), "dim")
    raise ui.Stop(
        f"It does not compile: ./learn check says more (the log: {build.LOG}).")


def _program(target: str, options) -> int:
    """The learner's own program, straight through simt-c++."""
    file = _absolute(target).resolve()
    if not file.is_file():
        raise ui.Stop(f"There is no file {target}.")
    if options.size or options.rung:
        raise ui.Stop(
            "--size and --rung are for chapters; give your own program its sizes as"
            f" arguments: ./learn xray {target} -- ARGUMENTS")
    build.prepare()
    _build("simt_driver", str(file))
    name = file.stem
    program = FOLDER / name
    command = ["common/simt/simt-c++", "--check=count", "-I", "common/include"]
    log = FOLDER / f"{name}.log"
    result = steps.run(
        [*command, file, "-o", program], log,
        steps.Step("compiling", lambda: f"Compiling {name} ..."),
        environment={"SIMT_BUILD_DIR": str(build.folder().absolute())})
    if result.status:
        lines = ui.relative(result.text).split("\n")[:15]
        ui.complain(ui.indent("\n".join(lines)), "dim")
        raise ui.Stop(f"It does not compile (all of it: {log}).")
    if options.trace:
        return trace.show(name, [program, *options.behind], options)
    _run(name, [program, *options.behind], options, "")
    _ask_for_registers(name, str(file), options.gpu)
    shown = " ".join([f"./{name}", *options.behind])
    return _show(name, ui.relative(str(file)), shown, options)


def _file(name: str, kind: str) -> Path:
    """Where one of the files of a run lies."""
    return ui.ROOT / FOLDER / f"{name}.{kind}.json"


def _has(file: Path) -> bool:
    return file.is_file() and file.stat().st_size > 0


def _run(name: str, command: list, options, learners_file: str) -> None:
    """Runs it under the checker. What it finds is no failure of the run; a program that
    writes no report is one."""
    limit = ui.Settings.time_limit or int(os.environ.get("XRAY_TIME_LIMIT", 300))
    report, log = _file(name, "run"), FOLDER / f"{name}.log"
    for file in (report, _file(name, "contract")):
        file.unlink(missing_ok=True)
    ui.note(
        "Running it under the checker; it is some hundred times slower than usual ...")
    result = steps.run(
        command,
        log,
        environment={
            "SIMT_CHECK_JSON": str(report), "SIMT_CHECK_TABLE": "0",
            "SIMT_CHECK_EXIT": "0", **build.THROUGH,
            "SIMT_SEED": options.seed or os.environ.get("SIMT_SEED", "0")},
        seconds=limit)
    # A launch that is too large says with how many blocks it would not be.
    for note in re.findall(r"^==SIMT== note: .*\n(?: +.*\n)*", result.text, re.M):
        ui.say(ui.wrap(ui.relative(note.rstrip())))
    if result.status not in (0, FOUND) and learners_file:
        _stop_if_unsolved(learners_file)
    if _has(report):
        if result.status not in (0, FOUND):
            ui.warn(
                f"The program ended with status {result.status}; what it did before is"
                f" shown (its output: {log}).")
    elif result.status == steps.TIMED_OUT:
        raise ui.Stop(
            f"After {limit} seconds it had not ended: choose a smaller problem (a"
            " chapter: --size TEXT; your program: arguments behind --), or give it more"
            f" time: --time-limit {limit * 4}.")
    else:
        lines = ui.relative(result.text).rstrip().split("\n")[-12:]
        ui.complain(ui.indent("\n".join(lines)), "dim")
        raise ui.Stop(
            f"The program ended with status {result.status} before it could be judged"
            f" (its output: {log}).")


def _stop_if_unsolved(file: str) -> None:
    """A starter has nothing to look at."""
    text = Path(file).read_text(errors="replace")
    if "WB_NOT_SOLVED(" in lint.code_of(text):
        lines = enumerate(text.split("\n"), 1)
        places = [str(number) for number, line in lines if "TODO" in line]
        ui.say(f"not solved yet: write the TODO in {file}:{', '.join(places)}")
        raise ui.Stop(
            "There is nothing to look at yet; --solution shows the solution's"
            " versions.")


def _ask_for_registers(name: str, file: str, gpu: str, *flags: str) -> None:
    """What nvcc says of registers and spills, where it is."""
    output = FOLDER / f"{name}.ptxas"
    output.unlink(missing_ok=True)
    nvcc, model = preset.ask("find_nvcc"), gpus().get(gpu)
    if not nvcc or not model:
        return
    command = [nvcc, "-std=c++20", "-cubin", "-Xptxas", "-v", f"-arch={model['arch']}"]
    result = steps.run(
        [*command, "-o", "/dev/null", *flags, *lint.INCLUDES, file],
        output,
        steps.Step(
            "asking nvcc for registers",
            lambda: "Asking nvcc for registers and spills ..."))
    if result.status:
        output.unlink(missing_ok=True)


def _show(name: str, title: str, program: str, options, own: str = "") -> int:
    """The report, as text and as a page.

    own: the lines that are judged, if not all are"""
    page = _absolute(options.html) if options.html else FOLDER / f"{name}.html"
    command = [sys.executable, "-I", "-S", "-X", "pycache_prefix=.learn/pycache"]
    command += ["tools/xray", "--json", _file(name, "run")]
    command += ["--title", title, "--program", program, "--root", ui.ROOT]
    command += ["--gpu", options.gpu, "--html", page, "--width", ui.width()]
    command += ["--colour"] if ui.has_colour() else []
    if _has(_file(name, "contract")):
        command += ["--contract", _file(name, "contract")]
    if _has(FOLDER / f"{name}.ptxas"):
        command += ["--ptxas", FOLDER / f"{name}.ptxas"]
    if own:
        command += ["--own", own]
    if options.kernel:
        command += ["--kernel", options.kernel]
    if options.rung:
        command += ["--section", options.rung]
    command = list(map(str, command)) + ceilings.option()
    ui.show_command(command)
    if status := subprocess.run(command).returncode:
        return status
    ui.say()
    ui.next_step("Page", str(page))
    return 0
