"""The learner's progress: .learn/progress, a small text file, one line per chapter:

    day01.vector_add  passed  2026-11-21  2026-11-21  1

that is: chapter, last grade (new, unsolved, failing, unsafe, nocompile, passed), the
day of that grade, the day it first passed (or -), hints shown, how many of several
functions are right, as 2/3 (or -), and how many performance goals are missed. Deleting
the file or a line only forgets; no learner's code is touched."""

import os
import time
from typing import NamedTuple

from learn import ui

FILE = ui.STATE / "progress"
HEAD = """\
# Warpbook progress, kept by ./learn. Safe to read, edit or delete.
# chapter  last-grade  graded-on  first-passed-on  hints-shown  functions-right
#     goals-missed
"""


class Entry(NamedTuple):
    """A chapter's line."""

    grade: str = "new"
    graded: str = "-"
    passed: str = "-"
    hints: int = 0
    functions: str = ""  # "2/3"
    goals: int = 0  # missed, by what passed last

    @property
    def has_passed(self) -> bool:
        """Once passed, always passed: also if the file was changed since."""
        return self.passed != "-"


def read_all() -> dict[str, Entry]:
    """All lines; what a line lacks, or has and nobody understands, is as for a new
    one."""
    try:
        lines = FILE.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    entries = {}
    for fields in (line.split() for line in lines):
        if not fields or fields[0].startswith("#"):
            continue
        key, *rest = fields[:7]
        entry = Entry(*rest[:3])
        if rest[3:] and rest[3].isdigit():
            entry = entry._replace(hints=int(rest[3]))
        if rest[4:] and rest[4] != "-":
            entry = entry._replace(functions=rest[4])
        if rest[5:] and rest[5].isdigit():
            entry = entry._replace(goals=int(rest[5]))
        entries[key] = entry
    return entries


def read(key: str) -> Entry:
    return read_all().get(key, Entry())


def write(key: str, entry: Entry) -> None:
    """Replaces a chapter's line.

    Written aside and renamed, so that neither an interrupted run nor a full disk can
    leave half a file.
    """
    entries = read_all()
    entries.pop(key, None)
    entries[key] = entry
    text = HEAD + "".join(
        f"{key}  {_fields(entry)}\n" for key, entry in entries.items())
    aside = FILE.with_name(f"progress.{os.getpid()}")
    try:
        FILE.parent.mkdir(exist_ok=True)
        with open(aside, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # a disk may become full in the middle
        os.replace(aside, FILE)
    except OSError:
        aside.unlink(missing_ok=True)
        raise ui.Stop(
            f"Your progress could not be written to {FILE}, which is as it was before"
            " (is the disk full?).") from None


def _fields(entry: Entry) -> str:
    """The fields of a line, without those at its end that say nothing."""
    fields = [*map(str, entry[:4]), entry.functions]
    if entry.goals:
        fields[4:] = [entry.functions or "-", str(entry.goals)]
    return "  ".join(fields).rstrip()


def record_grade(key: str, grade: str, functions: str = "", goals: int = 0) -> None:
    """After a check."""
    today = time.strftime("%Y-%m-%d")
    entry = read(key)
    passed = today if grade == "passed" and not entry.has_passed else entry.passed
    write(key, entry._replace(
        grade=grade, graded=today, passed=passed, functions=functions, goals=goals))


def record_hints(key: str, hints: int) -> None:
    """After a hint."""
    write(key, read(key)._replace(hints=hints))
