"""The verdict of a test program: the JSON document that it writes (docs/verdict.md).

Decisions are made by its fields; the "text" of a finding is what the learner reads.
"""

import json
import re
from pathlib import Path

from learn import ui

FORMAT = "warpbook verdict 1"
GRADERS_KINDS = frozenset((
    "wrong_result", "damaged_memory", "changed_input", "work_for_nothing",
    "not_refused", "launcher_threw", "cuda_error", "unsolved", "goal_missed",
    "contract", "check_failed", "time_limit", "ended_early"))
"""What the grader finds; every other kind is the simulator's or its checker's."""


class Record(dict):
    """An object of the document: verdict.ended, case.findings, finding.kind."""

    __getattr__ = dict.get


def file_of(folder: Path, test: str) -> Path:
    """Where the program of a CTest test writes."""
    name = re.sub(rb"[^A-Za-z0-9_.-]", b"_", test.encode()).decode()
    return folder / "verdicts" / f"{name}.json"


def read(file: Path) -> Record | None:
    """None if the program wrote nothing, or nothing that can be understood."""
    try:
        verdict = json.loads(file.read_text(errors="replace"), object_hook=Record)
        return verdict if verdict.format == FORMAT else None
    except (OSError, ValueError, AttributeError):
        return None


def findings(verdict: Record) -> list[Record]:
    """All findings, those outside of cases last."""
    in_cases = [f for case in verdict.cases or [] for f in case.findings or []]
    return in_cases + (verdict.findings or [])


def is_of_checker(finding: Record) -> bool:
    """Does it make a chapter unsafe? A launch that CUDA refuses does not: the launcher
    is told so, too, and tests provoke it."""
    return finding.kind not in GRADERS_KINDS and finding.kind != "refused_launch"


def text(found) -> str:
    """The words of findings, for a terminal."""
    return ui.relative("\n".join(line for f in found for line in f.text or []))
