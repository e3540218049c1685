"""How long a kernel could take on a GPU, from what was counted. A model.

The time is the launch plus the longest of these, each as if it were alone:

  DRAM     bytes that must come from or go to memory, over the bandwidth. While all
           that the kernel touches fits the L2 cache, each sector counts once;
           otherwise every sector that is moved counts.
  L2       sectors moved, over what the cache delivers a clock (where published)
  L1       sectors moved, four a clock and multiprocessor
  shared   passes through shared memory, one a clock and multiprocessor
  tensor   what the tensor instructions multiplied, over the peak for their operands
  fp32     the contract's operations, if it states them, that are not among those, over
           the peak
  atomics  updates of the most wanted sector, one after another

It knows no latency: a kernel that waits (few threads, long chains of barriers) takes
longer. It knows no L1 cache and no order of blocks: strided accesses that neighbours
complete soon are cheaper than it says. And it is blind to instructions that are neither
memory nor arithmetic of the contract, as divisions of indices.
"""

from dataclasses import dataclass
from typing import NamedTuple

from xray.gpu import Gpu
from xray.run import SECTOR_BYTES, Kernel, Run
from xray.totals import bytes_moved, bytes_touched
from xray.words import bytes_text, count_text, ratio_text

L1_SECTORS_PER_CLOCK = 4.0


class Term(NamedTuple):
    """What bounds a kernel, one reason."""

    name: str  # "DRAM"
    reason: str  # "8.4 MB at 3,190 GB/s"
    seconds: float


@dataclass
class Prediction:
    """For all launches of a kernel."""

    launch: float  # seconds
    terms: list[Term]  # longest first
    missing: str = ""  # what is not known of this GPU and would matter

    @property
    def longest(self) -> float:
        return self.terms[0].seconds if self.terms else 0.0

    @property
    def seconds(self) -> float:
        return self.launch + self.longest

    @property
    def bound(self) -> str:
        """The term that decides: the launch or the longest other one."""
        return "launch" if self.launch > self.longest else self.terms[0].name


def _dram_traffic(kernel: Kernel, gpu: Gpu) -> tuple[float, float]:
    """Bytes in all, and those of them that are written."""
    touched = bytes_touched(kernel)
    if 0 < touched <= gpu.l2_bytes:
        return touched, kernel.total("bytes_touched_written")
    written = kernel.sum("sectors", lambda a: a.space == "global" and a.op == "store")
    return bytes_moved(kernel), SECTOR_BYTES * written


def _dram_rate(total: float, written: float, gpu: Gpu) -> float:
    """The rate that fits the mixture of reads and writes."""
    share = written / total if total > 0 else 0.0
    for most, mix in ((0.15, "read"), (0.42, "2 reads + 1 write"), (0.85, "copy")):
        if share < most:
            return gpu.rates[mix]
    return gpu.rates["write"]


def _updates_of_one_sector(kernel: Kernel) -> float:
    """How often the most wanted sector is updated, if all that is written is written
    by atomics, and evenly."""
    def is_atomic(access) -> bool:
        return access.op == "atomic" and access.space == "global"

    distinct = kernel.total("bytes_touched_written") / SECTOR_BYTES
    if distinct <= 0 or kernel.sum("sectors", is_atomic) <= 0:
        return 0.0
    return kernel.sum("lanes", is_atomic) / distinct


def _tensor_term(type_: str, amount: float, gpu: Gpu) -> tuple:
    """As predict() wants it."""
    rate = gpu.tensor.get(type_, 0.0)
    reason = (f"{count_text(amount)} operations at {ratio_text(rate * 1e-12)} TFLOP/s"
              " (data sheet)")
    return f"tensor {type_}", amount, rate, reason


def predict(kernel: Kernel, gpu: Gpu, flop: float) -> Prediction:
    """flop: operations of the contract; 0 if unknown"""
    dram, written = _dram_traffic(kernel, gpu)
    dram_rate = _dram_rate(dram, written, gpu)
    moved = bytes_moved(kernel)
    sectors = moved / SECTOR_BYTES
    passes = kernel.sum("wavefronts", lambda a: a.space == "shared")
    updates = _updates_of_one_sector(kernel)
    tensor = kernel.tensor_flop()
    flop = max(0.0, flop - sum(tensor.values()))
    clocks = gpu.sms * gpu.clock
    source = "measured" if gpu.measured else "data sheet x 0.92"
    terms = [
        Term(name, reason, amount / rate)
        for name, amount, rate, reason in (
            ("DRAM", dram, dram_rate,
             f"{bytes_text(dram)} at {count_text(dram_rate * 1e-9)} GB/s ({source})"),
            ("L2", moved, gpu.l2_rate,
             f"{bytes_text(moved)} at {count_text(gpu.l2_rate * 1e-9)} GB/s"),
            ("L1", sectors, L1_SECTORS_PER_CLOCK * clocks,
             f"{count_text(sectors)} sectors, 4 a clock and multiprocessor"),
            ("shared memory", passes, clocks,
             f"{count_text(passes)} passes, 1 a clock and multiprocessor"),
            *(_tensor_term(type_, amount, gpu) for type_, amount in tensor.items()),
            ("fp32", flop, gpu.fp32,
             f"{count_text(flop)} operations at"
             f" {ratio_text(gpu.fp32 * 1e-12)} TFLOP/s"),
            ("atomics", updates, gpu.atomic_interval and 1 / gpu.atomic_interval,
             f"{count_text(updates)} updates of one sector, one after another"))
        if amount > 0 and rate > 0]
    missing = ""
    if gpu.atomic_interval <= 0 and updates > 1000:
        missing = (f"{count_text(updates)} atomic updates of one sector are left out:"
                   " how long they queue was not measured on this GPU")
    if unknown := [type_ for type_ in tensor if not gpu.tensor.get(type_)]:
        missing = (f"{gpu.name} has no published peak for tensor instructions on"
                   f" {', '.join(unknown)}: their time is left out")
    return Prediction(
        gpu.launch * max(1.0, kernel.launches),
        sorted(terms, key=lambda term: -term.seconds), missing)


@dataclass
class Roofline:
    """Where a section stands under the roof of a GPU; rates in FLOP/s."""

    intensity: float  # FLOP a byte
    ridge: float  # from which intensity on the peak is the limit
    roof: float  # that the GPU allows at this intensity
    predicted: float  # by the model's time
    peak: float  # of the units that do most of the work
    units: str  # "fp32, no tensor cores", "tensor cores, f16"
    gpu: Gpu

    def __str__(self) -> str:
        """One sentence."""
        return (
            f"{ratio_text(self.intensity)} operations for each byte of DRAM; on the"
            f" {self.gpu.name} memory is the limit below {ratio_text(self.ridge)},"
            f" arithmetic ({self.units}) above. The roof here is"
            f" {ratio_text(self.roof * 1e-12)} TFLOP/s, the model expects"
            f" {ratio_text(self.predicted * 1e-12)}.")


def roofline(run: Run, section: str, gpu: Gpu) -> Roofline | None:
    """None where the contract states no operations."""
    flop, kernels = run.contract(section).flop, run.of(section)
    amount = sum(_dram_traffic(kernel, gpu)[0] for kernel in kernels)
    seconds = sum(predict(k, gpu, run.flop(k)).seconds for k in kernels)
    if flop <= 0 or amount <= 0 or seconds <= 0:
        return None
    peak, units = _peak(kernels, flop, gpu)
    copy = gpu.rates["copy"]
    intensity = flop / amount
    roof = min(peak, intensity * copy)
    return Roofline(intensity, peak / copy, roof, flop / seconds, peak, units, gpu)


def _peak(kernels: list[Kernel], flop: float, gpu: Gpu) -> tuple[float, str]:
    """The peak of the units that do most of a section's operations, and their name."""
    work: dict[str, float] = {}
    for kernel in kernels:
        for type_, amount in kernel.tensor_flop().items():
            work[type_] = work.get(type_, 0.0) + amount
    most = max(work, key=lambda type_: work[type_], default="")
    if gpu.tensor.get(most) and sum(work.values()) > 0.5 * flop:
        return gpu.tensor[most], f"tensor cores, {most}"
    return gpu.fp32, "fp32, no tensor cores"
