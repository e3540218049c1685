"""What a line costs, as a figure for the margin and as words."""

from dataclasses import dataclass
from enum import IntEnum

from xray.run import SECTOR_BYTES, Access, Barrier, Branch, Kernel
from xray.words import bytes_text, counted, percent_text, ratio_text

WARP_SIZE = 32


class Heat(IntEnum):
    """How much of its kernel's traffic a line wastes; the name is a class of CSS."""

    good = 0  # as good as it gets
    mild = 1  # it could be better, and it would not matter much
    warm = 2  # from 10 % of the kernel's traffic on
    hot = 3  # from 30 % on


@dataclass
class Cost:
    """What one line does to one part of the machine."""

    what: str  # "load", "shared store", "barrier"
    figure: str = ""  # "32 of 4 sectors", "32-way"
    efficiency: str = ""  # "12 %", or ""
    heat: Heat = Heat.good
    sentence: str = ""  # what happens
    advice: str = ""  # what to do about it; "" if nothing


def per_request(count: float, access: Access) -> float:
    return count / access.requests if access.requests > 0 else 0.0


def efficiency(access: Access) -> float:
    """Wanted bytes over moved bytes of an access, at most 1."""
    if access.sectors <= 0:
        return 1.0
    return min(1.0, access.ideal_sectors / access.sectors)


def bank_ways(access: Access) -> float:
    """Passes through shared memory over the fewest possible, at least 1."""
    if access.ideal_wavefronts <= 0:
        return 1.0
    return max(1.0, access.wavefronts / access.ideal_wavefronts)


def _heat_of(waste: float, total: float) -> Heat:
    """The share of a kernel's traffic that is wasted."""
    share = waste / total if total > 0 else 0.0
    if share >= 0.1:
        return Heat.hot if share >= 0.3 else Heat.warm
    return Heat.mild if waste > 0.02 * total and waste > 0 else Heat.good


def _subject(access: Access) -> str:
    """ "A warp's 32 loads of 4 bytes"."""
    lanes = ratio_text(per_request(access.lanes, access))
    one, many = {
        "store": ("store", "stores"),
        "atomic": ("atomic operation", "atomic operations"),
        "async": ("asynchronous copy", "asynchronous copies"),
    }.get(access.op, ("load", "loads"))
    words = f"One lane's {one}" if lanes == "1" else f"A warp's {lanes} {many}"
    return f"{words} of {counted(access.bytes, 'byte')}"


def _explain_sectors(access: Access, cost: Cost) -> None:
    """Why a request touches more sectors than its bytes fill, and what helps."""
    lanes = per_request(access.lanes, access)
    sectors = per_request(access.sectors, access)
    ideal = per_request(access.ideal_sectors, access)
    wanted = min(lanes * access.bytes, sectors * SECTOR_BYTES)
    bill = (f": {bytes_text(sectors * SECTOR_BYTES)} are moved for"
            f" {bytes_text(wanted)} that are wanted.")
    if sectors >= 0.9 * lanes and lanes > 1.5:
        happens = f"go to {ratio_text(sectors)} different sectors of 32 bytes"
        cost.advice = (
            "Let threadIdx.x run along the fastest dimension, so that neighbouring"
            " threads touch neighbouring addresses; if the other array needs the other"
            " order, exchange through a tile in shared memory.")
    elif sectors - ideal <= 1.05 and ideal > 1.5:
        happens = ("lie side by side, but begin in the middle of a sector of 32 bytes"
                   " and so touch one more")
        cost.advice = (
            "Start each row at a multiple of 32 bytes (a padded pitch, or an index that"
            " is shifted by the offset).")
    else:
        happens = (f"touch {ratio_text(sectors)} sectors of 32 bytes where"
                   f" {ratio_text(ideal)} would hold them")
        cost.advice = (
            "Something lies between what neighbouring threads want: a stride, the other"
            " fields of a struct, or the edge of short rows. Bring together what is"
            " used together.")
    cost.sentence = f"{_subject(access)} {happens}{bill}"


def _explain_global(access: Access, kernel: Kernel, cost: Cost) -> None:
    sectors = per_request(access.sectors, access)
    ideal = per_request(access.ideal_sectors, access)
    cost.figure = f"{ratio_text(sectors)} of {counted(ideal, 'sector')}"
    cost.efficiency = percent_text(efficiency(access))
    if sectors > 1.02 * ideal:
        total = kernel.sum("sectors", lambda a: a.space != "shared")
        cost.heat = _heat_of(access.sectors - access.ideal_sectors, total)
        _explain_sectors(access, cost)
    elif sectors < 0.98 * ideal:
        cost.figure = counted(sectors, "sector")
        cost.sentence = (f"{_subject(access)} read the same few addresses:"
                         f" {cost.figure} serves them all.")
    elif ratio_text(per_request(access.lanes, access)) == "1":
        cost.sentence = f"{_subject(access)} moves a whole sector of 32 bytes."
    else:
        cost.sentence = (f"{_subject(access)} take {counted(sectors, 'sector')} of 32"
                         " bytes, the fewest that can hold them.")


def _explain_shared(access: Access, kernel: Kernel, cost: Cost) -> None:
    ways = bank_ways(access)
    passes = ratio_text(per_request(access.wavefronts, access))
    if ways <= 1.02:
        cost.figure = "no conflict"
        cost.sentence = (f"{_subject(access)} meet no bank conflict: {passes}"
                         f" {'pass' if passes == '1' else 'passes'} a request.")
        return
    waste = access.wavefronts - access.ideal_wavefronts
    cost.figure = f"{ratio_text(ways)}-way banks"
    total = kernel.sum("wavefronts", lambda a: a.space == "shared")
    cost.heat = _heat_of(waste, total)
    cost.efficiency = percent_text(1.0 / ways)
    cost.sentence = (
        f"{_subject(access)} want different words of the same banks, and a bank serves"
        f" one word at a time: {passes} passes a request instead of"
        f" {ratio_text(per_request(access.ideal_wavefronts, access))}.")
    if access.max_ways > ways * 1.05:
        cost.sentence += (f" The worst request takes {ratio_text(access.max_ways)}"
                          " times as many as it should.")
    cost.advice = ("Pad each row by one word (tile[32][33]), so that a column visits"
                   " all banks, or swizzle the column index with the row.")


def _explain_contention(access: Access, cost: Cost) -> None:
    queue = access.max_same_address
    if queue < 1.5:
        return
    cost.figure, cost.efficiency = f"{ratio_text(queue)} on one address", ""
    cost.heat = Heat.hot if queue >= 16 else Heat.warm
    cost.sentence = (f"Up to {ratio_text(queue)} lanes of a warp update one address:"
                     " they queue up and are served one by one.")
    cost.advice = (
        "Give each warp a copy of its own, or add up within the warp first, with"
        " shuffles." if access.space == "shared" else
        "Add up within the warp or the block first (shuffles, a tree in shared memory),"
        " then let one thread update the address.")


def of_access(access: Access, kernel: Kernel) -> Cost:
    """Loads, stores, atomics."""
    shared = access.space == "shared"
    space = "" if access.space == "global" else f"{access.space} "
    cost = Cost(space + access.op)
    (_explain_shared if shared else _explain_global)(access, kernel, cost)
    if access.op == "atomic":
        _explain_contention(access, cost)
    if access.merged > 0:
        cost.sentence += " (The compiler made one access of several here.)"
    return _spared(cost) if access.given else cost


def _spared(cost: Cost) -> Cost:
    """The cost of a line that the learner was given: a fact without blame."""
    cost.heat, cost.advice = Heat.good, ""
    return cost


def idle_share(branch: Branch, kernel: Kernel) -> float:
    """The lanes that idle at a line, as a share of all that idle or work in the
    kernel."""
    all_lanes = WARP_SIZE * sum(other.executions for other in kernel.branches)
    idle = WARP_SIZE * branch.executions - branch.lanes
    return idle / all_lanes if all_lanes > 0 else 0.0


def _busy_lanes(branch: Branch) -> float:
    """Of 32, on average. A condition and what stands behind it may share a line, but
    not their lanes: only what stands behind counts, if it is known."""
    lanes, executions = branch.part_lanes, branch.part_executions
    if executions <= 0:
        lanes, executions = branch.lanes, branch.executions
    return lanes / executions if executions > 0 else 0.0


def is_divergent(branch: Branch) -> bool:
    return _busy_lanes(branch) <= 31


def of_branch(branch: Branch, kernel: Kernel) -> Cost:
    """Lanes that are not active."""
    lanes = _busy_lanes(branch)
    busy = ratio_text(lanes)
    cost = Cost("lanes", f"{busy} of 32 busy", percent_text(lanes / WARP_SIZE))
    idle = idle_share(branch, kernel)
    cost.heat = Heat.hot if idle >= 0.3 else Heat.warm if idle >= 0.1 else Heat.mild
    cost.sentence = (
        f"On average {busy} of a warp's 32 lanes are busy here, the others wait: the"
        " warp takes the time of 32 all the same.")
    if idle >= 0.1:  # a rare line is not worth a change of the algorithm
        cost.advice = (
            "Give neighbouring lanes the same way to go: let the condition depend on"
            " the warp's number, not the lane's, or sort the work so that equal cases"
            " meet.")
    return _spared(cost) if branch.given else cost


def of_barrier(barrier: Barrier, kernel: Kernel) -> Cost:
    """Waiting for the whole block, or the whole warp."""
    each = barrier.count / kernel.blocks if kernel.blocks > 0 else barrier.count
    if "syncwarp" in barrier.op:
        return Cost("barrier", f"{ratio_text(each)} in each block",
                    sentence="The lanes of a warp wait here for one another.")
    return Cost("barrier", f"{ratio_text(each)} a block",
                sentence="Every thread of the block waits here for the slowest,"
                f" {counted(each, 'time')} a block.")
