"""./learn xray --trace: one block of a kernel, step by step, as a page with a slider.

The simulator records it (common/simt/checker/trace); trace_page.py makes the page."""

import json
import os
import re
from pathlib import Path

from learn import steps, trace_page, ui

FOLDER = Path("build/xray")
# What the workbook's headers do belongs to the line that calls them.
THROUGH = "/include/wb/"
LARGE = 10 << 20  # a page of more bytes is slow to open


def block_of(text: str) -> str:
    """--block as the simulator wants it."""
    if not re.fullmatch(r"\d+(,\d+){0,2}", text):
        raise ui.Stop(
            f"--block is '{text}', but must be x or x,y,z: ./learn xray --trace ..."
            " --block 1,0,0.")
    return text


def record(name: str, command: list, options) -> dict:
    """Runs a program until the block has ended; what was recorded."""
    file, log = ui.ROOT / FOLDER / f"{name}.trace.json", FOLDER / f"{name}.log"
    file.unlink(missing_ok=True)
    environment = {
        "SIMT_TRACE": str(file), "SIMT_TRACE_BLOCK": block_of(options.block or "0"),
        "SIMT_CHECK_TABLE": "0", "SIMT_CHECK_EXIT": "0", "SIMT_CHECK_THROUGH": THROUGH,
        "SIMT_SEED": options.seed or os.environ.get("SIMT_SEED", "0")}
    if options.kernel:
        environment["SIMT_CHECK_KERNEL"] = options.kernel
    if options.rung:
        environment["SIMT_TRACE_SECTION"] = options.rung
    limit = ui.Settings.time_limit or int(os.environ.get("XRAY_TIME_LIMIT", 300))
    ui.note("Running it in the simulator until the block has ended ...")
    result = steps.run(command, log, environment=environment, seconds=limit)
    if file.is_file():
        return json.loads(file.read_text())
    if result.status == steps.TIMED_OUT:
        raise ui.Stop(
            f"After {limit} seconds the block had not ended: choose a smaller problem,"
            f" or give it more time: --time-limit {limit * 4}.")
    lines = ui.relative(result.text).rstrip().split("\n")[-12:]
    ui.complain(ui.indent("\n".join(lines)), "dim")
    wanted = [f"--{word} {value}" for word in ("kernel", "rung", "block")
              if (value := getattr(options, word))]
    chosen = f" for {' '.join(wanted)}" if wanted else ""
    raise ui.Stop(f"Nothing was recorded{chosen} (the program's output: {log}).")


def show(name: str, command: list, options) -> int:
    """Records a block and writes the page."""
    trace = trace_page.complete(record(name, command, options), ui.ROOT)
    output = options.output or options.html
    file = FOLDER / f"{name}.trace.html"
    if output:
        file = ui.Settings.invoked_from / output
    text = trace_page.page(trace)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    ui.say(summary(trace))
    if len(text) > LARGE:
        ui.warn(
            f"The page has {len(text) >> 20} MB and opens slowly: choose a smaller"
            " problem or block.")
    ui.say()
    ui.next_step("Page", str(file))
    seed = int(trace["seed"])
    ui.next_step("Schedule", f"another one: --seed {seed + 1}")
    return 0


def summary(trace: dict) -> str:
    """What the page shows, in a few lines."""
    count = len(trace["steps"]) // 3
    threads = trace["block"][0] * trace["block"][1] * trace["block"][2]
    index = ", ".join(map(str, trace["index"]))
    lines = [
        f"{trace['kernel']}: block ({index}), {ui.count(-(-threads // 32), 'warp')},"
        f" {ui.count(count, 'step')}."]
    folded = sum(fold["steps"] for fold in trace["folds"])
    if folded:
        lines.append(f"{ui.count(folded, 'step')} of loops are folded.")
    if trace["left_out"]:
        lines.append(
            f"{ui.count(trace['left_out'], 'step')} at the end are beyond the limit and"
            " not recorded.")
    if trace["ended_early"] == 1:
        lines.append("A fault has ended the block early.")
    if trace["ended_early"] == 2:
        lines.append(
            "The block had not ended after 500,000 steps; perhaps it never does.")
    if trace["findings"]:
        kinds = sorted({f["kind"].replace("_", " ") for f in trace["findings"]})
        lines.append(f"Found: {', '.join(kinds)}; n and p on the page go there.")
    return "\n".join(lines)
