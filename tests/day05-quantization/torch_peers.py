#!/usr/bin/env python3
"""What PyTorch does with the sizes of our benchmarks of day 5, on this GPU.

    torch_peers.py --json bench.json [--seconds S] [--list]

Reads the rows that the benchmarks of day 5 have written to bench.json, has PyTorch do
the same work on each of their sizes, and merges its own rows into the file: the same
exercise and size, the rung "torch int4pack_mm" and so on.

    --seconds S   spent on the samples of one row; default 0.2
    --list        say what would be measured; needs no GPU

Optional: where there is no PyTorch or no GPU, it says so and ends with 0. It ends with
1 if bench.json is of another GPU, or if a result of PyTorch is not what we think it is.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch_rows
from torch_rows import Work


def sizes_of(size):
    """M, N, K and the rows of a group of "1 x 12288 x 4096, groups of 32"."""
    m, n, k, group = re.match(
        r"(\d+) x (\d+) x (\d+)(?:, groups of (\d+))?", size).groups()
    return int(m), int(n), int(k), int(group or 128)


def moved_bytes(m, n, k, group):
    """What our contract moves for a product, for either kind of weights: rows of a
    table are compared by their times."""
    return n * k // 2 + 5 * (k // group) * n // 2 + 2 * m * (k + n)


def linear(torch, size):
    """Dense weights in bf16."""
    m, n, k, group = sizes_of(size)
    x = torch.randn((m, k), device="cuda").bfloat16()
    w = torch.randn((n, k), device="cuda").bfloat16()
    out = [None]

    def launch():
        out[0] = torch.nn.functional.linear(x, w)

    def is_right():
        want = x[-1].double() @ w[:64].double().t()
        return torch.allclose(out[0][-1, :64].double(), want, rtol=0.02, atol=1.0)

    return Work(launch, moved_bytes(m, n, k, group), "read", is_right)


def int4pack_mm(torch, size):
    """tinygemm: weights in 4 bits, (q - 8) * scale + zero, packed by PyTorch."""
    m, n, k, group = sizes_of(size)
    x = torch.randn((m, k), device="cuda").bfloat16()
    q = torch.randint(0, 16, (n, k), dtype=torch.int32, device="cuda")
    # Two numbers a byte, the first one in the upper half.
    packed = torch.ops.aten._convert_weight_to_int4pack(
        (q[:, ::2] << 4 | q[:, 1::2]).to(torch.uint8), 8)
    scale = 0.02 + 0.01 * torch.rand((k // group, n), device="cuda")
    zero = 0.1 * torch.randn((k // group, n), device="cuda")
    factors = torch.stack((scale, zero), 2).bfloat16().contiguous()
    out = [None]

    def launch():
        out[0] = torch.ops.aten._weight_int4pack_mm(x, packed, group, factors)

    def is_right():
        rows = factors[:, :64].double().repeat_interleave(group, 0)  # [k, 64, 2]
        w = (q[:64].t().double() - 8) * rows[..., 0] + rows[..., 1]
        want = x[-1].double() @ w
        return torch.allclose(out[0][-1, :64].double(), want, rtol=0.05, atol=0.5)

    return Work(launch, moved_bytes(m, n, k, group), "read", is_right)


def int_mm(torch, size):
    """Bytes, whose result is sums of 32 bits."""
    m, n, k = (int(part) for part in size.split(" x "))
    x = torch.randint(-127, 128, (m, k), dtype=torch.int8, device="cuda")
    w = torch.randint(-127, 128, (n, k), dtype=torch.int8, device="cuda")
    out = [None]

    def launch():
        out[0] = torch._int_mm(x, w.t())

    def is_right():
        want = x[-1].double() @ w[:64].double().t()
        return torch.equal(out[0][-1, :64].double(), want)

    return Work(launch, 0, "bf16", is_right, 2 * m * n * k)


def norm_and_linear(torch, size):
    """LayerNorm and a dense product with Q, K and V side by side, compiled, in fp16."""
    m, hidden, group = re.match(
        r"(\d+) x (\d+)(?:, groups of (\d+))?", size).groups()
    m, hidden, group = int(m), int(hidden), int(group or 128)
    x, weight, bias = (torch.randn(shape, device="cuda").half()
                       for shape in ((m, hidden), (hidden,), (hidden,)))
    w = torch.randn((3 * hidden, hidden), device="cuda").half()
    functional = torch.nn.functional
    run = torch.compile(lambda rows: functional.linear(
        functional.layer_norm(rows, (hidden,), weight, bias), w))
    out = [None]

    def launch():
        out[0] = run(x)

    def is_right():
        h = functional.layer_norm(
            x[-1:].double(), (hidden,), weight.double(), bias.double())
        want = (h @ w[:64].double().t())[0]
        return torch.allclose(out[0][-1, :64].double(), want, rtol=0.02, atol=1.0)

    bytes_of_w = moved_bytes(m, 3 * hidden, hidden, group)
    if m > 64:
        return Work(launch, None, "fp16", is_right, flop=6 * m * hidden * hidden)
    return Work(launch, bytes_of_w + 4 * hidden, "read", is_right)


# Exercise, as it is named in our rows: the rung, and what makes its work of a size.
PEERS = {
    "int8_matmul": ("torch _int_mm", int_mm),
    "gptq_matmul": ("torch linear bf16", linear),
    "gptq_matmul_many": ("torch linear bf16", linear),
    "layernorm_gptq_qkv": ("torch compiled norm and linear fp16", norm_and_linear),
}

# Where PyTorch has more than one way to do it.
MORE_PEERS = {
    "gptq_matmul": [("torch int4pack_mm", int4pack_mm)],
    "gptq_matmul_many": [("torch int4pack_mm", int4pack_mm)],
}


if __name__ == "__main__":
    sys.exit(torch_rows.main(__doc__, PEERS, MORE_PEERS))
