"""What is known of a chapter's mutants: tests/<chapter>/equivalent.txt lists those that
are right, with the reason, and book/data/mutation.json holds the scores.

    vector_add_v2: off_by_one: 4 + 1, kThreads -> 4 + 2, kThreads  # one idle block more
    vector_add_v2: condition: !is_aligned_for_float4(a) -> true
        # always the scalar version: right, only slower

A mutant is named by its function and its words, so that the list survives when files
are split and lines move. "(2)" stands behind the second of two that read the same."""

import json
from pathlib import Path

from learn import ui
from learn.course import Chapter
from learn.mutation.part import Part, key_of

SCORES = Path("book/data/mutation.json")
GPU = "GPU: "
"""Begins the reason of a mutant that is wrong, but only a GPU can tell."""


def file_of(chapter: Chapter | Part) -> Path:
    part = f"equivalent_{chapter.name}.txt"
    return Path("tests", chapter.path,
                part if isinstance(chapter, Part) else "equivalent.txt")


def equivalents(chapter: Chapter | Part) -> dict[str, str]:
    """Keys and reasons."""
    file = file_of(chapter)
    found: dict[str, str] = {}
    if not file.is_file():
        return found
    for number, entry in _entries(file.read_text()):
        key, mark, reason = entry.partition("  # ")
        if not mark or not reason.strip():
            raise ui.Stop(f"{file}:{number}: no reason; write KEY  # REASON")
        if key in found:
            raise ui.Stop(f"{file}:{number}: this mutant is listed already")
        found[key] = reason.strip()
    return found


def _entries(text: str) -> list[tuple[int, str]]:
    """Each with the number of its first line. An indented line continues the one before
    it; if it begins with "# ", there begins the reason."""
    entries: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if not words or line.startswith("#"):
            continue
        if line[0] == " " and entries:
            first, entry = entries.pop()
            gap = "  " if words.startswith("# ") else " "
            entries.append((first, f"{entry}{gap}{words}"))
        else:
            entries.append((number, words))
    return entries


def save(chapter: Chapter | Part, score: dict) -> None:
    """Puts a chapter's score among the others."""
    try:
        scores = json.loads(SCORES.read_text())
    except FileNotFoundError:
        scores = {"format": "warpbook mutation 1", "chapters": {}}
    scores["chapters"][key_of(chapter)] = score
    scores["chapters"] = dict(sorted(scores["chapters"].items()))
    SCORES.write_text(json.dumps(scores, indent=2) + "\n")
