"""The part of ./learn verify-gpu that measures."""

import json
from pathlib import Path

from learn import bench, build, steps, ui
from learn.course import Chapter

SECONDS = 240  # for one chapter: tensor core attention had not ended after 120
PEERS_SECONDS = 300  # for PyTorch on all sizes of a day


def run(state) -> None:
    """Each chapter's benchmark, one at a time and with nothing beside it; each merges
    its rows into the one file bench.json."""
    state.begin("bench")
    results = state.out / "bench.json"
    results.unlink(missing_ok=True)
    bad = [c.key for c in state.chapters if not _measure(c, results, state.work)]
    _peers(state, results)
    good = len(state.chapters) - len(bad)
    if bad:
        detail = f"{good} programs; without a result: {' '.join(bad)}"
        state.end("bench", "FAILED", detail)
    else:
        state.end("bench", "ok", f"{good} programs")


def _measure(chapter: Chapter, results: Path, work: Path) -> bool:
    """True when the benchmark ran and added to the results."""
    target = f"{chapter.target}_bench"
    program = build.program(target)
    if not program:
        ui.say(f"  there is no program {target}")
        return False
    before = results.read_bytes() if results.is_file() else b""
    result = steps.run(
        [program, "--json", results], work / f"bench.{target}.log", seconds=SECONDS)
    after = results.read_bytes() if results.is_file() else b""
    if result.status == 0 and after != before:
        ui.quote(result.text)
        return True
    ui.quote(result.text, 5)
    return False


def _peers(state, results: Path) -> None:
    """What PyTorch makes of the same sizes, for days that have a script for it. Nobody
    needs PyTorch; without it, the script says so, and the run is as good as before."""
    for day in dict.fromkeys(chapter.path.split("/")[0] for chapter in state.chapters):
        script = Path("tests", day, "torch_peers.py")
        if not script.is_file():
            continue
        result = steps.run(
            [bench.python_on_path(), script, "--json", results],
            state.work / f"bench.peers.{day}.log", seconds=PEERS_SECONDS)
        if result.status:
            ui.say(f"  {script} ended with {result.status}")
        ui.quote(result.text)


def rows(results: Path) -> list[str]:
    """Of each exercise and rung the row of the largest size, which comes last."""
    try:
        measured = json.loads(results.read_text())["rows"]
    except (OSError, ValueError, KeyError):
        return []
    last = {(row["exercise"], row["rung"]): row for row in measured}
    lines = []
    for (exercise, rung), row in last.items():
        value, unit = row.get("gbps"), "GB/s"
        if value is None:
            value, unit = row.get("tflops") or 0, "TFLOP/s"
        share = row.get("percent")
        percent = "" if share is None else f"{share:5.1f} %"
        size = row.get("size", "")
        line = f"{exercise:<24} {rung:<26} {size:<18} {value:8.1f} {unit:<7} {percent}"
        lines.append(line.rstrip())
    return lines
