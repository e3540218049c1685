"""The report on a chapter that is wrong: the first failing case in full, then the names
of the others."""

import re

from learn import build, grade, preset, safety, ui, verdicts

SHOWN_LINES = 30  # more of a failure scrolls the verdict off a small terminal
OTHER_CASES = 5


def headline(result: grade.Grade) -> str:
    if result.safety and _ended_early(result.safety.findings):
        return "NOT RIGHT YET, it ends the program"
    if result.safety:
        return "NOT RIGHT YET, it depends on the order of cases"
    total = ui.count(len(result.cases) - result.number("skipped"), "case")
    where = preset.chosen().in_words
    return f"NOT RIGHT YET, {result.failed} of {total} fail {where}"


def explain(result: grade.Grade) -> None:
    """All between the headline and what to do next."""
    if result.safety:
        _wrong_in_one_process(result)
    else:
        _first_case(result, result.first)
        _other_cases(result)


def show_command(result: grade.Grade) -> None:
    """Under -v: how to run just the first failing case."""
    pattern = re.sub(r"([][\\.*^$+?(){}|])", r"\\\1", result.first.test)
    command = ["ctest", "--test-dir", build.folder(), "--output-on-failure"]
    ui.show_command([*command, "-R", f"^{pattern}$"])


def text_of(case: grade.Case) -> str:
    return verdicts.text(f for f in case.findings if f.kind != "time_limit")


def longer(result: grade.Grade, limit: int) -> str:
    """The command that grades with a longer limit."""
    return f"./learn check {result.chapter.name} --time-limit {limit * 4}"


def _first_case(result: grade.Grade, case: grade.Case) -> None:
    ui.say(ui.paint(f"  First failing case: {case.name}", "bold"))
    hang = next((f for f in case.findings if f.kind == "time_limit"), None)
    if case.was_stopped:
        _hang(result, hang)
    elif _ended_early(case.findings):
        pass  # its own words say how
    elif case.ending:
        ui.tell(f"The program ended early: {case.ending}.")
    elif case.has_died:
        ui.tell("The program ended too early: does your code end it?")
    if result.found_in_first:
        ui.tell("The answer is wrong. The checker has found why it may be:", 2)
        ui.say(_first_lines(verdicts.text(result.found_in_first[:1])))
        if more := len(result.found_in_first) - 1:
            log = safety.FOLDER / f"{result.chapter.key}.failing.log"
            ui.say(f"  {more} more below it ({log}).")
        ui.tell("The answer itself:", 2)
    text = text_of(case)
    if not text and not hang and (case.ending or not case.has_died):
        # No words of ours: the test program's own are better than none.
        text = "\n".join(case.output.strip().split("\n")[-15:])
    if text:
        ui.say(_first_lines(text))
    if ui.Settings.verbose:
        ui.note("  Everything that the test program printed:")
        ui.quote(case.output)
    ui.say()


def _ended_early(findings) -> bool:
    return any(finding.kind == "ended_early" for finding in findings)


def _first_lines(text: str) -> str:
    return "\n".join(ui.wrap(ui.indent(text)).split("\n")[:SHOWN_LINES])


def _hang(result: grade.Grade, finding) -> None:
    """A case that was ended by force."""
    limit = grade.time_limit()
    seconds = finding.numbers.get("measured", limit) if finding else limit
    after = f"{seconds:.0f} seconds" if finding else f"the limit of {limit} seconds"
    ui.tell(
        f"It did not end within {after}: is there a loop that never ends, on the host"
        " or in a kernel, or a barrier that some threads never reach?")
    ui.tell(f"If it only needs longer: {longer(result, round(seconds))}")


def _other_cases(result: grade.Grade) -> None:
    wrong = [c for c in result.cases if c.outcome in ("failed", "unsolved")]
    others = [case.name for case in wrong if case is not result.first]
    if others:
        ui.say("  Also failing:")
        for name in others[:OTHER_CASES]:
            ui.say(f"    {name}")
        if len(others) > OTHER_CASES:
            ui.say(f"    and {len(others) - OTHER_CASES} more")
    if result.passed:
        verb = "passes" if result.passed == 1 else "pass"
        ui.say(f"  {ui.count(result.passed, 'case')} {verb}.")
    if not_run := result.number("not_run"):
        cases = ui.count(not_run, "case")
        slow = next((case for case in wrong if case.was_stopped), result.first)
        which = "this one" if slow is result.first else f'"{slow.name}"'
        ui.tell(f"Not run, because {which} took so long: {cases}.", 2)
    ui.say()


def _wrong_in_one_process(result: grade.Grade) -> None:
    """Also: under the checker only."""
    cases = ui.count(result.passed, "case")
    if _ended_early(result.safety.findings):
        ui.tell(f"The {cases} pass, but when they run under the checker:", 2)
    else:
        ui.tell(
            f"Each of the {cases} passes alone, but not when many run in one process,"
            " one after the other: does your code keep something from call to call?", 2)
    if result.safety.case:
        ui.say(ui.paint(f"  First failing case: {result.safety.case}", "bold"))
    ui.tell(verdicts.text(result.safety.findings[:1]))
    ui.say()
