"""./learn verify-gpu --out DIR [--only PARTS] [--chapters LIST] [--jobs N]

On a machine with a GPU: builds all, runs the suite through nvcc, the solutions
under compute-sanitizer, the benchmarks; a table last, JSON and logs in DIR.
--only takes build, test, sanitize and bench, separated by commas.
--chapters takes names separated by commas; it limits all parts to these chapters.
--jobs says how many tests run at a time. One GPU's programs take turns, and wait.
Where there are two GPUs, the sanitizers run on the second one beside the suite; those
of a chapter that sums over GPUs run last, on all of them.
What could not run is reported as NOT RUN and makes the run fail.
"""

import argparse
import json
import re
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from learn import (
    build, compile_errors, course, ctest, preset, selection, selftest, steps, ui,
    verdicts)

PARTS = ("build", "test", "sanitize", "bench")
JOBS = 16
LONGEST_LOG = 5_000_000  # bytes of one part: more would not travel
GPU_FIELDS = (
    "name", "driver_version", "memory.total", "clocks.sm", "clocks.mem",
    "clocks.max.sm", "clocks.max.mem", "power.limit", "temperature.gpu",
    "ecc.mode.current")


class Part(NamedTuple):
    """One row of the table."""

    name: str
    result: str  # ok, FAILED, NOT RUN
    detail: str
    seconds: int


class Run:
    """What a run works with, and what it has found so far."""

    def __init__(self, out: Path, chapters: list[course.Chapter], jobs: int):
        self.out = out
        self.chapters = chapters
        self.is_whole = len(chapters) == len(course.load())
        self.jobs = jobs
        self.work = build.folder().absolute() / "verify"  # one log per program
        self.gpus = number_of_gpus()
        self.parts: list[Part] = []
        self.began = time.monotonic()
        self.part_began = threading.local()  # two parts may run at the same time

    def begin(self, name: str) -> None:
        self.part_began.time = time.monotonic()
        ui.note(f"== {name} ==")

    def end(
        self, name: str, result: str, detail: str, began: float | None = None
    ) -> None:
        seconds = int(time.monotonic() - (began or self.part_began.time))
        self.parts.append(Part(name, result, detail, seconds))
        ui.say(f"{name}: {result}, {detail}")


def arguments(parser) -> None:
    parser.add_argument("--out")
    parser.add_argument("--only", type=_parts, default=PARTS)
    parser.add_argument("--chapters", type=lambda text: text.split(","), default=[])
    parser.add_argument("--jobs", type=_positive, default=JOBS)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(
            f"--jobs takes a number from 1 on, not '{text}'")
    return int(text)


def _parts(text: str) -> list[str]:
    if not text or not set(text.split(",")) <= set(PARTS):
        raise argparse.ArgumentTypeError(
            "--only takes build, test, sanitize or bench, or several with commas, not"
            f" '{text}'")
    return text.split(",")


def run(options) -> int:
    from learn import verify_bench, verify_sanitize

    if not options.out:
        raise ui.Stop("./learn verify-gpu needs a folder for its results: --out DIR")
    out = (ui.Settings.invoked_from / options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    # The GPU is what this is about: no falling back to the simulator.
    ui.Settings.device = "gpu"
    chapters = selection.chapters(options.chapters) or course.load()
    build.prepare()
    state = Run(out, chapters, min(options.jobs, build.jobs()))
    shutil.rmtree(state.work, ignore_errors=True)
    state.work.mkdir(parents=True)
    # Nothing can be tested that has not been built, so building is part of every run.
    _build(state)
    sanitizers = None
    if "sanitize" in options.only:
        sanitizers = verify_sanitize.Sanitizers(state)
    with ThreadPoolExecutor(1) as beside:
        if sanitizers and "test" in options.only and state.gpus > 1:
            pending = beside.submit(sanitizers.run_on_one_gpu, 1)
            _suite(state)
            _conformance(state)
            pending.result()
        else:
            if "test" in options.only:
                _suite(state)
                _conformance(state)
            if sanitizers:
                sanitizers.run_on_one_gpu(None)
    if sanitizers:
        sanitizers.run_on_all_gpus()
        sanitizers.report()
    if "bench" in options.only:
        verify_bench.run(state)
    _gather_logs(state)
    _write_json(state)
    return _table(state)


def number_of_gpus() -> int:
    number = preset.ask("gpu_query", "count")
    return int(number) if number.isdigit() else 1


def is_explained(reason: str, gpus: int) -> bool:
    """A skip that this machine cannot help: another architecture, more GPUs, or what no
    GPU can do."""
    needs = re.search(r"\bneeds (\d+) GPUs\b", reason)
    if needs:
        return int(needs[1]) > gpus
    return bool(re.search(r"\bsm_\d|\bneeds the simulator\b", reason))


def _build(state: Run) -> None:
    state.begin("build")
    targets = ["workbook"] if state.is_whole else sorted(
        {f"workbook_{chapter.first_stage.target}" for chapter in state.chapters})
    targets += ["conformance"] * build.has_target("conformance")
    result = build.targets(*targets, what="the whole workbook", keep_going=True)
    if result.status == 0:
        number = len(state.chapters)
        state.end("build", "ok", f"nvcc {_nvcc_release()}, {number} chapters")
    else:
        ui.quote(compile_errors.in_words(result.text))
        state.end("build", "FAILED", f"see {build.LOG}")
    (state.work / "build.log").write_text(result.text)


def _nvcc_release() -> str:
    return preset.ask("nvcc_release", preset.chosen().nvcc)


def _suite(state: Run) -> None:
    """A skip counts as a failure, unless the test says what this machine lacks: a suite
    that skips everything must not look green."""
    from learn import verify_wrong

    log = state.work / "ctest.log"
    only = []
    if not state.is_whole:
        keys = "|".join(re.escape(chapter.key) for chapter in state.chapters)
        only = ["-R", f"^({keys})(_fast)?[.]"]
    wrong = verify_wrong.run(state, *selftest.NOT_OURS, *only)
    state.begin("suite")
    # The results travel: a test that fails in thousands of lines must not fill them.
    tests = selftest.run_workbook_tests(
        state.out / "junit.xml", log, "--test-output-size-failed", "20000", *only,
        wrong_together=wrong, jobs=state.jobs)
    selftest.summary(tests, log)
    if tests is None:
        state.end("suite", "FAILED", "CTest ran no tests")
        return
    number = {
        outcome: sum(test.outcome == outcome for test in tests)
        for outcome in ("passed", "failed", "notrun", "skipped")}
    failed = number["failed"] + number["notrun"]
    unexplained = sum(
        test.outcome == "skipped"
        and not is_explained(selftest.reason_of(test) or test.output, state.gpus)
        for test in tests)
    words = f"{number['passed']} passed, {failed} failed, {number['skipped']} skipped"
    if number["passed"] and not failed and not unexplained:
        cases = sum(map(_passed_cases, tests))
        state.end("suite", "ok", f"{words}; {cases} test cases")
    else:
        state.end("suite", "FAILED", f"{words} ({unexplained} without cause)")


def _passed_cases(test: ctest.Test) -> int:
    """How many of a program's, or 1 for a test that is no program with cases."""
    if test.outcome != "passed":
        return 0
    verdict = verdicts.read(verdicts.file_of(build.folder(), test.name))
    cases = verdict.cases if verdict else []
    return max(1, sum(case.verdict == "passed" for case in cases))


def _conformance(state: Run) -> None:
    """The simulator's conformance program, compiled by nvcc: the same answers on a
    GPU."""
    state.begin("conformance")
    program = build.program("conformance")
    if not program:
        why = "there is no program 'conformance' in this build"
        state.end("conformance", "NOT RUN", why)
        return
    file = state.work / "conformance.json"
    file.unlink(missing_ok=True)
    result = steps.run(
        [program], state.work / "conformance.log", seconds=120,
        environment={"WB_VERDICT": str(file)})
    verdict = verdicts.read(file)
    said = [case.verdict for case in verdict.cases] if verdict else []
    words = f"{said.count('passed')} passed, {said.count('failed')} failed"
    is_whole = verdict is not None and verdict.ended and set(said) == {"passed"}
    if result.status == 0 and is_whole:
        state.end("conformance", "ok", words)
    else:
        ui.quote(result.text, 15)
        detail = f"{words}, exit status {result.status}"
        state.end("conformance", "FAILED", detail)


def _gather_logs(state: Run) -> None:
    """Build, suite and conformance in one file, since eight files are all that DIR may
    hold."""
    with open(state.out / "ctest.log", "wb") as gathered:
        for part in ("build", "ctest", "conformance"):
            log = state.work / f"{part}.log"
            if log.is_file():
                gathered.write(f"===== {part} =====\n".encode())
                gathered.write(log.read_bytes()[:LONGEST_LOG])


def _write_json(state: Run) -> None:
    """What was tested, on what, with what result."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    except OSError:
        commit = ""
    compiler = preset.ask("compiler_version", preset.ask("find_compiler"))
    document = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "commit": commit or "unknown",
        "preset": preset.chosen().name,
        "nvcc": _nvcc_release(),
        "compiler": compiler,
        "cmake": preset.ask("cmake_version"),
        # The GPU and its state after the run, as nvidia-smi reports it.
        "gpu": {f: preset.ask("gpu_query", f) or "unknown" for f in GPU_FIELDS},
        "chapters": "all" if state.is_whole else [c.key for c in state.chapters],
        "seconds": int(time.monotonic() - state.began),
        "parts": {
            part.name: {
                "result": part.result, "detail": part.detail, "seconds": part.seconds}
            for part in state.parts},
    }
    (state.out / "verify.json").write_text(json.dumps(document, indent=2) + "\n")


def _table(state: Run) -> int:
    """One line a part, then the verdict: 0 when every part is ok."""
    from learn import verify_bench

    ui.say()
    ui.say(f"{'part':<18} {'result':<8} {'s':>6}  detail")
    for part in state.parts:
        row = f"{part.name:<18} {part.result:<8} {part.seconds:>6}  {part.detail}"
        ui.say(row)
    if rows := verify_bench.rows(state.out / "bench.json"):
        ui.say()
        ui.say("\n".join(rows))
    ui.say()
    not_ok = sum(part.result != "ok" for part in state.parts)
    words = f"{not_ok} parts are not ok" if not_ok else "All parts ok"
    seconds = int(time.monotonic() - state.began)
    ui.say(f"{words} after {seconds} s. Results: {state.out}")
    return 1 if not_ok else 0
