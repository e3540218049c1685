"""After the tests have passed in the simulator: the same tests once more, in one
process and with every memory access of the learner's kernels announced to the checker.
A right result may be luck; the checker says whether it was. Then the chapter's goals in
counters.

A file that was judged is not judged again until it changes: .learn/safety/KEY holds the
fingerprint of what was judged, and beside it lie the verdicts.
"""

import os
import zlib
from pathlib import Path
from typing import NamedTuple

from learn import build, lint, preset, steps, ui, verdicts
from learn.course import Chapter

FOLDER = ui.STATE / "safety"
CASES = "~[large]~[long]~[fault]~[goal]"
# [long] marks what needs many threads to be right, not to be safe: the learner need not
# wait for it; neither do the workbook's own checked tests run it.


class Safety(NamedTuple):
    """state: safe; unsafe; invalid (no CUDA); wrong (a case fails when all run in one
    process); or why it is not known: unbuilt, slow"""

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


def judge(grade) -> None:
    """Of a chapter that has just passed. WB_SAFETY=0 leaves it out."""
    sim = preset.chosen().name.startswith("sim")
    if not sim or os.environ.get("WB_SAFETY") == "0":
        return
    chapter = grade.chapter
    FOLDER.mkdir(parents=True, exist_ok=True)
    memory = FOLDER / chapter.key
    fingerprint = _fingerprint(chapter)
    try:
        known = memory.read_text().split()
    except OSError:
        known = []
    errors = FOLDER / f"{chapter.key}.lint"
    is_judged = errors.is_file() or _file(chapter, "cases.json").is_file()
    if known[:1] != [fingerprint] or not is_judged:
        errors.unlink(missing_ok=True)
        if text := lint.errors(chapter):
            errors.write_text(text)
        elif not _run(chapter):
            if build.has_target(_target(chapter)):
                grade.safety = Safety("unbuilt")
            return
    grade.safety = _read(chapter, errors)
    if grade.safety.is_known:
        memory.write_text(f"{fingerprint} {grade.safety.state}\n")
    grade.state = {"unsafe": "unsafe", "invalid": "invalid", "wrong": "failing"}.get(
        grade.safety.state, grade.state)


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


def _run(chapter: Chapter) -> bool:
    """Builds the checked program and runs it; false if there is none."""
    target = _target(chapter)
    if not build.has_target(target):
        return False
    if build.targets(target, what=f"the race check of {chapter.name}").status:
        return False
    program = build.program(target)
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
        _run_part(chapter, program, "goals", "[goal]", {}, step)
    return True


def _run_part(chapter, program, part: str, cases: str, environment, step) -> int:
    """The program says after each test case how far it is."""
    file = _file(chapter, f"{part}.json")
    file.unlink(missing_ok=True)
    result = steps.run(
        [program, cases],
        _file(chapter, f"{part}.log"),
        step,
        environment={
            "WB_PROGRESS": "1", "WB_VERDICT": str(file.absolute()),
            "SIMT_CHECK_TABLE": "0",
            **environment},
        seconds=time_limit())
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
        if case.verdict in ("failed", "unsolved", "running"):
            return Safety("wrong", case.findings, case=case.name)
    if not verdict.ended:
        return Safety("wrong")
    goals = verdicts.read(_file(chapter, "goals.json"))
    found = verdicts.findings(goals) if goals else []
    return Safety("safe", goals=[f for f in found if f.kind == "goal_missed"])
