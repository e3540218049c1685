#!/usr/bin/env python3
"""The one reader of the markers in source files.

    markers.py SOLUTION [STARTER]        makes the starter (on standard output without a
                                         file)
    markers.py --check SOLUTION STARTER  says whether they belong together
    markers.py --json FILE...            all that the book shows of files, as JSON

In a solution, each a line of its own:

    // #solution        the lines up to the matching // #end are left out of the starter
    // #end
    // #starter TEXT    TEXT stands in the starter only, with the same indentation

In any file, for lessons:

    // #region NAME     a lesson shows the lines up to // #endregion NAME
    // #endregion NAME

The build makes starters with it, the book runs it, ./learn and dev_check.py import it.
"""

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

STARTER_MARKER = re.compile(r"\s*// #(?:solution|end|starter .*)")
REGION_MARKER = re.compile(
    r"\s*(?://|#|/\*|<!--)\s?#(end)?region\s+([\w-]+)\s*(?:\*/|-->)?\s*")
TODO = re.compile(r"\s*// TODO\(learner\)")


class MarkerError(Exception):
    """Markers that do not match, in words."""


def starter_of(solution: str) -> str:
    """The starter: the solution minus lines.

    Raises MarkerError for markers that do not match, and for a solution without any:
    its starter would give everything away."""
    starter: list[str] = []
    opened = removed = 0
    for number, line in enumerate(_lines(solution), 1):
        text = line.lstrip(" \t")
        if text == "// #solution":
            if opened:
                raise MarkerError(f"line {number}: #solution inside of #solution")
            opened = number
        elif text == "// #end":
            if not opened:
                raise MarkerError(f"line {number}: #end without #solution")
            opened, removed = 0, removed + 1
        elif not opened:
            if text.startswith("// #starter "):
                line = line.replace("// #starter ", "", 1)
            # What was cut out may leave two blank lines in a row.
            if line or not starter or starter[-1]:
                starter.append(line)
    if opened:
        raise MarkerError(f"line {opened}: #solution without #end")
    if not removed:
        raise MarkerError("line 1: no #solution: nothing is left for the learner")
    return "\n".join(starter) + "\n"


def text_of(path: str, root: Path = Path()) -> str:
    """A file of the checkout as lessons show it.

    The files that learners write in are made from their solutions, as they were handed
    out, whatever has become of them. Raises OSError if there is no such file.
    """
    solution = root / "solutions" / path
    if re.fullmatch(r"day\d\d-.+\.cu", path) and solution.is_file():
        return starter_of(solution.read_text())
    return (root / path).read_text()


def after_edit(edit: str) -> str:
    """What an edit of a right text (a .diff, see tools/bundle/edit.h) makes of the
    lines that it names."""
    kept = [line for line in _lines(edit) if not line.startswith(("#", "-"))]
    return "\n".join("" if line.startswith("@@") else line[1:] for line in kept)


class Part(NamedTuple):
    """Lines as a lesson shows them, and the numbers of the first and the last."""

    lines: list[str]
    first: int
    last: int


def shown(path: str, name: str = "", language: str = "") -> Part:
    """What a lesson shows of a file or of a region of it: of an edit, the text that it
    makes, unless the language is "diff". Raises OSError or MarkerError."""
    text = text_of(path)
    if path.endswith(".diff") and language != "diff":
        text = after_edit(text)
    return region(text, name)


def region(text: str, name: str = "") -> Part:
    """A region, or the whole text.

    Without markers, without what a starter asks of the learner where the text is a
    solution, without the indentation that all lines share. Raises MarkerError unless
    the region begins and ends once, and holds something.
    """
    lines = _lines(text)
    begin, end = _bounds(lines, name) if name else (0, len(lines))
    hidden = _belongs_to_starter(lines)
    numbers = [
        i for i in range(begin, end)
        if not hidden[i] and not REGION_MARKER.fullmatch(lines[i])]
    while numbers and not lines[numbers[0]].strip():
        numbers.pop(0)
    while numbers and not lines[numbers[-1]].strip():
        numbers.pop()
    if not numbers:
        raise MarkerError(f'region "{name}" is empty')
    shown = [lines[i].rstrip() for i in numbers]
    shared = min(len(line) - len(line.lstrip()) for line in shown if line)
    return Part([line[shared:] for line in shown], numbers[0] + 1, numbers[-1] + 1)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _markers(lines: list[str]) -> dict[str, tuple[list[int], list[int]]]:
    """Where each region begins, and where it ends: indices of lines."""
    places: dict[str, tuple[list[int], list[int]]] = {}
    for index, line in enumerate(lines):
        if marker := REGION_MARKER.fullmatch(line):
            places.setdefault(marker[2], ([], []))[bool(marker[1])].append(index)
    return places


def _bounds(lines: list[str], name: str) -> tuple[int, int]:
    """Indices of the first line of a region and of its end marker."""
    everything = _markers(lines)
    begins, ends = everything.get(name, ([], []))

    def where(indices) -> str:
        return ", ".join(str(index + 1) for index in indices)

    if not begins and not ends:
        known = ", ".join(other for other, (first, _) in everything.items() if first)
        fault = f"is missing (the file has: {known or 'none'})"
    elif len(begins) > 1:
        fault = f"begins more than once, in lines {where(begins)}"
    elif len(ends) > 1:
        fault = f"ends more than once, in lines {where(ends)}"
    elif not begins:
        fault = f"ends in line {where(ends)} but begins nowhere"
    elif not ends:
        fault = f"begins in line {where(begins)} but ends nowhere"
    elif ends < begins:
        fault = f"ends in line {where(ends)}, before it begins"
    else:
        return begins[0] + 1, ends[0]
    raise MarkerError(f'region "{name}" {fault}')


def _belongs_to_starter(lines: list[str]) -> list[bool]:
    """Which lines of a solution are not of the solution: markers and TODOs."""
    if not any(STARTER_MARKER.fullmatch(line) for line in lines):
        return [False] * len(lines)
    result, asking = [], False
    for line in lines:
        if STARTER_MARKER.fullmatch(line):
            asking = False
            result.append(True)
            continue
        is_region = REGION_MARKER.fullmatch(line)
        is_comment = line.lstrip().startswith("//") and not is_region
        asking = bool(TODO.match(line)) or (asking and is_comment)
        result.append(asking)
    return result


def for_book(path: str) -> dict | None:
    """All that the book shows of a file; None if there is no such file."""
    try:
        text = text_of(path)
    except (OSError, UnicodeDecodeError):
        return None

    def part(*which: str) -> dict:
        try:
            lines, first, last = shown(path, *which)
        except MarkerError as error:
            return {"error": str(error)}
        return {"text": "\n".join(lines) + "\n", "first": first, "last": last}

    marked = after_edit(text) if path.endswith(".diff") else text
    regions = {name: part(name) for name in _markers(_lines(marked))}
    return {"text": text, "whole": part(), "edit": part("", "diff"), "regions": regions}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--json"]:
        json.dump({path: for_book(path) for path in arguments[1:]}, sys.stdout)
        return 0
    check = arguments[:1] == ["--check"]
    files = arguments[1:] if check else arguments
    if len(files) != 2 and (check or len(files) != 1):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        starter = starter_of(_read(files[0]))
        if check:
            if _read(files[1]) == starter:
                return 0
            raise MarkerError(
                f"{files[1]} is not what {files[0]} gives; make it anew:"
                " tools/markers.py SOLUTION STARTER")
        if len(files) == 1:
            sys.stdout.write(starter)
            return 0
        try:
            Path(files[1]).write_text(starter)
        except OSError:
            raise MarkerError(f"cannot write {files[1]}") from None
    except MarkerError as error:
        print(f"markers.py: {files[0]}: {error}", file=sys.stderr)
        return 1
    return 0


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        raise MarkerError(f"cannot read {file}") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
