"""After the tests have passed in the simulator: the same tests once more, in one
process and with every memory access of the learner's kernels announced to the checker.
A right result may be luck; the checker says whether it was. Then the chapter's goals in
counters.

A file that was judged is not judged again until it changes: .learn/safety/KEY holds the
fingerprint of what was judged, and beside it lie the verdicts.
"""

import os
import re
import zlib
from pathlib import Path
from typing import NamedTuple

from learn import build, lint, preset, steps, ui, verdicts
from learn.course import Chapter

FOLDER = ui.STATE / "safety"
CASES = "~[large]~[long]~[fault]~[goal]"
NOT_RIGHT = ("failed", "unsolved", "running")
WRONG_ANSWER = frozenset(
    ("wrong_result", "damaged_memory", "changed_input", "check_failed"))
# [long] marks what needs many threads to be right, not to be safe: the learner need not
# wait for it; neither do the workbook's own checked tests run it.


class Safety(NamedTuple):
    """state: safe; unsafe; invalid (no CUDA); wrong (a case fails when all run in one
    process, or the program ends early); or why it is not known: unbuilt, slow. Only who
    is safe has passed."""

    state: str
    findings: list | tuple = ()  # unsafe, wrong: what was found
    goals: list | tuple = ()  # safe: goals that were missed
    errors: str = ""  # invalid: as a compiler puts them
    case: str = ""  # wrong: the first case that fails

    @property
    def is_known(self) -> bool:
        return self.state in ("safe", "unsafe", "invalid", "wrong")


def time_limit() -> int:
    """Seconds for all cases together."""
    return max(ui.Settings.time_limit, 120)


def is_wanted() -> bool:
    """WB_SAFETY=0 leaves the checker out."""
    is_simulator = preset.chosen().name.startswith("sim")
    return is_simulator and os.environ.get("WB_SAFETY") != "0"


def remembered(chapter: Chapter) -> list[str]:
    """The fingerprint that was judged last, and the state. To be read before the
    learner's code runs, which can write files."""
    try:
        return (FOLDER / chapter.key).read_text().split()
    except OSError:
        return []


def judge(grade, known: list[str]) -> None:
    """Of a chapter that has just passed.

    known: what was remembered() before its tests ran
    """
    chapter = grade.chapter
    if not is_wanted() or not build.has_target(_target(chapter)):
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    memory = FOLDER / chapter.key
    memory.unlink(missing_ok=True)
    fingerprint = _fingerprint(chapter)
    errors = FOLDER / f"{chapter.key}.lint"
    is_judged = errors.is_file() or _file(chapter, "cases.json").is_file()
    if known[:1] == [fingerprint] and is_judged:
        grade.safety = _read(chapter, errors)
    else:
        errors.unlink(missing_ok=True)
        if text := lint.errors(chapter):
            errors.write_text(text)
        is_built = bool(text) or _run(chapter)
        grade.safety = _read(chapter, errors) if is_built else Safety("unbuilt")
    if grade.safety.is_known:
        memory.write_text(f"{fingerprint} {grade.safety.state}\n")
    grade.state = {
        "unsafe": "unsafe", "invalid": "invalid", "wrong": "failing",
        "unbuilt": "unchecked", "slow": "unchecked"}.get(
            grade.safety.state, grade.state)


def look_at(grade) -> None:
    """Of a chapter whose first failing case gives a wrong answer: runs that case once
    under the checker. A race, for example, says more than what it led to."""
    case = grade.first
    if not is_wanted() or not case or not WRONG_ANSWER.intersection(
            finding.kind for finding in case.findings):
        return
    if any(map(verdicts.is_of_checker, case.findings)):
        return  # the simulator has seen it without the checker
    program = _build(grade.chapter)
    if not program:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    step = steps.Step(
        "checking the failing case",
        lambda: f"Checking the failing case of {grade.chapter.name} for races ...")
    name = re.sub(r"([\\,\[])", r"\\\1", case.name)
    _run_part(grade.chapter, program, "failing", name, {"SIMT_CHECK_COUNT": "0"}, step)
    if verdict := verdicts.read(_file(grade.chapter, "failing.json")):
        found = filter(verdicts.is_of_checker, verdicts.findings(verdict))
        grade.found_in_first = list(found)


def _target(chapter: Chapter) -> str:
    return f"{chapter.target}_checked"


def _file(chapter: Chapter, part: str) -> Path:
    return FOLDER / f"{chapter.key}.{part}"


def _fingerprint(chapter: Chapter) -> str:
    """Of everything of the chapter that a verdict depends on."""
    checksum = 0
    for pattern in (f"{chapter.path}/*.cu", f"{chapter.path}/*.h",
                    f"tests/{chapter.path}/*.cpp"):
        for file in sorted(Path().glob(pattern)):
            checksum = zlib.crc32(file.read_bytes(), checksum)
    return f"{checksum:08x}"


def _build(chapter: Chapter) -> list | None:
    """The command that runs the checked program; None if there is none."""
    target = _target(chapter)
    if not build.has_target(target):
        return None
    built = build.targets(
        target, "wb_supervise", what=f"the race check of {chapter.name}")
    command = [build.program("wb_supervise"), build.program(target)]
    return command if built.status == 0 and all(command) else None


def _run(chapter: Chapter) -> bool:
    """Builds the checked program and runs it; false if that is not possible."""
    program = _build(chapter)
    if not program:
        return False
    # Races first; what an access costs is counted for the goals only.
    step = steps.Step(
        "checking for races: case", lambda: f"Checking {chapter.name} for races ...")
    environment = {"SIMT_CHECK_COUNT": "0"}
    status = _run_part(chapter, program, "cases", CASES, environment, step)
    _file(chapter, "goals.json").unlink(missing_ok=True)
    if status in (0, 4):  # 4: some cases were skipped
        step = steps.Step(
            "counting memory accesses: case",
            lambda: f"Counting the memory accesses of {chapter.name} ...")
        goals = "[goal]" if chapter.is_faster else "[goal]~[fast]"
        _run_part(chapter, program, "goals", goals, {}, step)
    return True


def _run_part(chapter, command, part: str, cases: str, environment, step) -> int:
    """The program says after each test case how far it is."""
    file = _file(chapter, f"{part}.json")
    file.unlink(missing_ok=True)
    result = steps.run(
        [*command, cases],
        _file(chapter, f"{part}.log"),
        step,
        environment={
            "WB_PROGRESS": "1", "WB_VERDICT": str(file.absolute()),
            "SIMT_CHECK_TABLE": "0",
            **build.THROUGH,
            **environment},
        seconds=time_limit())
    if result.status < 0:  # who writes the verdict was ended, not what it watched
        file.unlink(missing_ok=True)
    if result.status == steps.TIMED_OUT:
        file.unlink(missing_ok=True)
        _file(chapter, f"{part}.slow").touch()
    else:
        _file(chapter, f"{part}.slow").unlink(missing_ok=True)
    return result.status


def _read(chapter: Chapter, errors: Path) -> Safety:
    """What the last run has left behind."""
    if errors.is_file():
        return Safety("invalid", errors=errors.read_text())
    if _file(chapter, "cases.slow").exists():
        return Safety("slow")
    verdict = verdicts.read(_file(chapter, "cases.json"))
    if not verdict:  # it died before it could write one
        return Safety("wrong")
    found = list(filter(verdicts.is_of_checker, verdicts.findings(verdict)))
    if found:
        return Safety("unsafe", found)
    for case in verdict.cases:
        if case.verdict in NOT_RIGHT:
            return Safety("wrong", case.findings, case=case.name)
    if not verdict.ended:
        return Safety("wrong", verdict.findings or ())
    if _file(chapter, "goals.slow").exists():
        return Safety("slow")
    goals = verdicts.read(_file(chapter, "goals.json"))
    if not goals:
        return Safety("wrong")
    found = verdicts.findings(goals)
    missed = [f for f in found if f.kind == "goal_missed"]
    failed = [case for case in goals.cases if case.verdict in NOT_RIGHT]
    if not goals.ended or any(
            f.kind != "goal_missed" for case in failed for f in case.findings):
        rest = [f for f in found if f.kind != "goal_missed"]
        return Safety("wrong", rest, case=failed[0].name if failed else "")
    return Safety("safe", goals=missed)
