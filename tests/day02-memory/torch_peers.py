#!/usr/bin/env python3
"""What PyTorch does with the sizes of our benchmarks of day 2, on this GPU.

    torch_peers.py --json bench.json [--seconds S] [--list]

Reads the rows that the benchmarks of day 2 have written to bench.json, has PyTorch do
the same work on each of their sizes, and merges its own rows into the file: the same
exercise and size, the rung "torch copy_" and so on.

    --seconds S   spent on the samples of one row; default 0.2
    --list        say what would be measured; needs no GPU

Optional: where there is no PyTorch or no GPU, it says so and ends with 0. It ends with
1 if bench.json is of another GPU, or if a result of PyTorch is not what we think it is.
"""
import argparse
import datetime
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch_timing


class Work:
    """What is timed: a call, the bytes that the contract moves, what bounds it, and
    whether the result is right."""

    def __init__(self, launch, moved_bytes, ceiling, is_right):
        self.launch = launch
        self.bytes = moved_bytes
        self.ceiling = ceiling
        self.is_right = is_right


def transpose(torch, size, dtype):
    """Of "16384 x 16384", or "64 of 512 x 512"."""
    batch, rows, cols = re.fullmatch(r"(?:(\d+) of )?(\d+) x (\d+)", size).groups()
    shape = int(batch or 1), int(rows), int(cols)
    x = torch.randint(-32768, 32768, shape, dtype=torch.int16, device="cuda").to(dtype)
    out = torch.empty((shape[0], shape[2], shape[1]), dtype=dtype, device="cuda")

    def launch():
        out.copy_(x.transpose(1, 2))

    def is_right():
        return all(torch.equal(out[b, c], x[b, :, c])
                   for b in (0, shape[0] - 1) for c in (0, shape[2] // 2, shape[2] - 1))

    return Work(launch, 2 * x.numel() * x.element_size(), "copy", is_right)


def peak_energy(torch, size):
    """Of "n = 268435456, 2 blocks an SM": the blocks are ours alone."""
    n = int(re.match(r"n = (\d+),", size).group(1))
    window, segment = 8, 128  # kWindow and kSegment of async_copy.h
    whole = -n % segment  # windows that fill the last segment
    x = torch.randn(n, device="cuda")

    def peaks():
        squares = torch.nn.functional.pad(x * x, (0, window - 1 + whole))[None, None]
        means = torch.nn.functional.avg_pool1d(squares, window, 1)
        return torch.nn.functional.max_pool1d(means, segment)[0, 0] * window

    def is_right():
        result = peaks()
        return all(torch.isclose(
            result[k],
            x[k * segment:][:segment + window - 1].double().square().unfold(
                0, window, 1).sum(1).max().float()) for k in (0, result.numel() // 2))

    count = n + (n - 1) // segment + 1
    return Work(peaks, 4 * count, "read", is_right)


# Exercise, as it is named in our rows: the rung, and what makes its work of a size.
PEERS = {
    "transpose": (
        "torch copy_", lambda torch, size: transpose(torch, size, torch.float32)),
    "transpose_u16": (
        "torch copy_", lambda torch, size: transpose(torch, size, torch.bfloat16)),
    "peak_energy": ("torch pooling", peak_energy),
}


def wanted(document):
    """(exercise, size, cache) of everything that is to be measured, each once."""
    return list(dict.fromkeys(
        (row["exercise"], row["size"], row.get("cache", "cold"))
        for row in document.get("rows", [])
        if row["exercise"] in PEERS and not row["rung"].startswith("torch ")))


def measure(gpu, exercise, size, cache, ceilings):
    """A row; None if the result is wrong."""
    rung, make = PEERS[exercise]
    work = make(gpu.torch, size)
    work.launch()
    if not work.is_right():
        return None
    us, launches = gpu.samples_us(work.launch, cache)
    row = {"exercise": exercise, "rung": rung, "size": size, "idea": gpu.idea,
           "cache": cache, "launches_a_sample": launches, **torch_timing.times(us),
           "bytes": float(work.bytes)}
    row["gbps"] = work.bytes / row["median_us"] / 1e3
    value = ceilings.get(work.ceiling, {}).get("value")
    row.update({"ceiling": work.ceiling, "ceiling_value": value,
                "percent": 100.0 * row["gbps"] / value if value else None,
                "date": datetime.datetime.now(datetime.timezone.utc).strftime(
                    "%Y-%m-%d")})
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", required=True)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    document = torch_timing.read(options.json)
    sizes = wanted(document)
    if options.list:
        for exercise, size, cache in sizes:
            print(f"{exercise}  {size}  ({PEERS[exercise][0]}, {cache})")
        return 0
    torch = torch_timing.find_torch()
    if isinstance(torch, str):
        print(f"PyTorch is not measured: {torch}")
        return 0
    gpu = torch_timing.Gpu(torch, options.seconds)
    name = gpu.properties.name
    if torch_timing.is_of_another_gpu(document, name):
        print(f"{options.json} is of a {document['machine']['gpu']}, this is a {name}",
              file=sys.stderr)
        return 1
    print(f"{name}, {gpu.idea}")
    wrong = 0
    for exercise, size, cache in sizes:
        try:
            row = measure(gpu, exercise, size, cache, document["ceilings"])
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            print(f"  {exercise}  {size}  not enough memory")
            continue
        if row is None:
            print(f"  {exercise}  {size}  is wrong, and not timed")
            wrong += 1
            continue
        print(f"  {exercise:<20} {size:<20} {row['median_us']:>12.2f} us"
              f" {row['gbps']:8.1f} GB/s", flush=True)
        # Now: a run that is cut short keeps what it has.
        torch_timing.merge(document, [row])
        torch_timing.write(document, options.json)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
