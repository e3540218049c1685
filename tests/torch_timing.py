"""What the torch_peers.py of the days have in common: timing what PyTorch does on this
GPU as our own benchmarks time their kernels, and rows for their JSON."""
import json
import math
import os
import time

FEWEST_SAMPLES = 20
MOST_SAMPLES = 500  # as ours: the longer a GPU works, the lower its clock becomes
MOST_SHORT_SAMPLES = 200  # more would not fit into its queue: Python would be timed
SHORT_US = 200
HOT_SAMPLE_US = 1000  # with a hot cache, launches are timed in batches as long as this
MOST_LAUNCHES = 100
LONG_US = 20_000
MOST_PAUSE = 60_000_000  # cycles
REST = 0.5  # seconds before each row: after hard work clocks are low; ours rest as long


def percentile(ordered, share):
    """Linear between the two nearest samples, as wb::bench does it."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


class Gpu:
    """The clock; only made where there is PyTorch and a GPU."""

    def __init__(self, torch, seconds):
        self.torch = torch
        self.seconds = seconds
        self.properties = torch.cuda.get_device_properties(0)
        l2_bytes = getattr(self.properties, "L2_cache_size", 50 << 20)
        self.flush = torch.empty(2 * l2_bytes + (16 << 20), dtype=torch.uint8,
                                 device="cuda")
        self.idea = f"PyTorch {torch.__version__}"

    def samples_us(self, launch, cache):
        """FEWEST_SAMPLES times of one call or more, fewer if they would take seconds,
        and how many calls a sample has; the L2 cache is written over before each,
        unless the row is of a hot cache."""
        self.torch.cuda.synchronize()
        time.sleep(REST)
        first = self.measure(launch, cache, 1, 1)[0]
        if first < LONG_US:  # there is time to warm up
            first = min(self.measure(launch, cache, 5, 1))
        typical = max(first, 1.0)
        fitting = int(self.seconds * 1e6 / typical)
        most = MOST_SHORT_SAMPLES if typical < SHORT_US else MOST_SAMPLES
        count = min(max(fitting, min(FEWEST_SAMPLES, 10 * fitting + 3)), most)
        launches = 1
        if cache == "hot":
            launches = min(int(HOT_SAMPLE_US / typical) + 1, MOST_LAUNCHES)
        return sorted(self.measure(launch, cache, count, launches)), launches

    def measure(self, launch, cache, count, launches):
        torch = self.torch
        # Long enough for the host to queue what is below before the GPU gets to it:
        # what is timed is the GPU, not Python. One pause at the beginning, as our own
        # timer makes: a GPU that rests between samples keeps higher clocks.
        torch.cuda._sleep(min(count * (200_000 + 60_000 * launches), MOST_PAUSE))
        events = []
        for _ in range(count):
            if cache == "cold":
                self.flush.fill_(0xFF)
            begin = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(launches):
                launch()
            end.record()
            events.append((begin, end))
        torch.cuda.synchronize()
        return [1e3 * begin.elapsed_time(end) / launches for begin, end in events]


def times(us):
    """The members of a row that say how long the samples took."""
    return {"samples": len(us), "median_us": percentile(us, 0.5), "min_us": us[0],
            "p10_us": percentile(us, 0.1), "p90_us": percentile(us, 0.9),
            "max_us": us[-1]}


def key_of(row):
    return row["exercise"], row["rung"], row["size"]


def merge(document, rows):
    """Rows of the same exercise, rung and size are replaced, the others stay."""
    fresh = {key_of(row): row for row in rows}
    merged = [fresh.pop(key_of(row), row) for row in document["rows"]]
    document["rows"] = merged + list(fresh.values())


def write(document, path):
    """Two levels of nesting get lines, as wb::bench::Json writes it; in one step."""
    members = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            inner = ",\n".join("    " + json.dumps(element) for element in value)
            members.append(f'  {json.dumps(name)}: [\n{inner}\n  ]')
        elif isinstance(value, dict) and value:
            inner = ",\n".join(f"    {json.dumps(key)}: {json.dumps(element)}"
                               for key, element in value.items())
            members.append(f'  {json.dumps(name)}: {{\n{inner}\n  }}')
        else:
            members.append(f"  {json.dumps(name)}: {json.dumps(value)}")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(members) + "\n}\n")
    os.replace(path + ".new", path)


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def find_torch():
    """The module, or a sentence that says why there is none."""
    try:
        import torch
    except ImportError as error:
        return f"there is no PyTorch here ({error})"
    if not torch.cuda.is_available():
        return "PyTorch sees no GPU"
    return torch


def is_of_another_gpu(document, name):
    """False: what is measured on this GPU may be merged into the document."""
    if document.get("machine", {}).get("gpu", name) != name:
        return True
    document.setdefault("machine", {"gpu": name})
    document.setdefault("ceilings", {})
    document.setdefault("rows", [])
    return False
