"""What the torch_peers.py of most days have in common: their options, and a row for
each exercise and size that our own benchmarks have written."""
import argparse
import datetime
import sys

import torch_timing


class Work:
    """What is timed: a call, the bytes that the contract moves or the operations that
    it does, what bounds it, and whether the result is right; of a language model, the
    tokens that a call works on."""

    def __init__(self, launch, moved_bytes, ceiling, is_right, flop=None, tokens=None):
        self.launch = launch
        self.bytes = moved_bytes
        self.ceiling = ceiling
        self.is_right = is_right
        self.flop = flop
        self.tokens = tokens

    def rate(self, us):
        """Of a row that took so long: work and rate as in the JSON; the rate."""
        if self.flop is None:
            return ({"bytes": float(self.bytes), "gbps": self.bytes / us / 1e3},
                    self.bytes / us / 1e3)
        return ({"flop": float(self.flop), "tflops": self.flop / us / 1e6},
                self.flop / us / 1e6)


def wanted(document, peers, has_peers=lambda size: True):
    """(exercise, size, cache) of everything that is to be measured, each once."""
    return list(dict.fromkeys(
        (row["exercise"], row["size"], row.get("cache", "cold"))
        for row in document.get("rows", [])
        if row["exercise"] in peers and has_peers(row["size"])
        and not row["rung"].startswith("torch ")))


def measure(gpu, exercise, peer, size, cache, ceilings):
    """A row; None if the result is wrong."""
    rung, make = peer
    work = make(gpu.torch, size)
    work.launch()
    if not work.is_right():
        return None
    us, launches = gpu.samples_us(work.launch, cache)
    row = {"exercise": exercise, "rung": rung, "size": size, "idea": gpu.idea,
           "cache": cache, "launches_a_sample": launches, **torch_timing.times(us)}
    numbers, rate = work.rate(row["median_us"])
    value = ceilings.get(work.ceiling, {}).get("value")
    if work.tokens is not None:
        numbers["tokens_per_s"] = work.tokens / row["median_us"] * 1e6
    row.update({**numbers, "ceiling": work.ceiling, "ceiling_value": value,
                "percent": 100.0 * rate / value if value else None,
                "date": datetime.datetime.now(datetime.timezone.utc).strftime(
                    "%Y-%m-%d")})
    return row


def main(description, peers, more_peers=None, has_peers=lambda size: True):
    """The program of a day; gives its exit status.

    @param peers       exercise, as our rows name it: (rung, what makes its Work of
                       torch and a size)
    @param has_peers   which sizes PyTorch has something for
    @param more_peers  exercise: a list of the same, where PyTorch has more than one way
    """
    more_peers = more_peers or {}

    def peers_of(exercise):
        return [peers[exercise], *more_peers.get(exercise, [])]

    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", required=True)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    document = torch_timing.read(options.json)
    sizes = wanted(document, peers, has_peers)
    if options.list:
        for exercise, size, cache in sizes:
            for rung, _ in peers_of(exercise):
                print(f"{exercise}  {size}  ({rung}, {cache})")
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
    for exercise, peer, size, cache in [(exercise, peer, size, cache)
                                        for exercise, size, cache in sizes
                                        for peer in peers_of(exercise)]:
        try:
            row = measure(gpu, exercise, peer, size, cache, document["ceilings"])
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            print(f"  {exercise}  {size}  not enough memory")
            continue
        if row is None:
            print(f"  {exercise}  {size}  is wrong, and not timed")
            wrong += 1
            continue
        rate = (f"{row['gbps']:8.1f} GB/s" if "gbps" in row
                else f"{row['tflops']:8.1f} TFLOP/s")
        if tokens := row.get("tokens_per_s"):
            rate += f"  {tokens:.3g} tokens/s"
        print(f"  {exercise:<20} {size:<20} {row['median_us']:>12.2f} us {rate}",
              flush=True)
        # Now: a run that is cut short keeps what it has.
        torch_timing.merge(document, [row])
        torch_timing.write(document, options.json)
    return 1 if wrong else 0
