"""The GPUs that the model knows (common/simt/data/gpus.json), and how many warps of a
kernel fit one of their multiprocessors."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from xray.source import base_name

GPUS = Path(__file__).parents[2] / "common/simt/data/gpus.json"
USUAL_LAUNCH = 5e-6  # what a launch takes where nobody measured it
WARP_SIZE = 32
REGISTER_UNIT = 256  # registers are given to a warp in such portions
WARP_UNIT = 4  # one for each of the four schedulers
SHARED_UNIT = 128


@dataclass
class Gpu:
    """What is not published is 0. Rates are bytes a second, times seconds."""

    key: str
    name: str
    arch: str
    sms: int
    clock: float  # Hz
    fp32: float  # FLOP/s
    tensor: dict[str, float]  # the same of tensor cores, by the type of operands
    l2_bytes: float
    l2_rate: float
    rates: dict[str, float]  # of streams: read, write, copy, 2 reads + 1 write
    measured: bool  # whether those rates are
    launch: float
    atomic_interval: float  # between updates of one address
    limits: dict[str, int]  # of a multiprocessor: max_warps, max_blocks, registers, ...


def find_gpu(key: str) -> Gpu:
    """A GPU by its key in the file. ValueError with the keys there are."""
    document = json.loads(GPUS.read_text("utf-8"))
    if key not in document["gpus"]:
        raise ValueError(f"there is no data of a GPU '{key}'; there is "
                         + ", ".join(sorted(document["gpus"])))
    data = document["gpus"][key]

    def figure(name: str, among: dict = data) -> float:
        """0 where the file says null or nothing."""
        return among.get(name) or 0.0

    usual = document["dram_efficiency"]["value"] * 1e9 * figure("dram_gbps")
    measured = data.get("measured")
    names = {"read": "read_gbps", "write": "write_gbps", "copy": "copy_gbps",
             "2 reads + 1 write": "read2_write1_gbps"}
    clock = 1e6 * figure("clock_mhz")
    limits = ("max_warps", "max_blocks", "registers", "shared_bytes", "shared_reserved")
    return Gpu(
        key=key, name=data["name"], arch=data["arch"], sms=data["sms"], clock=clock,
        fp32=1e12 * figure("fp32_tflops"),
        tensor={type_: 1e12 * rate for type_, rate in data["tensor_tflops"].items()},
        l2_bytes=2**20 * figure("l2_mb"),
        l2_rate=clock * figure("l2_bytes_per_clock"),
        rates={mix: 1e9 * figure(name, measured) if measured else usual
               for mix, name in names.items()},
        measured=bool(measured), launch=1e-6 * figure("launch_us") or USUAL_LAUNCH,
        atomic_interval=1e-9 * figure("same_address_atomic_ns"),
        limits={name: int(figure(name)) for name in limits})


def take_ceilings(gpu: Gpu, path: str) -> None:
    """Replaces bandwidths and launch time by those that ./learn ceilings has measured,
    if that was a GPU of this model: the key in its name, the same architecture and as
    many multiprocessors. ValueError if the file is none of ./learn ceilings."""
    try:
        document = json.loads(Path(path).read_text("utf-8"))
        machine, ceilings = document["machine"], document["ceilings"]
        name = re.sub("[^a-z0-9]", "", machine["gpu"].lower())
        if gpu.key not in name or machine["arch"] != gpu.arch:
            return
        if machine["sms"] != gpu.sms:
            return
        values = {key: entry.get("value") or 0.0 for key, entry in ceilings.items()}
    except OSError:
        raise ValueError(f"cannot read {path}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no ceilings ({error!r}): ./learn ceilings"
                         " writes it anew") from None
    gpu.rates |= {mix: 1e9 * values[mix] for mix in gpu.rates if values.get(mix, 0) > 0}
    gpu.launch = 1e-6 * values.get("empty kernel", 0) or gpu.launch
    gpu.measured = True


@dataclass
class Resources:
    """What ptxas says about one kernel."""

    kernel: str  # demangled, "transpose_tiled<1>(float const*, ...)"
    registers: int = 0  # of a thread
    shared: int = 0  # static bytes of a block
    spill_stores: int = 0
    spill_loads: int = 0


def read_ptxas(path: str) -> list[Resources]:
    """Takes apart the output of `nvcc -cubin -Xptxas -v`; ValueError if there is
    none."""
    try:
        text = Path(path).read_text("utf-8", "replace")
    except OSError:
        raise ValueError(f"cannot read {path}") from None
    # As nvcc is there, a C++ compiler and its tools are.
    text = subprocess.run(
        ["c++filt"], input=text, capture_output=True, text=True).stdout
    found: list[Resources] = []
    its_own = False  # a function that is called, not inlined, has lines of its own
    for line in text.split("\n"):
        def number(unit: str, line: str = line) -> int:
            match = re.search(rf"(\d+) {unit}", line)
            return int(match[1]) if match else 0

        if match := re.search("Compiling entry function '(.*?)' for", line):
            found.append(Resources(match[1]))
        elif not found:
            continue
        elif match := re.search("Function properties for (.*)", line):
            its_own = match[1] == found[-1].kernel
        elif " registers" in line:
            found[-1].registers = number("registers")
            found[-1].shared = number("bytes smem")
        elif "bytes stack frame" in line and its_own:
            found[-1].spill_stores = number("bytes spill stores")
            found[-1].spill_loads = number("bytes spill loads")
    return found


def resources_of(kernel, known: list[Resources]) -> Resources | None:
    """The one of a kernel's name; where its template arguments are not known, the one
    with the most registers."""
    name = base_name(kernel.name)
    same = [one for one in known if base_name(one.kernel) == name]
    same = [one for one in same if f"{kernel.name}(" in one.kernel] or same
    return max(same, key=lambda one: one.registers, default=None)


def _rounded_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(resources: Resources, kernel, gpu: Gpu) -> tuple[int, str]:
    """How many warps a multiprocessor can hold, and what keeps it from more, by the
    documented limits and granularities of the architecture."""
    limits = gpu.limits
    warps = max(1, _rounded_up(kernel.threads_per_block, WARP_SIZE) // WARP_SIZE)
    blocks = {"warps": limits["max_warps"] // warps, "blocks": limits["max_blocks"]}
    if resources.registers > 0:
        warp = _rounded_up(resources.registers * WARP_SIZE, REGISTER_UNIT)
        held = limits["registers"] // warp // WARP_UNIT * WARP_UNIT
        blocks["registers"] = held // warps
    asked = resources.shared + int(kernel.dynamic_shared) + limits["shared_reserved"]
    if shared := _rounded_up(asked, SHARED_UNIT):
        blocks["shared memory"] = limits["shared_bytes"] // shared
    limit = min(blocks, key=lambda what: blocks[what])  # the first, if they are equal
    return blocks[limit] * warps, limit
