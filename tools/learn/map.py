"""./learn map

Progress over all seven days.
"""

from learn import course, progress, ui

STARTED = ("failing", "unsafe", "nocompile")


def run(options) -> int:
    chapters = course.load()
    entries = progress.read_all()
    stages = chapters + [c.faster for c in chapters if c.faster]
    entry = {c: entries.get(c.key, progress.Entry()) for c in stages}
    passed = sum(entry[c].has_passed for c in chapters)
    next_one = next((c for c in chapters if not entry[c].has_passed), None)
    ui.say(ui.paint(f"Warpbook: {passed} of {len(chapters)} chapters passed", "bold"))
    for number, title in enumerate(course.DAY_TITLES[1:], 1):
        of_day = [c for c in chapters if c.day_number == number]
        day = f"day{number:02d}"
        if not of_day:
            ui.note(f"{day} {title} (not written yet)")
            continue
        ui.say()
        ui.say(f"{ui.paint(day, 'bold')} {title}")
        for chapter in of_day:
            ui.say(_line(chapter.folder, entry[chapter], chapter is next_one))
            if stage := chapter.faster:
                ui.say(_line("   go faster", entry[stage], False))
    return 0


def _line(name: str, entry: progress.Entry, is_next: bool) -> str:
    mark, words, colour = " ", [], []
    if entry.has_passed:
        mark, colour = "x", ["green"]
        words.append(f"passed {entry.passed}")
        if entry.grade != "passed":
            words.append("changed since: not passing now")
        elif entry.goals:
            colour = ["yellow"]
            goals = "goal" if entry.goals == 1 else "goals"
            words.append(f"{entry.goals} performance {goals} missed")
    elif entry.grade in STARTED:
        mark, colour = "~", ["yellow"]
        words.append("started")
    if entry.functions and not entry.has_passed:
        mark, colour = "~", ["yellow"]
        right, _, total = entry.functions.partition("/")
        words.append(f"{right} of {total} functions right")
    if entry.hints:
        words.append(ui.count(entry.hints, "hint"))
    if is_next:
        words.append("next: ./learn")
    line = f"  [{mark}] {name:<26} {', '.join(words)}".rstrip()
    return ui.paint(line, *colour)
