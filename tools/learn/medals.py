"""What a second stage has won, and a chart of it: from the rows that a benchmark has
written, all of one GPU and one run.

bronze  faster than the version before ours
silver  at least 90 % as fast as ours
gold    at least as fast as the library, or 95 % of what the memory or the tensor cores
        can do

The largest size decides, which comes last.
"""

import html
import re
from pathlib import Path
from typing import NamedTuple

from learn import ui

SILVER, GOLD = 0.9, 95.0  # of our speed; percent of the ceiling
BAR = 40  # characters
COLOURS = {"yours": "#2a7de1", "ours": "#7a8794", "library": "#b06d00"}


class Bar(NamedTuple):
    """One line of the chart."""

    name: str
    kind: str  # yours, ours, library
    speed: float  # in unit
    unit: str
    percent: float | None  # of the ceiling


def version_of(solution: Path, exercise: str) -> str:
    """The version of this exercise that a second stage is about: transpose_v4.

    A solution names it, or says which number it is about: "v4: a warp looks back".
    """
    text = solution.read_text()
    found = re.search(rf"\b{exercise}_v(\d+)", text)
    found = found or re.search(r"(?:\b|_)v(\d+)\b", text)
    return f"{exercise}_v{found[1]}" if found else ""


def bars_of(mine: list[dict], ladder: list[dict], exercise: str) -> list[Bar]:
    """The rows of the largest size of an exercise: ours, the library's, the learner's.

    mine, ladder: the rows of both benchmarks, in the order in which they were measured
    """
    rows = [row for row in mine if row["exercise"] == exercise]
    if not rows:
        return []
    size = rows[-1]["size"]
    yours = [
        _bar(row, "yours") for row in rows
        if row["size"] == size and row["rung"] == exercise]
    others = [
        _bar(row, kind) for row in ladder
        if row["exercise"] == exercise and row["size"] == size
        and (kind := _kind(row))]
    return others + yours if yours and others else []


def _kind(row: dict) -> str:
    """ours: a version of the ladder; library; or "" for a yardstick."""
    if re.fullmatch(r"\w+_v\d+", row["rung"]):
        return "ours"
    is_library = row["idea"] == "library" or row["rung"].startswith("torch")
    return "library" if is_library else ""


def _bar(row: dict, kind: str) -> Bar:
    speed, unit = row.get("gbps"), "GB/s"
    if speed is None:
        speed, unit = row.get("tflops") or 0.0, "TFLOP/s"
    name = "yours" if kind == "yours" else row["rung"]
    return Bar(name, kind, speed, unit, row.get("percent"))


def medal(bars: list[Bar], version: str) -> str:
    """gold, silver, bronze or "".

    version: the one that the stage is about; the last one if the ladder lacks it
    """
    yours = max((bar.speed for bar in bars if bar.kind == "yours"), default=0.0)
    library = [bar.speed for bar in bars if bar.kind == "library"]
    ours = [bar for bar in bars if bar.kind == "ours"]
    best_share = max((b.percent or 0.0 for b in bars if b.kind == "yours"), default=0.0)
    if (library and yours >= max(library)) or best_share >= GOLD:
        return "gold"
    if ours and yours >= SILVER * max(bar.speed for bar in ours):
        return "silver"
    names = [bar.name for bar in ours]
    before = ours[: names.index(version) if version in names else -1]
    if before and yours > before[-1].speed:
        return "bronze"
    return ""


def in_words(won: str) -> str:
    """What the learner reads below the chart."""
    colour = {"gold": "yellow", "silver": "bold", "bronze": "bold"}.get(won)
    text = {
        "gold": "GOLD: as fast as the library, or 95 % of the ceiling.",
        "silver": "SILVER: at least 90 % of our speed. Gold: the library's, or 95 %"
        " of the ceiling.",
        "bronze": "BRONZE: faster than the version before. Silver: 90 % of our speed.",
    }.get(won, "No medal yet. Bronze: faster than the version before ours.")
    return ui.paint(text, *[colour] * bool(colour))


def chart(bars: list[Bar]) -> list[str]:
    """Lines for a terminal."""
    longest = max(bar.speed for bar in bars) or 1.0
    width = max(len(bar.name) for bar in bars)
    lines = []
    for bar in bars:
        blocks = "█" * max(1, round(BAR * bar.speed / longest))
        share = "" if bar.percent is None else f"{bar.percent:5.1f} %"
        speed = f"{bar.speed:8.1f} {bar.unit} {share}".rstrip()
        text = f"{bar.name:<{width}}  {blocks:<{BAR}} {speed}"
        lines.append(ui.paint(text, *["bold"] * (bar.kind == "yours")))
    return lines


def svg(bars: list[Bar], title: str) -> str:
    """The same chart as a picture, with its numbers as text."""
    left, wide, high, step = 190, 380, 22, 30
    longest = max(bar.speed for bar in bars) or 1.0
    parts = []
    for number, bar in enumerate(bars):
        y = 44 + step * number
        length = max(1.0, wide * bar.speed / longest)
        share = "" if bar.percent is None else f", {bar.percent:.0f} %"
        label = f"{bar.speed:,.1f} {bar.unit}{share}"
        parts += [
            f'<text x="{left - 10}" y="{y + 15}" text-anchor="end">'
            f"{html.escape(bar.name)}</text>",
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{high}"'
            f' fill="{COLOURS[bar.kind]}"/>',
            f'<text x="{left + length + 8:.1f}" y="{y + 15}">'
            f"{html.escape(label)}</text>"]
    height = 44 + step * len(bars) + 10
    inside = "\n  ".join(parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" role="img"
  font-family="sans-serif" font-size="14">
  <title>{html.escape(title)}</title>
  <rect width="760" height="{height}" fill="white"/>
  <text x="10" y="24" font-weight="bold">{html.escape(title)}</text>
  {inside}
</svg>
"""
