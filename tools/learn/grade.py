"""Grading one chapter: build its test program, run its cases, and say how they
ended."""

import math
import re
from pathlib import Path
from typing import NamedTuple

from learn import (
    build, compile_errors, ctest, lint, passes, preset, progress, ui, verdicts)
from learn.course import Chapter

CTEST_LOG = ui.STATE / "log" / "ctest.log"
RECORDED = {"invalid": "nocompile"} | {
    state: state for state in ("passed", "unsafe", "unsolved", "failing", "nocompile")}
"""What the progress file says of a state; others leave it alone."""


class Case(NamedTuple):
    """One test case, judged by its verdict and by how its program ended."""

    name: str
    outcome: str  # passed failed unsolved skipped not_run
    findings: list[verdicts.Record] | tuple = ()
    reason: str = ""  # skipped, not_run: why
    ending: str = ""  # "Timeout", "SEGFAULT", ...: what CTest says, if not "Failed"
    output: str = ""  # all that the program printed
    test: str = ""  # its name in CTest
    has_died: bool = False  # its program ended before it
    functions: dict[str, str] = {}  # what it has graded, and the verdict on each

    @property
    def was_stopped(self) -> bool:
        """Did it take longer than it may?"""
        return self.ending == "Timeout" or any(
            finding.kind == "time_limit" for finding in self.findings)

    @property
    def is_only_slow(self) -> bool:
        """Is that all that is known of it?"""
        return self.was_stopped and all(
            finding.kind == "time_limit" for finding in self.findings)


class Grade:
    """What became of a chapter.

    state: passed; unsafe, invalid, unchecked (safety.py); unsolved, failing; nocompile,
    broken
    (not the learner's fault), full (the disk); skipped, stopped, notests, nofile: not
    graded """

    def __init__(self, chapter: Chapter):
        self.chapter = chapter
        self.state = "notests"
        self.cases: list[Case] = []
        self.log = ""  # of the build, or of CTest
        self.warnings: list[str] = []  # of the compiler, in the learner's file
        self.is_checked_built = False  # the program for the checker, just now
        self.safety = None  # safety.Safety, after a pass in the simulator
        # What the checker says of the first failing case.
        self.found_in_first: list[verdicts.Record] = []

    def number(self, *outcomes: str) -> int:
        return sum(case.outcome in outcomes for case in self.cases)

    @property
    def passed(self) -> int:
        return self.number("passed")

    @property
    def failed(self) -> int:
        return self.number("failed", "unsolved")

    @property
    def functions(self) -> dict[str, str]:
        """The chapter's functions, if it has several, each with its verdict: that of
        the case that says the worst of it. In the order of the contract; of each, the
        versions, and behind them what the contract asks for.

        A case ends at the first function that fails. Of another one that it may have
        come to, we do not know: "open", if nothing else is wrong with it."""
        worst = ("failed", "running", "unsolved", "open", "passed")
        result: dict[str, str] = {}
        for case in self.cases:
            for name, verdict in case.functions.items():
                if verdict in worst and " " not in name:
                    known = result.get(name, verdict)
                    result[name] = min(known, verdict, key=worst.index)
        for name, verdict in result.items():
            if verdict == "passed" and self._may_hide(name):
                result[name] = "open"
        bases = list(dict.fromkeys(
            [*contract_names(self.chapter), *(_version(name)[0] for name in result)]))

        def place(name: str) -> tuple[int, float]:
            base, number = _version(name)
            return bases.index(base), number

        in_order = {name: result[name] for name in sorted(result, key=place)}
        return in_order if len(result) > 1 else {}

    def _may_hide(self, function: str) -> bool:
        """Did a case fail at another function, before it came to this one? The order is
        that of cases which grade both; a variant (sum_bf16) stands behind its like."""
        orders = [list(case.functions) for case in self.cases if case.functions]
        before = {other for order in orders if function in order
                  for other in order[:order.index(function)]}
        failed_at = {list(case.functions)[-1] for case in self.cases
                     if case.outcome in ("failed", "unsolved") and case.functions
                     and function not in case.functions}
        return any(other in before or function.startswith(f"{other}_")
                   for other in failed_at)

    @property
    def goals(self) -> list:
        """The performance goals that a pass has missed."""
        return list(self.safety.goals) if self.safety else []

    @property
    def first(self) -> Case | None:
        """The first failing case. Where a chapter has several functions, a wrong one is
        reported before those that are not written yet. A case that was stopped comes
        behind those that say what is wrong: a race, for example, may be why it did not
        end, and on a machine with other work it may only have been slow."""
        for outcome in ("failed", "unsolved", "skipped"):
            cases = [case for case in self.cases if case.outcome == outcome]
            if cases:
                return min(cases, key=lambda case: case.is_only_slow)
        return None


def contract_names(chapter: Chapter) -> list[str]:
    """What stands in front of a "(" in the code of the contract, in its order: the
    functions that it asks for, and a few others. Both stages have one contract."""
    contract = Path(chapter.first_stage.file).with_suffix(".h")
    text = contract.read_text(errors="replace") if contract.is_file() else ""
    return re.findall(r"\b(\w+)\(", lint.code_of(text))


def _version(function: str) -> tuple[str, float]:
    """ "dot" and 2 of "dot_v2"; the function itself comes behind its versions."""
    if match := re.fullmatch(r"(.*)_v(\d+)", function):
        return match[1], int(match[2])
    return function, math.inf


def number_right(result: Grade) -> tuple[int, int]:
    """How many of the chapter's functions are right, of how many; 0 of 0 if it has only
    one. Those that are given, whole, are nobody's merit as long as they are alone."""
    right = {name for name, said in result.functions.items() if said == "passed"}
    file = Path(result.chapter.file)
    code = lint.code_of(file.read_text(errors="replace")) if file.is_file() else ""
    given = {name for name in right.intersection(contract_names(result.chapter))
             if not re.search(rf"\b{name}\(", code)}
    if right == given:
        return 0, len(result.functions)
    return len(right), len(result.functions)


def time_limit() -> int:
    """The seconds that a single case may take. In the simulator the slowest case of a
    solution takes 3; on a GPU, its first use may take long."""
    return ui.Settings.time_limit or (120 if preset.chosen().on_gpu else 20)


def grade(chapter: Chapter) -> Grade:
    """Grades a chapter and records the result."""
    from learn import safety

    result = Grade(chapter)
    if not Path(chapter.file).is_file():
        result.state = "nofile"
        return result
    if checked := safety.target_if_built(chapter):
        built, result.is_checked_built = build.together(
            chapter.target, checked, what=chapter.name)
    else:
        built = build.targets(chapter.target, what=chapter.name)
    result.log = built.text
    if built.status == 0:
        result.warnings = compile_errors.warnings(built.text, chapter.file)
        known = safety.remembered(chapter)
        with safety.lint_beside(chapter, known) as lint_errors:
            run_or_recall(result)
    else:
        error = compile_errors.first(built.text, chapter.file)
        if build.full_disk(built.text):
            result.state = "full"
        elif error and error.is_learners(chapter.file):
            result.state = "nocompile"
        else:
            result.state = "broken"
    if result.state == "passed":
        safety.judge(result, known, lint_errors)
    elif result.state == "failing":
        safety.look_at(result)
    if result.state in RECORDED:
        right, total = number_right(result)
        part = f"{right}/{total}" if 0 < right < total else ""
        progress.record_grade(
            chapter.key, RECORDED[result.state], part, len(result.goals))
    return result


def run_or_recall(result: Grade) -> None:
    """Runs the learner's cases, unless just this program has passed them before."""
    key = result.chapter.key
    mark = passes.fingerprint(build.program(result.chapter.target))
    if known := passes.recall(key, mark):
        result.cases = [
            Case(name, outcome, reason=reason, test=test)
            for name, outcome, reason, test in known]
        result.state = "passed"
        return
    run_cases(result, r"\.", "^learner$", CTEST_LOG, limited=True)
    passes.forget(key)  # whatever the learner's code may have written there
    if mark and result.state == "passed":
        passes.remember(key, mark, result.cases)


def run_cases(
    result: Grade, pattern: str, label: str, log: Path, *, limited: bool) -> None:
    """Runs the chapter's tests whose names go on with `pattern`, and sets the state.
    Neither "no tests were found" nor "all were skipped" is a pass, though CTest ends
    with 0."""
    prefix = result.chapter.key
    folder = build.folder().absolute()
    for old in (folder / "verdicts").glob(f"{prefix}.*.json"):
        old.unlink()
    environment, jobs, program = {}, build.jobs(), ""
    if limited:
        program = result.chapter.target  # the learner's; there is no other in the label
        # The first case that does not end within the limit leaves the file behind, and
        # those that start later do not run: else a chapter that hangs takes minutes.
        stop = folder / "learn-stop"
        stop.unlink(missing_ok=True)
        environment = {"WB_TIME_LIMIT": str(time_limit()), "WB_STOP_FILE": str(stop)}
        jobs = 2
    tests = ctest.run(
        log, folder / "learn-junit.xml",
        *("-R", f"^{re.escape(prefix)}{pattern}", "-L", label, "-j", str(jobs)),
        of=program, environment=environment)
    if not tests:
        result.log = log.read_text(errors="replace") if log.is_file() else ""
        result.state = "full" if build.full_disk(result.log) else "notests"
        return
    result.cases = [
        judge(test, verdicts.read(verdicts.file_of(folder, test.name)), prefix)
        for test in tests]
    result.state = state_of(result)


def judge(test: ctest.Test, verdict: verdicts.Record | None, prefix: str) -> Case:
    """One test: what its program wrote, and whether it lived to write all of it."""
    name = test.name.removeprefix(f"{prefix}.")
    outcome, findings, reason, died = "failed", (), "", False
    if verdict:
        findings = verdicts.findings(verdict)
        said = [case.verdict for case in verdict.cases]
        reason = next((case.reason for case in verdict.cases if case.reason), "")
        for kind in ("failed", "running", "unsolved", "not_run", "skipped", "passed"):
            if kind in said:
                outcome = "failed" if kind == "running" else kind
                break
        # Only who has come to the end has passed.
        ended_well = verdict.ended and test.outcome in ("passed", "skipped")
        if not ended_well and outcome in ("passed", "skipped"):
            outcome = "failed"
        died = not verdict.ended
    functions = {}
    for case in verdict.cases if verdict else ():
        functions |= case.functions or {}
    return Case(name, outcome, findings, reason, test.ending, test.output, test.name,
                died, functions)


def state_of(result: Grade) -> str:
    if result.number("failed"):
        return "failing"
    if result.number("unsolved"):
        return "unsolved"
    if result.number("not_run"):
        # Nothing failed, and yet cases were left out: that is no pass.
        return "stopped"
    if result.passed:
        return "passed"
    return "skipped" if result.number("skipped") else "notests"
