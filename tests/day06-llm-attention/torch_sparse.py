"""FlexAttention, PyTorch's compiled attention over blocks (J. Dong et al. 2024), with
the masks of chapter 05: in fp32 as its kernels, and in bf16 on tensor cores as those of
chapter 08. Lists of random keys or blocks are not measured: it has no way to be given
ours."""
import re

import torch_rows

TENSOR_CORES = "hopper_block_sparse_attention"  # chapter 08's, in bf16
EXERCISES = ("sparse_attention", "block_sparse_attention", TENSOR_CORES)
TYPES = {"torch flex fp32": "float32", "torch flex bf16": "bfloat16"}
LARGEST_ERROR = {"float32": 1e-3, "bfloat16": 5e-2}


def window_of(size):
    """(keys of the window, sinks) of a size as our benchmarks write it; None for masks
    that are not measured. Without a window all keys up to the query's are seen; "dense"
    has no mask at all, and gives (None, None)."""
    pattern = size.split(", ", 1)[1]
    if pattern.startswith("dense"):
        return None, None
    if pattern.startswith("causal"):
        return 1 << 30, 0
    found = re.match(r"window (\d+)(?:, (\d+) sinks)?", pattern)
    return (int(found.group(1)), int(found.group(2) or 0)) if found else None


def mask_of(window, sinks):
    """Of FlexAttention: does this query see that key?"""
    def sees(batch, head, query, key):
        return (key <= query) & ((query - key < window) | (key < sinks))
    return sees


def flop_of(document, exercise, size):
    """What our own row of this size counts: the keys, or blocks, that are listed."""
    return next(row["flop"] for row in document["rows"]
                if (row["exercise"], row["size"]) == (exercise, size) and "flop" in row)


def work(torch, flop, size, rung, ceiling):
    """A Work; one row of each head's is compared with the formula in double."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    batch, heads, length, dim = (
        int(re.search(rf"(?:^| ){name}(\d+)", size).group(1)) for name in "BHND")
    window, sinks = window_of(size)
    dtype = getattr(torch, TYPES[rung])
    q, k, v = (torch.randn(batch, heads, length, dim, dtype=dtype, device="cuda")
               for _ in range(3))
    sees = None if window is None else mask_of(window, sinks)
    blocks = sees and create_block_mask(sees, None, None, length, length, device="cuda")
    compiled = torch.compile(flex_attention, dynamic=False)
    out = {}

    def launch():
        out["o"] = compiled(q, k, v, block_mask=blocks)

    def is_right():
        row = length - 7
        scores = (k[-1].double() @ q[-1, :, row, :, None].double())[..., 0] / dim**0.5
        if sees:
            keys = torch.arange(length, device="cuda")
            scores.masked_fill_(~sees(0, 0, row, keys), float("-inf"))
        exact = (torch.softmax(scores, -1)[:, None] @ v[-1].double())[:, 0]
        error = (out["o"][-1, :, row].double() - exact).abs().max().item()
        return error < LARGEST_ERROR[TYPES[rung]]

    return torch_rows.Work(launch, 0, ceiling, is_right, flop)


def measure(gpu, document):
    """Rows for the sizes that our own benchmarks have written."""
    rows = []
    for exercise, size, cache in torch_rows.wanted(document, EXERCISES):
        if window_of(size) is None:
            continue
        print(f"{exercise}  {size}", flush=True)
        flop = flop_of(document, exercise, size)
        ceiling = "bf16" if exercise == TENSOR_CORES else "fp32"
        for rung in TYPES:
            if exercise == TENSOR_CORES and TYPES[rung] != "bfloat16":
                continue

            def make(torch, text, flop=flop, rung=rung, ceiling=ceiling):
                return work(torch, flop, text, rung, ceiling)
            gpu.torch._dynamo.reset()
            try:
                row = torch_rows.measure(gpu, exercise, (rung, make), size, cache,
                                         document["ceilings"])
            except RuntimeError as error:  # fp32 tiles that shared memory cannot hold
                print(f"  {rung}: not measured: {str(error).strip()[:100]}")
                continue
            if row is None:
                print(f"  {rung}: wrong, and not timed")
                continue
            print(f"  {rung:<22} {row['median_us']:>12.2f} us "
                  f"{row['tflops']:8.1f} TFLOP/s", flush=True)
            rows.append(row)
    return rows
