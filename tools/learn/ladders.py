"""The index of a ladder: the comment at the head of a solution that has one line for
each version, with its idea, what limits it, and how fast it is.

    // <Ladder of="flash_attention" at="B4 H16 N4096 D64">
    //       TFLOP/s  idea              what limits it
    //   v1     24.9  one thread a row  256 registers: few warps
    //   v2     8.79  one warp a row    each warp reads all of shared memory
    // </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21

An author writes the tags, and of each line version, idea and limit, two spaces apart;
./learn dev ladders writes the rest: numbers from book/data, units, columns. A version
that was not measured at this size has a dash. in="us" shows times instead of rates;
as="decode" stands behind of="attention" where the benchmark has a name of its own.
Every exercise that a solution registers versions of has an index.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

WIDTH = 88
BEGIN = re.compile(
    r'// <Ladder of="([^"]+)"(?: as="([^"]+)")? at="([^"]*)"(?: in="(us)")?>')
END = re.compile(r"// </Ladder>.*")
VERSION = re.compile(r"//   (v\d+\w*) +(.+)")
NUMBER = re.compile(r"(?:-|[\d.,]+)  +(.*)")
RUNGS = (
    re.compile(r"^WB_RUNG\((\w+),\s*\w+_(v\d+\w*),", re.MULTILINE),
    re.compile(r'\blist_rung\("(\w+)",\s*"(v\d+\w*)"'))
UNITS = {"tflops": "TFLOP/s", "gbps": "GB/s", "median_us": "us"}
TYPES = ("", "_bf16", "_fp16")
"""What a benchmark adds to the exercise's name, the first that was measured."""


class LadderError(Exception):
    """An index that cannot be filled in, in words."""


class Table(NamedTuple):
    """Where an index stands in the lines of a file, and what it is of."""

    begin: int
    end: int
    exercise: str
    measured: str  # what the benchmark calls it
    size: str
    time: bool


def files(root: Path = Path()) -> list[Path]:
    return sorted(root.glob("solutions/day[0-9][0-9]-*/*/*.cu"))


def filled(file: Path, root: Path = Path()) -> str:
    """The text of a solution with the numbers of today. Raises LadderError."""
    lines = file.read_text().split("\n")
    listed = _listed(file.parent)
    tables = _tables(lines)
    for table in reversed(tables):  # the last first: the numbers of lines stay
        lines[table.begin + 1 : table.end + 1] = _written(
            table, lines[table.begin + 1 : table.end],
            _measured(root, file, table), listed)
    every_line = "\n".join(f.read_text() for f in file.parent.glob("*.cu")).split("\n")
    indexed = {match[1] for match in map(BEGIN.fullmatch, every_line) if match}
    if missing := sorted(set(listed) - indexed):
        raise LadderError(f"has no <Ladder of={missing[0]!r}>")
    return "\n".join(lines)


def _listed(folder: Path) -> dict[str, list[str]]:
    """Versions by exercise, as the solution registers them for tests."""
    result: dict[str, set[str]] = {}
    for file in sorted(folder.glob("*.*")):
        for pattern in RUNGS:
            for exercise, version in pattern.findall(file.read_text()):
                result.setdefault(exercise, set()).add(version)
    return {exercise: sorted(found) for exercise, found in result.items()}


def _tables(lines: list[str]) -> list[Table]:
    tables = []
    for begin, line in enumerate(lines):
        if match := BEGIN.fullmatch(line):
            end = begin + 1
            while end < len(lines) and not END.fullmatch(lines[end]):
                if not lines[end].startswith("//"):
                    break
                end += 1
            if end == len(lines) or not END.fullmatch(lines[end]):
                raise LadderError(f"line {begin + 1}: <Ladder> without // </Ladder>")
            name, measured, size, unit = match.groups()
            tables.append(
                Table(begin, end, name, measured or name, size, unit == "us"))
        elif line.startswith("// <Ladder"):
            raise LadderError(f'line {begin + 1}: is no <Ladder of="..." at="...">')
    return tables


def _measured(root: Path, file: Path, table: Table) -> dict:
    """The day's file of measurements with the table's exercise: day04.json, or
    day04_wgmma.json where a chapter was measured in a call of its own."""
    day = file.relative_to(root).parts[1].partition("-")[0]
    folder = root / "book/data"
    for path in [*folder.glob(f"{day}.json"), *sorted(folder.glob(f"{day}_*.json"))]:
        data = json.loads(path.read_text())
        names = {row["exercise"] for row in data.get("rows", [])}
        if any(name.startswith(table.measured) for name in names):
            return data
    return {}


def _written(
    table: Table, old: list[str], data: dict, listed: dict[str, list[str]]
) -> list[str]:
    """The lines below the first tag, the last tag included."""
    versions = [_parsed(line) for line in old if VERSION.fullmatch(line)]
    named = [version for version, _, _ in versions]
    if missing := [v for v in listed.get(table.exercise, []) if v not in named]:
        raise LadderError(f"the ladder of {table.exercise} has no line of {missing[0]}")
    rows = _rows(table, data)
    if unknown := [v for v in rows if v not in named]:
        raise LadderError(
            f"{unknown[0]} of {table.exercise} was measured, but has no line")
    field = _field(table, list(rows.values()))
    numbers = {v: short(row[field]) for v, row in rows.items() if field in row}
    grid = [("", UNITS[field] if rows else "-", "idea", "what limits it")]
    grid += [(v, numbers.get(v, "-"), idea, limit) for v, idea, limit in versions]
    widths = [max(len(row[column]) for row in grid) for column in range(3)]
    lines = []
    for v, number, idea, limit in grid:
        line = (f"//   {v:{widths[0]}}  {number:>{widths[1]}}  {idea:{widths[2]}}"
                f"  {limit}")
        if len(line) > WIDTH:
            raise LadderError(f"the line of {v} takes {len(line)} columns, not {WIDTH}")
        lines.append(line.rstrip())
    return [*lines, f"// </Ladder>{_origin(data, rows)}"]


def _parsed(line: str) -> tuple[str, str, str]:
    """Version, idea, limit; the number is forgotten."""
    version, rest = VERSION.fullmatch(line).groups()
    if number := NUMBER.fullmatch(rest):
        rest = number[1]
    idea, *limit = re.split(r" {2,}", rest.strip(), maxsplit=1)
    return version, idea, limit[0] if limit else ""


def _rows(table: Table, data: dict) -> dict[str, dict]:
    """The measured row of each version, at the table's size."""
    for exercise in (table.measured + end for end in TYPES):
        rows = {
            match[1]: row for row in data.get("rows", [])
            if row["exercise"] == exercise and row["size"] == table.size
            and (match := re.fullmatch(r"\w+_(v\d+\w*)", row["rung"]))}
        if rows:
            return rows
    if any(row["exercise"].startswith(table.measured) for row in data.get("rows", [])):
        raise LadderError(f"{table.measured} was not measured at {table.size!r}")
    return {}


def _field(table: Table, rows: list[dict]) -> str:
    if table.time:
        return "median_us"
    return next((f for f in UNITS if any(f in row for row in rows)), "median_us")


def _origin(data: dict, rows: dict[str, dict]) -> str:
    if not rows:
        return " not measured"
    machine = data["machine"]
    date = max(row.get("date", "") for row in rows.values())
    return f" {machine['gpu']}, CUDA {machine['cuda']}, {date}".rstrip(", ")


def short(value: float) -> str:
    """Three significant digits, as the book writes them: 0.0312, 8.79, 2,850."""
    if not value:
        return "0"
    value = float(f"{value:.3g}")
    decimals = max(0, 2 - int(f"{value:e}".partition("e")[2]))
    return f"{value:,.{decimals}f}"
