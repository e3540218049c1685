"""After the tests have passed in the simulator: the same tests once more, many in one
process (shares.py) and with every memory access of the learner's kernels announced to
the checker. A right result may be luck; the checker says whether it was. Then the
chapter's goals in counters.

A file that was judged is not judged again until it changes: .learn/safety/KEY holds the
fingerprint of what was judged, and beside it lie the verdicts.
"""

import contextlib
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, NamedTuple

from learn import build, lint, preset, shares, steps, ui, verdicts
from learn.course import Chapter

FOLDER = ui.STATE / "safety"
CASES = "~[large]~[long]~[fault]~[goal]~[values]"
FAST = {"SIMT_CHECK_COUNT": "0"}  # what an access costs is counted for the goals only
NOT_RIGHT = ("failed", "unsolved", "running")
WRONG_ANSWER = frozenset(
    ("wrong_result", "damaged_memory", "changed_input", "check_failed"))
# [long] marks what needs many threads to be right, not to be safe: the learner need not
# wait for it; neither do the workbook's own checked tests run it. [values] marks what
# other numbers make of accesses that other cases have as well; they leave it out, too.


class Safety(NamedTuple):
    """state: safe; unsafe; invalid (no CUDA); wrong (a case fails when many run in one
    process, or the program ends early); or why it is not known: unbuilt, slow,
    incomplete (a case was not run, though nothing says why). Only who is safe has
    passed."""

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


@contextlib.contextmanager
def lint_beside(chapter: Chapter, known: list[str]):
    """Looks for what a GPU cannot run while something else is done; gives a function
    that waits for what was found. Not where judge() need not ask."""
    if not is_wanted() or known[:1] == [_fingerprint(chapter)]:
        yield lambda: lint.errors(chapter)
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(lint.errors, chapter).result


def judge(grade, known: list[str], lint_errors: Callable[[], str]) -> None:
    """Of a chapter that has just passed.

    known: what was remembered() before its tests ran
    lint_errors: what a GPU cannot run
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
        if text := lint_errors():
            errors.write_text(text)
        why_not = "" if text else _run(grade)
        grade.safety = Safety(why_not) if why_not else _read(chapter, errors)
    if grade.safety.is_known:
        memory.write_text(f"{fingerprint} {grade.safety.state}\n")
    grade.state = {
        "unsafe": "unsafe", "invalid": "invalid", "wrong": "failing",
        "unbuilt": "unchecked", "slow": "unchecked", "incomplete": "unchecked"}.get(
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
    program = _build(grade)
    if not program:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    step = steps.Step(
        "checking the failing case",
        lambda: f"Checking the failing case of {grade.chapter.name} for races ...")
    _run_part(
        grade.chapter, program, "failing", shares.filter_of([case.name]), FAST, step)
    if verdict := verdicts.read(_file(grade.chapter, "failing.json")):
        found = filter(verdicts.is_of_checker, verdicts.findings(verdict))
        grade.found_in_first = list(found)


def target_if_built(chapter: Chapter) -> str:
    """The program for the checker, if it was built before. Then it is worth building
    together with the plain one. The first time it may need the checker, and the first
    verdict does not wait for that."""
    target = _target(chapter)
    is_built = is_wanted() and (build.folder() / target).is_file()
    return target if is_built else ""


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


def _build(grade) -> list | None:
    """The command that runs the checked program; None if there is none."""
    target = _target(grade.chapter)
    if not build.has_target(target):
        return None
    if not grade.is_checked_built and build.targets(
            target, "wb_supervise",
            what=f"the race check of {grade.chapter.name}").status:
        return None
    command = [build.program("wb_supervise"), build.program(target)]
    return command if all(command) else None


def _run(grade) -> str:
    """Builds the checked program and runs it; else why that is not possible."""
    chapter, program = grade.chapter, _build(grade)
    if not program:
        return "unbuilt"
    step = steps.Step(
        "checking for races: case", lambda: f"Checking {chapter.name} for races ...")
    status = _run_cases(chapter, program, step)
    if status is None:
        return "incomplete"
    _file(chapter, "goals.json").unlink(missing_ok=True)
    if status in (0, 4):  # 4: some cases were skipped
        step = steps.Step(
            "counting memory accesses: case",
            lambda: f"Counting the memory accesses of {chapter.name} ...")
        _run_part(chapter, program, "goals", _goals_of(chapter), {}, step)
    return ""


def _goals_of(chapter: Chapter) -> str:
    """The cases with goals of its stage. Goals of what the second stage is given have
    the tag [first]."""
    return "[goal]~[first]" if chapter.is_faster else "[goal]~[fast]"


def _run_cases(chapter, command, step) -> int | None:
    """All cases, in as many processes as there are cores; None if one was left out."""
    log, file = _file(chapter, "cases.log"), _file(chapter, "cases.json")
    names = []
    if build.jobs() > 1:
        names = shares.names(command, CASES, log, _environment())
    if len(names) < 2:
        return _run_part(chapter, command, "cases", CASES, FAST, step)
    seconds = shares.seconds_of(chapter.key, names)
    ran = shares.run(
        command, shares.deal(names, seconds, build.jobs()), log, step,
        environment=_environment() | FAST, seconds=time_limit())
    _note_slow(chapter, "cases", any(one.status == steps.TIMED_OUT for one in ran))
    file.unlink(missing_ok=True)
    if any(one.status == steps.TIMED_OUT for one in ran):
        return steps.TIMED_OUT
    document = shares.merge(ran, names)
    if not document:
        return None
    shares.write(document, file)
    return max((one.status for one in ran), key=lambda status: status not in (0, 4))


def _environment() -> dict:
    """The program says after each test case how far it is."""
    return {"WB_PROGRESS": "1", "SIMT_CHECK_TABLE": "0", **build.THROUGH}


def _run_part(chapter, command, part: str, cases: str, environment, step) -> int:
    file = _file(chapter, f"{part}.json")
    file.unlink(missing_ok=True)
    result = steps.run(
        [*command, cases],
        _file(chapter, f"{part}.log"),
        step,
        environment={
            **_environment(), "WB_VERDICT": str(file.absolute()), **environment},
        seconds=time_limit())
    if result.status < 0:  # who writes the verdict was ended, not what it watched
        file.unlink(missing_ok=True)
    if result.status == steps.TIMED_OUT:
        file.unlink(missing_ok=True)
    _note_slow(chapter, part, result.status == steps.TIMED_OUT)
    return result.status


def _note_slow(chapter, part: str, is_slow: bool) -> None:
    mark = _file(chapter, f"{part}.slow")
    if is_slow:
        mark.touch()
    else:
        mark.unlink(missing_ok=True)


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
