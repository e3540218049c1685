"""Tables of Markdown for a terminal: aligned columns; narrow terminals get cells in
several lines, and where even that does not fit, one block for each row."""

import re

from learn import inline

GAP = "  "


def is_table(lines: list[str]) -> bool:
    """A table has a line of dashes as its second."""
    return (
        len(lines) > 1
        and "|" in lines[0]
        and bool(re.fullmatch(r"\s*\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?\s*)?", lines[1])))


def render(lines: list[str], columns: int, folder: str, colour: bool) -> list[str]:
    """The table in at most so many columns; with styles (see inline.py)."""
    head, rule, *rows = [_cells(line) for line in lines]
    alignment = [cell.endswith(":") for cell in rule]
    grid = [
        [inline.render(cell, folder, colour) for cell in row + [""] * len(head)][
            : len(head)]
        for row in [head, *rows]]
    widths = _widths(grid, columns - len(GAP) * (len(head) - 1))
    if widths is None:
        return _blocks(grid, columns)
    result = []
    for number, row in enumerate(grid):
        cells = [inline.wrapped(cell, w, hard=True) for cell, w in zip(row, widths)]
        if number == 0:
            if not any(row):
                continue
            cells = [[c and inline.BOLD + c + inline.OFF for c in x] for x in cells]
        for index in range(max(map(len, cells))):
            parts = [
                _aligned(lines[index] if index < len(lines) else "", w, right)
                for lines, w, right in zip(cells, widths, alignment)]
            result.append(GAP.join(parts).rstrip())
        if number == 0:
            result.append(GAP.join("─" * w for w in widths))
    return result


def _cells(line: str) -> list[str]:
    """Split at bars that are in no code, no formula and behind no backslash."""
    parts = re.findall(r"(?:\\.|`[^`]*`|\$[^$|]*\$|[^|\\])+|\|", line.strip())
    cells, current = [], ""
    for part in parts:
        if part == "|":
            cells.append(current.strip())
            current = ""
        else:
            current += part
    if current.strip():
        cells.append(current.strip())
    return cells[1:] if line.lstrip().startswith("|") else cells


def _aligned(text: str, columns: int, right: bool) -> str:
    blanks = " " * (columns - inline.width(text))
    return blanks + text if right else text + blanks


def _widths(grid, columns: int) -> list[int] | None:
    """A width for each column; None if the longest words do not fit side by side."""
    by_column = list(zip(*grid))
    natural = [max(inline.width(cell) for cell in column) for column in by_column]
    if sum(natural) <= columns:
        return natural
    words = [
        max((inline.width(w) for cell in column for w in cell.split(" ")), default=1)
        for column in by_column]
    if sum(words) > columns:
        return None
    # What is left goes to the columns that lack most.
    widths = words
    for _ in range(columns - sum(words)):
        lack = [wanted - have for wanted, have in zip(natural, widths)]
        widths[lack.index(max(lack))] += 1
    return widths


def _blocks(grid, columns: int) -> list[str]:
    """Each row as a block: its first cell, then "head: cell" for the others."""
    head, *rows = grid
    result = []
    for row in rows:
        if result:
            result.append("")
        result += inline.wrapped(inline.BOLD + row[0] + inline.OFF, columns)
        for title, cell in zip(head[1:], row[1:]):
            if cell:
                text = f"{title}: {cell}" if title else cell
                result += ["  " + line for line in inline.wrapped(text, columns - 2)]
    return result
