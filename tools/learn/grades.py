"""./learn dev grades FILE.xml... [--csv]: a table of what ctest --output-junit has
written, one file a person, one row a chapter (docs/class.md)."""

import csv
import json
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from learn import ui

MARK = "wb-verdict "
ORDER = ("failed", "unsolved", "not_run", "skipped", "passed")
"""Of the verdicts of a chapter's cases, the first one that occurs is the chapter's."""


class Row(NamedTuple):
    """What became of a chapter."""

    who: str
    chapter: str  # day01.vector_add
    verdict: str
    passed: int
    cases: int
    kind: str = ""  # of the first case that has this verdict: docs/verdict.md
    place: str = ""  # its file and line, or what is wrong: vector_add: c[256]
    case: str = ""


def rows(file: Path) -> list[Row]:
    """One for each chapter whose tests have run, in their order."""
    try:
        root = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise ui.Stop(f"{file} cannot be read: {error}") from error
    chapters: dict[str, list[tuple[str, dict]]] = {}
    for test in root.iter("testcase"):
        day, chapter, *case = (test.get("name") or "").split(".", 2)
        if day != "build" and case:
            verdict = _verdict(test)
            chapters.setdefault(f"{day}.{chapter}", []).append((case[0], verdict))
    return [_row(file.stem, name, cases) for name, cases in chapters.items()]


def _verdict(test) -> dict:
    """What the test's program says of it, unless CTest knows better: a test that it has
    ended, for it took too long, has not come to its last line."""
    lines = (test.findtext("system-out") or "").split("\n")
    said = [line for line in lines if line.startswith(MARK)]
    try:
        verdict = json.loads(said[-1].removeprefix(MARK)) if said else {}
    except ValueError:
        verdict = {}
    if test.get("status") == "run":
        return verdict or {"verdict": "passed"}
    if not verdict:
        return {"verdict": "failed" if test.get("status") == "fail" else "not_run"}
    # A learner's program can print such a line, too; it cannot make CTest say "run".
    if verdict.get("verdict") == "passed":
        verdict = {"verdict": "failed"}
    return verdict


def _row(who: str, chapter: str, cases: list[tuple[str, dict]]) -> Row:
    verdicts = [verdict["verdict"] for _, verdict in cases]
    worst = next((one for one in ORDER if one in verdicts), "failed")
    if worst in ("skipped", "passed"):
        worst = "passed" if "passed" in verdicts else "skipped"
    name, first = next(
        (case for case in cases if case[1]["verdict"] == worst), cases[0])
    if worst == "passed":
        name, first = "", {}
    numbers = verdicts.count("passed"), len(cases) - verdicts.count("skipped")
    return Row(who, chapter, worst, *numbers, _kind(first), _place(first), name)


def _kind(verdict: dict) -> str:
    detail = verdict.get("detail", "")
    return "/".join(filter(None, (verdict.get("kind", ""), detail)))


def _place(verdict: dict) -> str:
    if verdict.get("file"):
        return f"{verdict['file']}:{verdict.get('line', 0)}"
    index = "".join(f"[{i}]" for i in verdict.get("index", ()))
    array = f"{verdict.get('array', '')}{index}"
    return ": ".join(filter(None, (verdict.get("implementation", ""), array)))


def run(files: list[str], as_csv: bool) -> int:
    if not files:
        raise ui.Stop("./learn dev grades wants files that ctest --output-junit wrote.")
    found = [row for file in files for row in rows(ui.Settings.invoked_from / file)]
    if as_csv:
        table = csv.writer(sys.stdout)
        table.writerows([Row._fields, *found])
        return 0
    lines = [("who", "chapter", "verdict", "cases", "kind", "place")]
    lines += [(row.who, row.chapter, row.verdict, f"{row.passed}/{row.cases}", row.kind,
               row.place) for row in found]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        cells = (text.ljust(width) for text, width in zip(line, widths))
        ui.say("  ".join(cells).rstrip())
    return 0
