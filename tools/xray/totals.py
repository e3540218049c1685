"""What a kernel cost altogether, under Nsight Compute's names."""

from typing import NamedTuple

from xray.explain import idle_share
from xray.run import SECTOR_BYTES, Kernel, Run
from xray.source import base_name
from xray.words import bytes_text, count_text, percent_text, ratio_text

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"


class Total(NamedTuple):
    """One row of a kernel's totals."""

    label: str
    value: str
    remark: str = ""  # what the number means
    metrics: tuple = ()  # of Nsight Compute


def bytes_moved(kernel: Kernel) -> float:
    """Sectors of 32 bytes that all global accesses move, in bytes."""
    return SECTOR_BYTES * kernel.sum("sectors", lambda a: a.space == "global")


def bytes_touched(kernel: Kernel) -> float:
    """Distinct sectors read plus distinct sectors written, in bytes."""
    return kernel.total("bytes_touched") + kernel.total("bytes_touched_written")


def _global(kernel: Kernel, op: str, label: str, metrics: tuple):
    requests, sectors, ideal = (
        kernel.sum(key, lambda a: a.space == "global" and a.op == op)
        for key in ("requests", "sectors", "ideal_sectors"))
    if requests > 0:
        yield Total(
            f"global {label}",
            f"{count_text(sectors)} sectors in {count_text(requests)} requests",
            f"{ratio_text(sectors / requests)} sectors a request,"
            f" {ratio_text(ideal / requests)} would do", metrics)


def _shared(kernel: Kernel, op: str, metric: str):
    requests, passes, ideal = (
        kernel.sum(key, lambda a: a.space == "shared" and a.op == op)
        for key in ("requests", "wavefronts", "ideal_wavefronts"))
    if requests > 0:
        conflicts = passes - ideal
        yield Total(
            f"shared {op}s",
            f"{count_text(passes)} passes for {count_text(requests)} requests",
            f"{count_text(conflicts)} of them bank conflicts" if conflicts > 0 else
            "no bank conflict",
            (f"{WAVEFRONTS}{metric}.sum", f"{CONFLICTS}{metric}.sum"))


def totals(kernel: Kernel) -> list[Total]:
    """The rows of one kernel; what it does not do is left out."""
    rows = []
    for op, label, metric in (
            ("load", "loads", "ld"), ("store", "stores", "st"),
            ("async", "asynchronous copies", "ldgsts")):
        metrics = (f"{REQUESTS}{metric}.sum", f"{SECTORS}{metric}.sum")
        rows += _global(kernel, op, label, metrics)
    rows += _global(
        kernel, "atomic", "atomics", (f"{SECTORS}red.sum", f"{SECTORS}atom.sum"))
    for op, metric in (("load", "ld"), ("store", "st"), ("atomic", "atom")):
        rows += _shared(kernel, op, metric)
    if (barriers := kernel.total("barriers")) > 0:
        rows.append(Total(
            "barriers", count_text(barriers),
            f"{ratio_text(barriers / kernel.blocks)} a block",
            ("smsp__inst_executed_op_barrier.sum",)))
    if (moved := bytes_moved(kernel)) > 0:
        asked = kernel.total("bytes_requested")
        rows.append(Total(
            "bytes moved", bytes_text(moved),
            f"the threads asked for {bytes_text(asked)}" if asked > 0 else ""))
    if (touched := bytes_touched(kernel)) > 0:
        rows.append(Total(
            "distinct sectors", bytes_text(touched),
            f"{bytes_text(kernel.total('bytes_touched'))} read,"
            f" {bytes_text(kernel.total('bytes_touched_written'))} written: what"
            " perfect caches would leave for DRAM", ("dram__bytes.sum",)))
    return rows


def bill_text(run: Run, section: str) -> str:
    """One sentence on the bytes that all kernels of a section move, against what its
    contract needs, or else against the distinct sectors."""
    moved = sum(map(bytes_moved, run.of(section)))
    touched = sum(map(bytes_touched, run.of(section)))
    contract = run.contract(section).bytes
    text = f"{bytes_text(moved)} are moved"
    least = contract if contract > 0 else touched
    if least <= 0:
        return text + "."
    text += (f", the contract needs {bytes_text(least)}" if contract > 0 else
             f", they lie in {bytes_text(least)} of sectors")
    if moved / least < 1.05:
        return text + ": as few as can be."
    caught = " (caches can catch those that are moved more than once)"
    return (f"{text}: {ratio_text(moved / least)} times as many"
            f"{caught if touched < 0.7 * moved else ''}.")


def _lines_text(wastes: list[tuple[int, float]]) -> str:
    """ "line 13", "lines 13 and 20", at most three, the worst first."""
    wastes = sorted(wastes, key=lambda waste: -waste[1])
    worst = wastes[0][1]
    lines = [line for line, amount in wastes if amount >= 0.05 * worst]
    *most, last = list(dict.fromkeys(map(str, lines)))[:3]
    return f"lines {', '.join(most)} and {last}" if most else f"line {last}"


def _waste_text(kernel: Kernel, shared: bool) -> str:
    """ "77 % of the sectors that it moves are wasted, by line 13", or ""."""
    key = "wavefronts" if shared else "sectors"
    costs = [
        (a.place.line, getattr(a, key), getattr(a, f"ideal_{key}"))
        for a in kernel.accesses if (a.space == "shared") == shared]
    total = sum(cost for _, cost, _ in costs)
    wastes = [(line, cost - ideal) for line, cost, ideal in costs if cost > ideal]
    wasted = sum(waste for _, waste in wastes)
    if total <= 0 or wasted < 0.02 * total:
        return ""
    words = ("of its passes through shared memory are bank conflicts, in" if shared else
             "of the sectors that it moves are wasted, by")
    return f"{percent_text(wasted / total)} {words} {_lines_text(wastes)}"


def _queue_text(kernel: Kernel) -> str:
    """ "up to 32 lanes of a warp queue up at one address in line 9", or ""."""
    atomics = [a for a in kernel.accesses if a.op == "atomic"]
    worst = max(atomics, key=lambda access: access.max_same_address, default=None)
    if not worst or worst.max_same_address <= 1.5:
        return ""
    return (f"up to {ratio_text(worst.max_same_address)} lanes of a warp queue up at"
            f" one address in line {worst.place.line}")


def _idle_text(kernel: Kernel) -> str:
    """ "48 % of its lanes wait for others, at lines 18 and 21", or ""."""
    shares = [(b.place.line, idle_share(b, kernel)) for b in kernel.branches]
    idle = sum(share for _, share in shares)
    if idle < 0.1:
        return ""
    places = _lines_text([waste for waste in shares if waste[1] > 0])
    return f"{percent_text(idle)} of its lanes wait for others, at {places}"


def verdict(kernel: Kernel) -> tuple[bool, str]:
    """Whether nothing is wasted; one sentence: which of its traffic is, and where."""
    texts = (_waste_text(kernel, False), _waste_text(kernel, True), _queue_text(kernel),
             _idle_text(kernel))
    if text := "; ".join(filter(None, texts)):
        return False, f"{text[0].upper()}{text[1:]}."
    if not kernel.accesses:
        return True, "No access to memory was counted."
    return True, ("Its accesses waste nothing: each takes the fewest sectors and passes"
                  " that it can.")


def ncu_command(kernel: Kernel, program: str) -> str:
    """The command that measures the same on a GPU; `program` is how to start it."""
    metrics = [name for row in totals(kernel) for name in row.metrics]
    metrics = metrics or [f"{SECTORS}ld.sum", f"{SECTORS}st.sum"]
    name = base_name(kernel.name)
    return f"ncu -k regex:{name} --metrics {','.join(metrics)} {program}"
