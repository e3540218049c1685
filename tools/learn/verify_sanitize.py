"""The part of ./learn verify-gpu that runs every solution's test program under
compute-sanitizer's four tools. Small sizes only ("~[large]~[long]"): the tools are
slow, and an error that needs a large size is rare."""

import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from learn import build, preset, steps, verdicts
from learn.verify_gpu import is_explained

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SLOWEST_FIRST = ("racecheck", "memcheck", "initcheck", "synccheck")
JOBS = 10  # each holds a CUDA context of its own, and keeps a core or two busy
SECONDS = 300  # for one program under one tool; racecheck takes 60 to 150
CASES = "~[large]~[long]~[fault]~[serial]~[goal]"
LONGEST = 12_000_000  # bytes of all logs of a tool
SKIPPED = 4  # exit status of a test program that left cases out
OTHER_GPU = "need another GPU"
FOUND = 86  # exit status that the tool is told to use


class Sanitizers:
    """The four tools on the chapters of a run."""

    def __init__(self, state):
        self.state = state
        self.began = time.monotonic()
        self.tool = _find()
        self.results: dict[tuple[str, str], str] = {}
        several = [c for c in state.chapters if _sums_over_gpus(c)]
        self.one = [f"{c.target}_solution" for c in state.chapters if c not in several]
        self.all = [f"{c.target}_solution" for c in several]
        if state.gpus == 1:
            self.one, self.all = self.one + self.all, []

    def run_on_one_gpu(self, gpu: int | None) -> None:
        """On the GPU of that number, or on the one that CUDA chooses."""
        if not self.tool or not self.one:
            return
        self.state.begin("compute-sanitizer")
        with ThreadPoolExecutor(JOBS) as pool:
            pending = {
                (tool, target): pool.submit(self._run_one, tool, target, gpu)
                for tool in SLOWEST_FIRST
                for target in reversed(self.one)}
            self.results |= {key: one.result() for key, one in pending.items()}

    def run_on_all_gpus(self) -> None:
        """Chapters whose ranks wait for each other: nothing beside them."""
        if not self.tool or not self.all:
            return
        self.state.begin("compute-sanitizer, all GPUs")
        for target in self.all:
            for tool in SLOWEST_FIRST:
                self.results[tool, target] = self._run_one(tool, target, None)

    def report(self) -> None:
        for tool in TOOLS:
            result, detail = "NOT RUN", "compute-sanitizer was not found"
            if self.tool:
                result, detail = _gather(self.state, tool, {
                    target: self.results[tool, target]
                    for target in self.one + self.all})
            self.state.end(tool, result, detail, self.began)

    def _run_one(self, tool: str, target: str, gpu: int | None) -> str:
        return _run_one(self.tool, tool, target, self.state, gpu)


def _sums_over_gpus(chapter) -> bool:
    """What calls NCCL has tests for several GPUs."""
    return "check_nccl.h" in Path(chapter.solution).read_text()


def _find() -> str | None:
    toolkit = Path(preset.chosen().nvcc).resolve().parent
    for place in ("", toolkit, toolkit.parent / "compute-sanitizer"):
        if found := shutil.which(Path(place, "compute-sanitizer")):
            return found
    return None


def _log(work: Path, tool: str, target: str) -> Path:
    return work / f"{tool}.{target}.log"


def _run_one(
    sanitizer: str, tool: str, target: str, state, gpu: int | None
) -> str:
    """ "ok" only when the tool said that it found nothing and the tests passed."""
    work = state.work
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
    verdict = verdicts.read(file)
    cases = verdict.cases if verdict else []
    skipped = [case.reason for case in cases if case.verdict == "skipped"]
    for reason in skipped:
        if not is_explained(reason, state.gpus):
            return f"skipped: {reason}"
    if result.status not in (0, SKIPPED) or result.status == SKIPPED and not skipped:
        return f"the tests fail under it (exit status {result.status})"
    if skipped and len(skipped) == len(cases):
        return OTHER_GPU
    if not any(case.verdict == "passed" for case in cases):
        return "no test case ran"
    return "ok"


def _gather(state, tool: str, results: dict[str, str]) -> tuple[str, str]:
    """The logs into one file; what the table says of this tool."""
    with open(state.out / f"sanitizer-{tool}.log", "wb") as gathered:
        for target, result in results.items():
            gathered.write(f"===== {tool} {target}: {result}\n".encode())
            log = _log(state.work, tool, target)
            if log.is_file():
                gathered.write(log.read_bytes()[: LONGEST // len(results)])
    bad = [
        f"{target.removesuffix('_solution')}: {result}"
        for target, result in results.items()
        if result not in ("ok", OTHER_GPU)]
    said = list(results.values())
    others = f", {said.count(OTHER_GPU)} {OTHER_GPU}" * (OTHER_GPU in said)
    if bad:
        return "FAILED", "; ".join(bad)
    return "ok", f"{said.count('ok')} of {len(said)} programs clean{others}"
