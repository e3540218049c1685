"""The part of ./learn verify-gpu that runs every solution's test program under
compute-sanitizer's four tools. Small sizes only ("~[large]~[long]"): the tools are
slow, and an error that needs a large size is rare."""

import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from learn import build, preset, steps, verdicts

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SLOWEST_FIRST = ("racecheck", "memcheck", "initcheck", "synccheck")
JOBS = 10  # each holds a CUDA context of its own, and keeps a core or two busy
SECONDS = 300  # for one program under one tool; racecheck takes 60 to 150
CASES = "~[large]~[long]~[fault]~[serial]~[goal]"
LONGEST = 12_000_000  # bytes of all logs of a tool
FOUND = 86  # exit status that the tool is told to use


def run(state, gpu: int | None = None) -> None:
    """On the GPU of that number, or on the one that CUDA chooses."""
    sanitizer = _find()
    if not sanitizer:
        for tool in TOOLS:
            state.begin(tool)
            state.end(tool, "NOT RUN", "compute-sanitizer was not found")
        return
    state.begin("compute-sanitizer")
    targets = [f"{chapter.target}_solution" for chapter in state.chapters]
    with ThreadPoolExecutor(JOBS) as pool:
        pending = {
            (tool, target): pool.submit(
                _run_one, sanitizer, tool, target, state.work, gpu)
            for tool in SLOWEST_FIRST
            for target in reversed(targets)}
        results = {key: future.result() for key, future in pending.items()}
    for tool in TOOLS:
        _report(state, tool, {target: results[tool, target] for target in targets})


def _find() -> str | None:
    toolkit = Path(preset.chosen().nvcc).resolve().parent
    for place in ("", toolkit, toolkit.parent / "compute-sanitizer"):
        if found := shutil.which(Path(place, "compute-sanitizer")):
            return found
    return None


def _log(work: Path, tool: str, target: str) -> Path:
    return work / f"{tool}.{target}.log"


def _run_one(
    sanitizer: str, tool: str, target: str, work: Path, gpu: int | None
) -> str:
    """ "ok" only when the tool said that it found nothing and the tests passed."""
    program = build.program(target)
    if not program:
        return "no program"
    options = ["--tool", tool, "--error-exitcode", str(FOUND)]
    if tool == "memcheck":
        # API errors that a test provokes on purpose are not what is looked for.
        options += ["--report-api-errors", "no"]
    if tool == "initcheck":
        # What TMA stores it does not see: Scratch::note_written() tells it, by NVTX.
        options += ["--nvtx", "yes"]
        # NCCL's own kernels read what nobody has written.
        options += ["--kernel-regex-exclude", "kns=ncclDevKernel"]
    file = work / f"{tool}.{target}.json"
    # Our own canaries off: the tool sees the true bounds, and does not watch us poison.
    environment = {"WB_CANARIES": "0", "WB_VERDICT": str(file)}
    if gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = str(gpu)
    began = time.monotonic()
    result = steps.run(
        [sanitizer, *options, program, CASES],
        _log(work, tool, target),
        environment=environment,
        seconds=SECONDS,
    )
    with open(_log(work, tool, target), "a") as log:
        log.write(f"===== {time.monotonic() - began:.0f} s\n")
    # The tool is not ours. Its exit status tells of errors, but not of racecheck's
    # warnings, and what its XML (--xml --save) holds is not documented. So its own
    # summary is read, too.
    summaries = re.findall(r"(?:ERROR|RACECHECK) SUMMARY:.*", result.text)
    if result.status == steps.TIMED_OUT:
        return f"not done after {SECONDS} s"
    if not any(re.search(": 0 (errors|hazards)", line) for line in summaries):
        return summaries[0] if summaries else "no summary"
    if result.status:
        return f"the tests fail under it (exit status {result.status})"
    verdict = verdicts.read(file)
    if not verdict or not any(case.verdict == "passed" for case in verdict.cases):
        return "no test case ran"
    return "ok"


def _report(state, tool: str, results: dict[str, str]) -> None:
    """Gathers the logs into one file and adds a row to the table."""
    with open(state.out / f"sanitizer-{tool}.log", "wb") as gathered:
        for target, result in results.items():
            gathered.write(f"===== {tool} {target}: {result}\n".encode())
            log = _log(state.work, tool, target)
            if log.is_file():
                gathered.write(log.read_bytes()[: LONGEST // len(results)])
    bad = [
        f"{target.removesuffix('_solution')}: {result}"
        for target, result in results.items()
        if result != "ok"]
    if bad:
        state.end(tool, "FAILED", "; ".join(bad))
    else:
        state.end(tool, "ok", f"{len(results)} of {len(results)} programs clean")
