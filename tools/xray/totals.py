"""What a kernel cost altogether, under Nsight Compute's names."""

from typing import NamedTuple

from xray.explain import idle_share
from xray.run import SECTOR_BYTES, Kernel, Place, Run
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


def _lines_text(wastes: list[tuple[Place, float]]) -> str:
    """ "dot.cu:13", "dot.cu:13 and 20", at most three, the worst first."""
    wastes = sorted(wastes, key=lambda waste: -waste[1])
    worst = wastes[0][1]
    places = [place for place, amount in wastes if amount >= 0.05 * worst]
    texts, file = [], None
    for place in list(dict.fromkeys(places))[:3]:
        name = "" if place.file == file else place.file.rpartition("/")[2] + ":"
        texts.append(f"{name}{place.line}")
        file = place.file
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def _waste_text(kernel: Kernel, shared: bool, given: bool) -> str:
    """ "77 % of the sectors that it moves are wasted, by dot.cu:13", or "".

    given: of the given lines, or else of the learner's"""
    key = "wavefronts" if shared else "sectors"
    accesses = [a for a in kernel.accesses if (a.space == "shared") == shared]
    total = sum(getattr(a, key) for a in accesses)
    costs = [(a.place, getattr(a, key), getattr(a, f"ideal_{key}"))
             for a in accesses if a.given == given]
    wastes = [(place, cost - ideal) for place, cost, ideal in costs if cost > ideal]
    wasted = sum(waste for _, waste in wastes)
    if total <= 0 or wasted < 0.02 * total:
        return ""
    words = ("of its passes through shared memory are bank conflicts, in" if shared else
             "of the sectors that it moves are wasted, by")
    return f"{percent_text(wasted / total)} {words} {_lines_text(wastes)}"


def _queue_text(kernel: Kernel, given: bool) -> str:
    """ "up to 32 lanes of a warp queue up at one address in dot.cu:9", or ""."""
    atomics = [a for a in kernel.accesses if a.op == "atomic" and a.given == given]
    worst = max(atomics, key=lambda access: access.max_same_address, default=None)
    if not worst or worst.max_same_address <= 1.5:
        return ""
    return (f"up to {ratio_text(worst.max_same_address)} lanes of a warp queue up at"
            f" one address in {_lines_text([(worst.place, 1.0)])}")


def _idle_text(kernel: Kernel, given: bool) -> str:
    """ "48 % of its lanes wait for others, at dot.cu:18 and 21", or ""."""
    shares = [(b.place, idle_share(b, kernel))
              for b in kernel.branches if b.given == given]
    idle = sum(share for _, share in shares)
    if idle < 0.1:
        return ""
    places = _lines_text([waste for waste in shares if waste[1] > 0])
    return f"{percent_text(idle)} of its lanes wait for others, at {places}"


def _wastes_text(kernel: Kernel, given: bool) -> str:
    """What is wasted, and where, in one sentence; "" if nothing is."""
    texts = (_waste_text(kernel, False, given), _waste_text(kernel, True, given),
             _queue_text(kernel, given), _idle_text(kernel, given))
    text = "; ".join(filter(None, texts))
    return f"{text[0].upper()}{text[1:]}." if text else ""


def verdict(kernel: Kernel) -> tuple[bool, str]:
    """Whether nothing is wasted; one sentence: which of its traffic is, and where.
    Lines that were given to the learner are not blamed."""
    if text := _wastes_text(kernel, given=False):
        return False, text
    if not kernel.accesses:
        return True, "No access to memory was counted."
    if _wastes_text(kernel, given=True):
        return True, ("The lines that you wrote waste nothing. Lines that were given"
                      " do; --given says which.")
    return True, ("Its accesses waste nothing: each takes the fewest sectors and passes"
                  " that it can.")


def _work(run: Run, section: str) -> list:
    """What the kernels of a section did, without names and lines."""
    work = []
    for kernel in run.of(section):
        done, conflicts = {}, 0.0
        for a in kernel.accesses:
            if a.space == "global":
                requests, sectors = done.get(a.op, (0, 0))
                done[a.op] = requests + a.requests, sectors + a.sectors
            elif a.space == "shared":
                conflicts += a.wavefronts - a.ideal_wavefronts
        work.append((kernel.grid, kernel.block, kernel.launches,
                     kernel.total("barriers"), done, conflicts))
    return work


def alike_text(run: Run, section: str) -> str:
    """Which earlier rung did just as much at this size: a report cannot tell them
    apart; "" if there is none."""
    before = list(dict.fromkeys(kernel.section for kernel in run.kernels))
    work = _work(run, section)
    for other in before[:before.index(section)]:
        if other and work == _work(run, other):
            return (f"At this size it launches, moves and waits as {other} does; they"
                    " may differ at another one (--size).")
    return ""


def ncu_command(kernel: Kernel, program: str) -> str:
    """The command that measures the same on a GPU; `program` is how to start it."""
    metrics = [name for row in totals(kernel) for name in row.metrics]
    metrics = metrics or [f"{SECTORS}ld.sum", f"{SECTORS}st.sum"]
    name = base_name(kernel.name)
    return f"ncu -k regex:{name} --metrics {','.join(metrics)} {program}"
