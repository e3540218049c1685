"""What a checked run wrote as JSON, as Python values.

The simulator writes the file (SIMT_CHECK_JSON=...): the kernels with what each of their
lines cost, and the mistakes that were found. A benchmark's --xray FILE adds what the
chapter's contract asks for.
"""

import json
from dataclasses import dataclass, field, fields
from typing import NamedTuple

VERSION = 1
SECTOR_BYTES = 32.0  # what global memory moves at a time


class Place(NamedTuple):
    """A line of a source file; "" and 0 are unknown."""

    file: str = ""
    line: int = 0


@dataclass
class Access:
    """What one line does to one memory space. A request is one instruction of one
    warp; counts are sums over the requests."""

    place: Place = Place()
    op: str = ""  # load, store, atomic or async
    space: str = ""  # global, shared, constant
    bytes: int = 0  # of one lane
    requests: float = 0.0
    lanes: float = 0.0
    sectors: float = 0.0
    ideal_sectors: float = 0.0
    wavefronts: float = 0.0
    ideal_wavefronts: float = 0.0
    max_ways: float = 0.0
    max_same_address: float = 0.0
    merged: float = 0.0  # requests that stand for several source accesses
    given: bool = False  # not the learner's line: what it costs is nobody's fault


@dataclass
class Branch:
    """A line at which the lanes of warps go separate ways."""

    place: Place = Place()
    executions: float = 0.0  # by warps
    lanes: float = 0.0  # sum over the executions
    # The same of what some lanes did not enter: what stands behind the condition.
    part_executions: float = 0.0
    part_lanes: float = 0.0
    given: bool = False


@dataclass
class Barrier:
    place: Place = Place()
    count: float = 0.0
    op: str = ""


@dataclass
class Kernel:
    """All launches of one kernel in one section of the program."""

    name: str = ""
    section: str = ""  # the rung that launched it; "" if the program has none
    place: Place = Place()  # the file it is in; the line may be unknown
    launched_at: Place = Place()
    launches: float = 1.0
    grid: list = field(default_factory=lambda: [1, 1, 1])
    block: list = field(default_factory=lambda: [1, 1, 1])
    dynamic_shared: float = 0.0
    accesses: list[Access] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    totals: dict = field(default_factory=dict)

    def total(self, key: str) -> float:
        """A total by its name; 0 when the run did not count it."""
        return self.totals.get(key, 0.0)

    def sum(self, key: str, wanted) -> float:
        """Of a count of those accesses that are `wanted`."""
        return sum(getattr(access, key) for access in self.accesses if wanted(access))

    def tensor_flop(self) -> dict[str, float]:
        """What its tensor instructions multiplied, by the type of their operands."""
        return {key.removeprefix("tensor_"): value
                for key, value in self.totals.items()
                if key.startswith("tensor_") and value > 0}

    @property
    def blocks(self) -> int:
        """Of all launches."""
        x, y, z = self.grid
        return x * y * z * max(1.0, self.launches)

    @property
    def threads_per_block(self) -> int:
        x, y, z = self.block
        return x * y * z


@dataclass
class Finding:
    """A mistake."""

    kind: str = ""
    what: str = ""
    kernel: str = ""
    section: str = ""
    space: str = ""
    variable: str = ""
    place: Place = Place()
    other: Place = Place()
    block: list = field(default_factory=lambda: [0, 0, 0])
    thread: list = field(default_factory=lambda: [0, 0, 0])
    other_block: list | None = None
    other_thread: list | None = None
    text: str = ""
    fix: str = ""
    lesson: str = ""
    count: float = 1.0


@dataclass
class Contract:
    """What one section of a benchmark has to do, by the chapter's contract."""

    name: str = ""  # the section's, "dot_product_v1"
    idea: str = ""
    size: str = ""
    bytes: float = 0.0  # that must move; 0: not known
    flop: float = 0.0  # 0: not known
    mistake: str = ""  # how its result was wrong; "" if it was right


@dataclass
class Run:
    """One checked run of one program."""

    program: str = ""
    seed: int = 0
    kernels: list[Kernel] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    contracts: dict[str, Contract] = field(default_factory=dict)

    def contract(self, section: str) -> Contract:
        """The contract of a section; an empty one if there is none."""
        return self.contracts.get(section, Contract())

    def of(self, section: str) -> list[Kernel]:
        """The kernels of a section."""
        return [k for k in self.kernels if k.section == section]

    def flop(self, kernel: Kernel) -> float:
        """The operations that the contract asks of a kernel; 0 if unknown, as it is
        where several kernels share them."""
        alone = len(self.of(kernel.section)) == 1
        return self.contract(kernel.section).flop if alone else 0.0


def filled(cls, data: dict, **values):
    """An instance of a dataclass from JSON's object; what is absent or null there has
    its default. ValueError if something is of another type."""
    values |= {"place": Place(data.get("file") or "", data.get("line") or 0)}
    for key in fields(cls):
        value = data.get(key.name)
        if key.name in values or value is None:
            continue
        if key.type is float and isinstance(value, int):
            value = float(value)
        wanted = key.type if isinstance(key.type, type) else object
        if not isinstance(value, wanted):
            raise ValueError(f"{key.name} is {value!r}")
        values[key.name] = value
    names = {key.name for key in fields(cls)}
    return cls(**{key: value for key, value in values.items() if key in names})


def _kernel(data: dict) -> Kernel:
    def parts(cls, key):
        return [filled(cls, part) for part in data.get(key) or []]

    launched_at = Place(data.get("launch_file") or "", data.get("launch_line") or 0)
    totals = {k: v for k, v in (data.get("totals") or {}).items()
              if isinstance(v, int | float)}
    return filled(
        Kernel, data, launched_at=launched_at, accesses=parts(Access, "lines"),
        branches=parts(Branch, "branches"), barriers=parts(Barrier, "barriers"),
        totals=totals)


def _finding(data: dict) -> Finding:
    other = Place(data.get("other_file") or "", data.get("other_line") or 0)
    return filled(Finding, data, other=other)


def _parse(path: str) -> dict:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        raise ValueError(f"cannot read {path}") from None
    except ValueError:
        raise ValueError(f"{path} is not JSON: was the program cut off?") from None


def read_run(path: str, contracts: str | None = None) -> Run:
    """Reads the simulator's file, and what a benchmark wrote with --xray FILE.
    ValueError with a sentence."""
    data = _parse(path)
    version = data.get("version", 0)
    if version != VERSION:
        raise ValueError(
            f"{path} has version {version} of the format, this program reads version"
            f" {VERSION}")
    sections = _parse(contracts).get("sections") or [] if contracts else []
    try:
        read = [filled(Contract, section) for section in sections]
        return filled(
            Run, data, kernels=[_kernel(k) for k in data.get("kernels") or []],
            findings=[_finding(f) for f in data.get("findings") or []],
            contracts={contract.name: contract for contract in read})
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def spare_given(run: Run, own: str) -> None:
    """Marks all lines but the learner's own as given, so that nobody is blamed for
    them.

    own: "path/file.cu:3-5,9"; "" marks nothing"""
    if not own:
        return
    file, _, ranges = own.rpartition(":")
    lines = set()
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        lines.update(range(int(first), int(last or first) + 1))
    for kernel in run.kernels:
        for cost in (*kernel.accesses, *kernel.branches):
            its = cost.place.file == file and cost.place.line in lines
            cost.given = not its


def select(run: Run, kernel: str, section: str) -> None:
    """Leaves only kernels whose name contains `kernel`, and sections whose name is
    `section` or ends with "_section" ("v3"); "" is no wish. If sections were named at
    all, launches outside of them are preparations and are left out.

    ValueError, with the names there are, when nothing is left."""
    sections = any(k.section for k in run.kernels)
    names = [k.section if section else k.name for k in run.kernels]

    def wanted(name: str, its: str) -> bool:
        if sections and not its:
            return False
        if section and its != section and not its.endswith("_" + section):
            return False
        return kernel in name

    run.kernels = [k for k in run.kernels if wanted(k.name, k.section)]
    run.findings = [f for f in run.findings if wanted(f.kernel, f.section)]
    if run.kernels or run.findings:
        return
    there = ", ".join(dict.fromkeys(name for name in names if name))
    if not there:
        raise ValueError("the program launched no kernel that was checked")
    raise ValueError(
        f"there is no version '{section}'; there are: {there}" if section else
        f"no kernel is called '{kernel}'; there are: {there}")
