"""What the learner reads after a grade: the verdict first, then the first thing to look
at, then what to do next."""

import re

from learn import build, compile_errors, grade, preset, safety, ui, verdicts

SHOWN_LINES = 30  # more of a failure scrolls the verdict off a small terminal
OTHER_CASES = 5


def headline(result: grade.Grade, colour: str, words: str) -> None:
    label = ui.paint(f"{result.chapter.label}: ", "bold")
    ui.say(label + ui.paint(words, colour, "bold"))


def show(result: grade.Grade) -> None:
    """The whole report on a chapter that has just been graded."""
    shown = {
        "passed": _passed, "unsafe": _unsafe, "invalid": _invalid,
        "unsolved": _unsolved, "failing": _failing, "nocompile": _nocompile}
    shown.get(result.state, _not_graded)(result)


def in_words(result: grade.Grade) -> str:
    """The state in a few words, for one line of a list."""
    count = f"{result.failed} of {result.passed + result.failed} cases fail"
    if result.safety and result.safety.state == "wrong":
        count = "it fails when all cases run in one process"
    return {
        "unsolved": "not solved yet",
        "unsafe": f"right, but {_unsafe_in_words(result).lower()}",
        "failing": f"not right yet, {count}", "nocompile": "does not compile",
        "invalid": "does not compile for a GPU",
        "skipped": "not graded, this device cannot run it",
        "nofile": "its file is missing", "broken": "could not be built",
        "stopped": "not graded, some cases did not run",
        "full": "not graded, the disk is full"}.get(result.state, "not graded")


def steps_to_go(result: grade.Grade, *, stuck: bool = True, see: bool = False) -> None:
    chapter = result.chapter
    ui.next_step("Edit", chapter.file)
    if see:
        ui.next_step("See", f"./learn xray {chapter.name}")
    ui.next_step("Check", f"./learn check {chapter.name}")
    if stuck:
        ui.next_step("Stuck?", f"./learn hint {chapter.name}")


def _passed(result) -> None:
    where = preset.chosen().in_words
    headline(result, "green", f"PASSED, all {ui.count(result.passed, 'case')} {where}")
    if skipped := result.number("skipped"):
        ui.say(f"  {ui.count(skipped, 'case')} skipped: this device cannot run them.")
    _safety(result)
    _warnings(result)


def _safety(result) -> None:
    """Below a pass: whether it was luck, and goals."""
    judged = result.safety
    if not judged:
        return
    if judged.state == "safe":
        ui.say("  Checked: no race, no access out of bounds, no uninitialised read.")
    elif judged.state == "slow":
        limit = safety.time_limit()
        ui.note(
            f"  Not checked for races: that took more than {limit} seconds"
            f" ({_longer(result, limit)} gives it more).")
    else:
        why = "The checked program did not build or run (./learn -v check shows why)."
        ui.note(f"  Not checked for races. {build.full_disk() or why}")
    if judged.goals:
        ui.say(ui.paint("  Performance goal missed:", "yellow"))
        for goal in judged.goals:
            ui.say(ui.wrap(ui.indent(verdicts.text([goal]))))
        ui.next_step("See", f"./learn xray {result.chapter.name}")


def _unsolved(result) -> None:
    headline(result, "yellow", "NOT SOLVED YET")
    # Several TODOs in one file: naming the file once is enough.
    text = _text_of(result.first).replace(f", {result.chapter.file}:", ", ")
    ui.say(ui.wrap(ui.indent(text)))
    ui.next_step("Read", f"{result.chapter.path}/lesson.md")
    steps_to_go(result)


def _failing(result) -> None:
    where = preset.chosen().in_words
    if result.safety:
        headline(result, "red", "NOT RIGHT YET, it depends on the order of cases")
        _wrong_in_one_process(result)
    else:
        total = ui.count(len(result.cases) - result.number("skipped"), "case")
        words = f"NOT RIGHT YET, {result.failed} of {total} fail {where}"
        headline(result, "red", words)
        ui.say()
        _first_case(result)
        _other_cases(result)
    _warnings(result)
    steps_to_go(result)
    if not result.safety:
        pattern = re.sub(r"([][\\.*^$+?(){}|])", r"\\\1", result.first.test)
        ui.show_command(
            ["ctest", "--test-dir", build.folder(), "--output-on-failure", "-R",
             f"^{pattern}$"])


def _first_case(result) -> None:
    """The first failing case in full."""
    case = result.first
    ui.say(ui.paint(f"  First failing case: {case.name}", "bold"))
    limit = grade.time_limit()
    hang = next((f for f in case.findings if f.kind == "time_limit"), None)
    if hang or case.ending == "Timeout":
        _hang(result, hang, limit)
    elif case.ending in ("SEGFAULT", "SIGSEGV"):
        ui.say("    The program crashed: a pointer leads outside any allocation.")
    elif case.ending:
        ui.say(f"    The program ended early: {case.ending}.")
    elif case.has_died:
        ui.say("    The program ended too early: does your code end it, by exit()?")
    text = _text_of(case)
    if not text and not hang and (case.ending or not case.has_died):
        # No words of ours: the test program's own are better than none.
        text = "\n".join(case.output.strip().split("\n")[-15:])
    if text:
        lines = ui.wrap(ui.indent(text)).split("\n")
        ui.say("\n".join(lines[:SHOWN_LINES]))
    if ui.Settings.verbose:
        ui.note("  Everything that the test program printed:")
        ui.say(ui.indent(case.output))
    ui.say()


def _text_of(case: grade.Case) -> str:
    return verdicts.text(f for f in case.findings if f.kind != "time_limit")


def _hang(result, finding, limit: int) -> None:
    """A case that was ended by force."""
    seconds = finding.numbers.get("measured", limit) if finding else limit
    after = f"{seconds:.0f} seconds" if finding else f"the limit of {limit} seconds"
    ui.say(
        ui.wrap(
            f"    It did not end within {after}: is there a loop that never ends,"
            " on the host or in a kernel, or a barrier that some threads never reach?"))
    ui.say(f"    If it only needs longer: {_longer(result, round(seconds))}")


def _longer(result, limit: int) -> str:
    """The command that grades with a longer limit."""
    return f"./learn check {result.chapter.name} --time-limit {limit * 4}"


def _other_cases(result) -> None:
    others = [
        case.name
        for case in result.cases
        if case.outcome in ("failed", "unsolved") and case is not result.first]
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
        ui.say(f"  Not run, because this one took so long: {cases}.")
    ui.say()


def _warnings(result) -> None:
    if result.warnings:
        ui.say("  The compiler warns:")
        ui.say(ui.indent("\n".join(result.warnings)))
        ui.say()


def _wrong_in_one_process(result) -> None:
    judged = result.safety
    ui.say()
    ui.say(
        ui.wrap(
            f"  Each of the {ui.count(result.passed, 'case')} passes alone, but not"
            " when all run in one process, one after the other: does your code keep"
            " something from call to call, or end the program?"))
    if judged.case:
        ui.say(ui.paint(f"  First failing case: {judged.case}", "bold"))
    ui.say(ui.wrap(ui.indent(verdicts.text(judged.findings[:1]))))
    ui.say()


def _unsafe_in_words(result) -> str:
    findings = result.safety.findings if result.safety else ()
    return "RACY" if findings and findings[0].kind == "race" else "NOT SAFE"


def _unsafe(result) -> None:
    """The tests pass, but by luck."""
    words = _unsafe_in_words(result)
    first, *more = result.safety.findings
    headline(result, "yellow", f"RIGHT, BUT {words}")
    ui.say()
    cases = ui.count(result.passed, "case")
    why = "the threads happened to run in an order that hides this mistake:"
    if first.kind != "race":
        why = "nothing of what this mistake touches happened to matter:"
    ui.say(ui.wrap(f"  All {cases} pass, but only because {why}"))
    ui.say()
    ui.say(ui.wrap(ui.indent(verdicts.text([first]))))
    ui.say()
    if more:
        log = safety.FOLDER / f"{result.chapter.key}.cases.log"
        ui.say(f"  {len(more)} more below it ({log}).")
    steps_to_go(result, stuck=False, see=True)


def _invalid(result) -> None:
    """The simulator let something pass that no GPU can run."""
    headline(result, "red", "DOES NOT COMPILE FOR A GPU")
    ui.say()
    ui.say(ui.wrap(ui.indent(result.safety.errors)))
    ui.say()
    ui.say("  The simulator runs on the CPU and did not mind; nvcc refuses it.")
    steps_to_go(result, stuck=False)


def _nocompile(result) -> None:
    headline(result, "red", "DOES NOT COMPILE")
    ui.say()
    errors = compile_errors.errors(result.log)
    first = compile_errors.first(result.log, result.chapter.file)
    ui.say(ui.indent(str(first)))
    ui.say()
    if first.is_of_linker:
        ui.say(
            ui.wrap(
                "  A function that the chapter's header declares is not defined, or is"
                " defined with other parameters."))
    if len(errors) > 1:
        ui.say(
            ui.wrap(
                f"  {len(errors) - 1} more below it; they often vanish with the first"
                f" one. (All: {build.LOG})"))
    steps_to_go(result, stuck=False)


def _not_graded(result) -> None:
    """That is not the learner's fault, or hardly."""
    chapter = result.chapter
    if result.state == "nofile":
        headline(result, "red", "THE FILE IS MISSING")
        ui.say(f"  {chapter.file} is not there. Get the starter back with:")
        ui.next_step("Restore", f"./learn reset {chapter.name}")
    elif result.state == "broken":
        headline(result, "red", "COULD NOT BE BUILT, and the fault is not in your file")
        ui.say(ui.indent(compile_errors.in_words(result.log, chapter.file)))
        hint = f"The whole log: {build.LOG}. ./learn doctor checks the tools."
        ui.say(f"  {preset.ask('disk_problem') or hint}")
    elif result.state == "full":
        headline(result, "red", "NOT GRADED")
        sentence = build.full_disk(result.log)
        ui.say(f"  {sentence or 'The disk was full: run the same command again.'}")
    elif result.state == "stopped":
        not_run = ui.count(result.number("not_run"), "case")
        headline(result, "red", f"NOT GRADED: {not_run} did not run")
        ui.say(
            ui.wrap(
                "  Something stopped them, though no case failed. Run it again; if it"
                " stays so, look for what your file writes to disk."))
    elif result.state == "skipped":
        headline(result, "yellow", "NOT GRADED: this device cannot run it")
        ui.say(ui.wrap(ui.indent(result.first.reason or "It said not why.")))
    else:
        headline(result, "red", "NOT GRADED: CTest found no test of this chapter")
        ui.say(ui.indent("\n".join(result.log.strip().split("\n")[-3:])))
        name = preset.chosen().name
        ui.say("  Does your file end the program before its tests, in a static object?")
        ui.say(f"  If not: cmake --preset {name}, then ./learn check {chapter.name}")
