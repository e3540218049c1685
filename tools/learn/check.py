"""./learn check [DAY | CHAPTER ...] [--fast] [--solution]

Grades chapters: day01, vector_add, day01/02-vector-add, or a path. Without
an argument: the first one that has not passed. --fast grades the second
stage, "Go faster". --solution grades the workbook's solutions instead of
your files, and leaves your progress alone.
A test case that does not end is stopped after 20 seconds (on a GPU: 120) and
the remaining ones are not run; --time-limit N makes that N seconds.
"""

from learn import build, compile_errors, course, grade, preset, progress, report
from learn import selection, ui, verdicts
from learn.course import Chapter


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    selection.add_fast(parser)
    parser.add_argument("--solution", action="store_true")


def run(options) -> int:
    if options.command == "next" and options.chapters:
        raise ui.Stop(
            f"./learn takes a command: './learn check {options.chapters[0]}'?"
            " (./learn help lists all.)")
    # Selecting goes first, so that a slip is answered at once.
    if options.chapters:
        chosen = selection.chapters(options.chapters, options.fast)
    elif options.command == "next" and not options.fast and (
            not course.first_unpassed(course.load())):
        course_done()
        return 0
    else:
        chosen = [selection.single([], options.fast)]
    build.prepare()
    if options.solution:
        return _check_solutions(chosen)
    return check_one(chosen[0]) if len(chosen) == 1 else _check_many(chosen)


def check_one(chapter: Chapter) -> int:
    result = grade.grade(chapter)
    report.show(result)
    if result.state != "passed":
        return 1
    _congratulate(result)
    return 0


def _check_many(chosen: list[Chapter]) -> int:
    """One line each, then the first one that needs work in full."""
    results = []
    for chapter in chosen:
        result = grade.grade(chapter)
        results.append(result)
        if result.state == "passed":
            words = f"passed, {ui.count(result.passed, 'case')}"
            if result.goals:
                words += f", but {report.goals_in_words(result)}"
            report.headline(result, "yellow" if result.goals else "green", words)
        else:
            report.headline(result, "red", report.in_words(result))
    rest = [result for result in results if result.state != "passed"]
    passed = len(results) - len(rest)
    ui.say()
    ui.say(f"{passed} of {len(results)} chapters pass {preset.chosen().in_words}.")
    if not rest:
        return 0
    ui.say()
    report.show(rest[0])
    return 1


def _congratulate(result: grade.Grade) -> None:
    """After a pass; what comes next."""
    chapter = result.chapter
    everything = course.load()
    of_day = [c for c in everything if c.day == chapter.day]
    if result.goals:
        ui.say("  Right, which counts as a pass, and not yet as fast as it should be.")
        report.steps_to_go(result)
    elif not all(c.has_passed() for c in of_day):
        ui.say("  Well done.")
    elif late := _with_goals(of_day):
        ui.say(f"  Well done: that is all of day {chapter.day_number}, but for"
               f" performance goals of {late}.")
    else:
        ui.say(f"  Well done: that is all of day {chapter.day_number}.")
    ui.next_step("Compare", f"./learn solution {chapter.name}")
    if stage := chapter.faster:
        ui.next_step("Go faster", f"./learn check {stage.name}")
    if chapter.is_faster:
        ui.next_step("Measure", f"./learn bench {chapter.name}")
    if following := course.first_unpassed(everything):
        ui.next_step("Next", f"{following.path}/lesson.md, then ./learn")
    else:
        course_done()


def _with_goals(chapters: list[Chapter]) -> str:
    """Those that have passed, and miss a goal."""
    entries = progress.read_all()
    return ", ".join(
        c.label for c in chapters if c.key in entries and entries[c.key].goals)


def course_done() -> None:
    everything = course.load()
    ui.say(ui.paint(f"All {len(everything)} chapters have passed.", "green"))
    if late := _with_goals(everything):
        ui.say(f"Performance goals are missed in {late}.")
    last = everything[-1].day_number
    if last < len(course.DAY_TITLES) - 1:
        ui.say(f"Day {last + 1} is not written yet: git pull brings what is new.")
    ui.next_step("Again", "./learn check day01")


def _check_solutions(chosen: list[Chapter]) -> int:
    """Progress stays as it is."""
    wrong = 0
    for chapter in chosen:
        result = _grade_solution(chapter)
        if result.state == "passed":
            skipped = result.number("skipped")
            more = f", {skipped} skipped" if skipped else ""
            cases = ui.count(result.passed, "case")
            report.headline(result, "green", f"passed, {cases}{more}")
        else:
            wrong += 1
            report.headline(result, "red", _solution_in_words(result))
            _explain_solution(result)
    ui.say()
    passed = len(chosen) - wrong
    ui.say(f"{passed} of {len(chosen)} solutions pass {preset.chosen().in_words}.")
    return 1 if wrong else 0


def _grade_solution(chapter: Chapter) -> grade.Grade:
    result = grade.Grade(chapter)
    targets = [f"{chapter.target}_solution"]
    checked = f"{chapter.target}_checked_solution"  # in the simulator only
    if build.has_target(checked):
        targets.append(checked)
    built = build.targets(*targets, what=f"the solution of {chapter.name}")
    result.log = built.text
    if built.status:
        result.state = "broken"
        return result
    log = ui.STATE / "log" / "solution.log"
    pattern = r"\.(solution\.|checked$)"
    grade.run_cases(result, pattern, "^workbook$", log, limited=False)
    return result


def _solution_in_words(result: grade.Grade) -> str:
    if result.state in ("failing", "unsolved"):
        return f"wrong, {result.failed} of {result.passed + result.failed} cases fail"
    if result.state == "broken":
        log = f"could not be built; the log is {build.LOG}"
        return build.full_disk(result.log) or log
    return "no test was run"


def _explain_solution(result: grade.Grade) -> None:
    if result.state == "broken":
        ui.quote(compile_errors.in_words(result.log))
    elif result.first:
        ui.say(f"    {result.first.test}")
        text = verdicts.text(result.first.findings) or result.first.output
        ui.quote(text)
