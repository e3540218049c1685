"""./learn test [DAY] [--yes] [--cpu | --gpu]

Checks the workbook itself: solutions, starters, wrong kernels, simulator.
Your own files are not part of it. Ends with "N passed, N failed".
"""

import re
from pathlib import Path

from learn import build, compile_errors, ctest, ui, verdicts

SHOWN_FAILURES = 10  # in full; the rest is in the log
LAST_LINES = 20  # of a failed test's output
NOT_OURS = ("-LE", "^(learner|slow|nvcc|build)$")
TELLING = re.compile(r"FAIL|WRONG|failed|error:|wb\|")


def arguments(parser) -> None:
    parser.add_argument("days", nargs="*")


def run(options) -> int:
    target, only = "workbook", ()
    if options.days:
        match = re.fullmatch("(?:day0?)?([1-7])", options.days[0])
        if not match or len(options.days) > 1:
            raise ui.Stop(
                "./learn test takes a day, not a chapter; to grade one: ./learn check"
                f" {options.days[0]}")
        target, only = f"workbook_day0{match[1]}", ("-L", f"^day0{match[1]}$")
    build.prepare()
    built = build.targets(target, what="the workbook's tests", keep_going=True)
    if built.status:
        if sentence := build.full_disk(built.text):
            raise ui.Stop(sentence)
        # The tests that could be built still say something.
        ui.quote(compile_errors.in_words(built.text))
        ui.say(f"  Not everything could be built; the log is {build.LOG}")
    log = ui.STATE / "log" / "test.log"
    junit = build.folder().absolute() / "test-junit.xml"
    return summary(run_workbook_tests(junit, log, *only), log) or int(built.status != 0)


def run_workbook_tests(
    junit: Path, log: Path, *more: str, wrong_together: Path | None = None,
    jobs: int = 0
) -> list[ctest.Test] | None:
    """Everything but the learner's own cases, and what .ci/run alone runs, for it takes
    long; wrong_together: the cases of a program run in one process, and verdicts of
    known-wrong kernels are in this folder (verify_wrong.py); jobs: so many programs at
    a time, 0: one a core."""
    number = str(jobs or build.jobs())
    environment = wrong_together and {
        "WB_CASES_TOGETHER": str(build.folder().absolute()),
        "WB_WRONG_TOGETHER": str(wrong_together)}
    return ctest.run(
        log, junit, *NOT_OURS, "-j", number, "--output-on-failure", *more,
        environment=environment)


def summary(tests: list[ctest.Test] | None, log: Path) -> int:
    """The failures, then "N passed, N failed" as the last line. 0 when at least one
    test passed and none failed: a run that tested nothing is no success."""
    if tests is None:
        ui.quote(log.read_text(errors="replace") if log.is_file() else "", 6)
        ui.say(ui.paint("FAILED ctest itself, see above", "red"))
        ui.say("0 passed, 1 failed")
        return 1
    failed = [test for test in tests if test.outcome in ("failed", "notrun")]
    skipped = [test for test in tests if test.outcome == "skipped"]
    passed = sum(test.outcome == "passed" for test in tests)
    for test in failed[:SHOWN_FAILURES]:
        ending = f" ({test.ending})" if test.ending else ""  # Timeout, SEGFAULT
        ui.say(ui.paint(f"FAILED {test.name}{ending}", "red"))
        ui.quote(telling_lines(test.output))
    if len(failed) > SHOWN_FAILURES:
        ui.say(f"and {len(failed) - SHOWN_FAILURES} more.")
    if failed:
        ui.say(f"The whole log: {log}")
    if skipped:
        ui.say(f"{len(skipped)} skipped:")
        for test in skipped:
            reason = reason_of(test)
            ui.say(ui.indent(f"{test.name}: {reason}" if reason else test.name))
    ui.say(f"{passed} passed, {len(failed)} failed")
    return 0 if passed and not failed else 1


def reason_of(test: ctest.Test) -> str:
    """Why a test was skipped, if its program says so."""
    verdict = verdicts.read(verdicts.file_of(build.folder(), test.name))
    reasons = [case.reason for case in verdict.cases if case.reason] if verdict else []
    return reasons[0] if reasons else ""


def telling_lines(output: str) -> str:
    """Of a failed test's output the last lines, and of those before them the first few
    that speak of a failure."""
    lines = output.rstrip("\n").split("\n")
    before, last = lines[:-LAST_LINES], lines[-LAST_LINES:]
    telling = [line for line in before if TELLING.search(line)][:8]
    return "\n".join([*telling, "...", *last] if telling else last)
