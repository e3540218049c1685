"""What the learner reads after a grade: the verdict first, then the first thing to look
at, then what to do next."""

from learn import (
    build, compile_errors, failing, grade, preset, safety, todos, ui, verdicts)


def headline(result: grade.Grade, colour: str, words: str) -> None:
    label = ui.paint(f"{result.chapter.label}: ", "bold")
    ui.say(label + ui.paint(words, colour, "bold"))


def show(result: grade.Grade) -> None:
    """The whole report on a chapter that has just been graded."""
    shown = {
        "passed": _passed, "unsafe": _unsafe, "invalid": _invalid,
        "unchecked": _unchecked, "unsolved": _unsolved, "failing": _failing,
        "nocompile": _nocompile}
    shown.get(result.state, _not_graded)(result)


def in_words(result: grade.Grade) -> str:
    """The state in a few words, for one line of a list."""
    count = f"{result.failed} of {result.passed + result.failed} cases fail"
    if result.safety and result.safety.state == "wrong":
        count = failing.headline(result).partition(", ")[2]
    return {
        "unsolved": "not solved yet",
        "unsafe": f"right, but {_unsafe_in_words(result).lower()}",
        "unchecked": "right, but not checked for races",
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
    words = f"PASSED, all {ui.count(result.passed, 'case')} {where}"
    if result.goals:
        headline(result, "yellow", f"{words}, but {goals_in_words(result)}")
    else:
        headline(result, "green", words)
    if skipped := result.number("skipped"):
        ui.say(f"  {ui.count(skipped, 'case')} skipped: this device cannot run them.")
    _safety(result)
    _warnings(result)


def _safety(result) -> None:
    """Below a pass: whether it was luck, and goals."""
    judged = result.safety
    if not judged:
        return
    ui.say("  Checked: no race, no access out of bounds, no uninitialised read.")
    if judged.goals:
        goals = "goals" if len(judged.goals) > 1 else "goal"
        ui.say(ui.paint(f"  Performance {goals} missed:", "yellow"))
        ui.tell(verdicts.text(judged.goals))
        ui.next_step("See", f"./learn xray {result.chapter.name}")


def goals_in_words(result: grade.Grade) -> str:
    """Of a pass that misses some."""
    count = len(result.goals)
    return f"{count} performance goals are missed" if count > 1 else (
        "a performance goal is missed")


def _unsolved(result) -> None:
    headline(result, "yellow", f"NOT SOLVED YET{_functions_in_words(result)}")
    _functions(result)
    if safety.is_wanted() and grade.number_right(result)[0]:
        ui.say("  Races are looked for when all are written.")
    # Several TODOs in one file: naming the file once is enough.
    text = todos.words(result) or failing.text_of(result.first)
    ui.tell(text.replace(f", {result.chapter.file}:", ", "))
    ui.next_step("Read", f"{result.chapter.path}/lesson.md")
    steps_to_go(result)


def _failing(result) -> None:
    headline(result, "red", failing.headline(result) + _functions_in_words(result))
    _functions(result)
    ui.say()
    failing.explain(result)
    if empty := todos.empty(result.chapter.file):
        ui.say(f"  Nothing stands below the TODO in {result.chapter.file}:"
               f"{', '.join(map(str, empty))}.")
        ui.say()
    _warnings(result)
    steps_to_go(result)
    if result.first:
        failing.show_command(result)


def _functions_in_words(result) -> str:
    """Of a chapter that has several: how many are right."""
    right, total = grade.number_right(result)
    return f", {right} of {total} functions right" if right else ""


def _functions(result) -> None:
    """Each with its verdict, once they differ."""
    words = {"passed": "right", "unsolved": "not solved yet",
             "open": "nothing wrong seen so far"}
    if len(set(result.functions.values())) > 1 or grade.number_right(result)[0]:
        for name, verdict in result.functions.items():
            ui.say(f"  {name}: {words.get(verdict, 'not right yet')}")


def _warnings(result) -> None:
    if result.warnings:
        ui.say("  The compiler warns:")
        ui.quote("\n".join(result.warnings))
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
    why = "the simulator's checker has found this:"
    if first.kind == "race":
        why = "only because the threads happened to run in an order that hides this:"
    ui.tell(f"All {cases} pass, but {why}", 2)
    ui.say()
    ui.tell(verdicts.text([first]))
    ui.say()
    if more:
        log = safety.FOLDER / f"{result.chapter.key}.cases.log"
        ui.say(f"  {len(more)} more below it ({log}).")
    steps_to_go(result, stuck=False, see=True)


def _unchecked(result) -> None:
    """Only who was checked has passed."""
    headline(result, "yellow", "RIGHT, BUT NOT CHECKED")
    ui.say()
    cases = ui.count(result.passed, "case")
    if result.safety.state == "slow":
        limit = safety.time_limit()
        ui.tell(
            f"All {cases} pass, but to check them for races took more than {limit}"
            " seconds. Is there a loop that goes on for too long? More time:"
            f" {failing.longer(result, limit)}", 2)
    else:
        why = "could not be built (./learn -v check shows why)."
        if result.safety.state == "incomplete":
            log = safety.FOLDER / f"{result.chapter.key}.cases.log"
            why = f"did not run all of them (its output: {log})."
        why = build.full_disk() or f"The program that checks them for races {why}"
        ui.tell(f"All {cases} pass. {why}", 2)
    steps_to_go(result, stuck=False)


def _invalid(result) -> None:
    """The simulator let something pass that no GPU can run."""
    headline(result, "red", "DOES NOT COMPILE FOR A GPU")
    ui.say()
    ui.tell(result.safety.errors)
    ui.say()
    ui.say("  The simulator runs on the CPU and did not mind; nvcc refuses it.")
    steps_to_go(result, stuck=False)


def _nocompile(result) -> None:
    headline(result, "red", "DOES NOT COMPILE")
    ui.say()
    errors = compile_errors.errors(result.log)
    first = compile_errors.first(result.log, result.chapter.file)
    ui.quote(str(first))
    ui.say()
    if first.is_of_linker:
        ui.tell(
            "A function that the chapter's header declares is not defined, or is"
            " defined with other parameters.", 2)
    if more := len(errors) - 1:
        rest = f"{more} more below it; they often vanish with the first one."
        ui.tell(f"{rest} (All: {build.LOG})", 2)
    steps_to_go(result, stuck=False)


def _not_graded(result) -> None:
    """That is not the learner's fault, or hardly."""
    chapter = result.chapter
    if result.state == "nofile":
        headline(result, "red", "THE FILE IS MISSING")
        ui.tell(f"{chapter.file} is not there. Get the starter back with:", 2)
        ui.next_step("Restore", f"./learn reset {chapter.name}")
    elif result.state == "broken":
        headline(result, "red", "COULD NOT BE BUILT, and the fault is not in your file")
        ui.quote(compile_errors.in_words(result.log, chapter.file))
        hint = f"The whole log: {build.LOG}. ./learn doctor checks the tools."
        ui.tell(preset.ask("disk_problem") or hint, 2)
    elif result.state == "full":
        headline(result, "red", "NOT GRADED")
        again = "The disk was full: run the same command again."
        ui.tell(build.full_disk(result.log) or again, 2)
    elif result.state == "stopped":
        not_run = ui.count(result.number("not_run"), "case")
        headline(result, "red", f"NOT GRADED: {not_run} did not run")
        ui.tell(
            "Something stopped them, though no case failed. Run it again; if it stays"
            " so, look for what your file writes to disk.", 2)
    elif result.state == "skipped":
        headline(result, "yellow", "NOT GRADED: this device cannot run it")
        ui.tell(result.first.reason)
    else:
        headline(result, "red", "NOT GRADED: CTest found no test of this chapter")
        ui.quote(result.log, 3)
        name = preset.chosen().name
        ui.tell(
            "Does your file end the program before its tests, in a static object? If"
            f" not: cmake --preset {name}, then ./learn check {chapter.name}", 2)
