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


def work_of(launch, is_right, m, n, k, group):
    """Few rows are compared by bytes, many (gptq_matmul_many) by operations."""
    if m > 64:
        return Work(launch, None, "fp16", is_right, flop=2 * m * n * k)
    return Work(launch, moved_bytes(m, n, k, group), "read", is_right)


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

    return work_of(launch, is_right, m, n, k, group)


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

    return work_of(launch, is_right, m, n, k, group)


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


def block_sizes(size):
    """Batch, tokens or tokens before, d_model, d_ff, post of "B8 N1024, 768 x 3072"."""
    batch, tokens, past, model, hidden, post = re.match(
        r"B(\d+) (?:N(\d+)|behind (\d+)), (\d+) x (\d+)(?:, \w+4)?(, post)?$",
        size).groups()
    return (int(batch), int(tokens or 0), int(past or 0), int(model), int(hidden),
            post is not None)


def make_block(torch, model, hidden, post):
    """A block of heads of 64, and the parts of it: qkv(), rest()."""
    functional = torch.nn.functional
    parts = [torch.nn.Linear(k, n, device="cuda", dtype=torch.bfloat16)
             for n, k in ((3 * model, model), (model, model), (hidden, model),
                          (model, hidden))]
    norms = [torch.nn.LayerNorm(model, device="cuda", dtype=torch.bfloat16)
             for _ in range(2)]
    qkv, out, up, down = parts

    def heads(x):
        """[batch, heads, tokens, 64] of Q, K and V."""
        rows = qkv(x if post else norms[0](x))
        return rows.view(*x.shape[:2], 3, model // 64, 64).permute(2, 0, 3, 1, 4)

    def rest(x, attended):
        a = attended.transpose(1, 2).reshape(x.shape)
        h = x + out(a)
        if post:
            h = norms[0](h)
        m = h if post else norms[1](h)
        y = h + down(functional.gelu(up(m), approximate="tanh"))
        return norms[1](y) if post else y

    return heads, rest


def block(torch, size, mode):
    """A whole block, causal, eager or compiled."""
    batch, tokens, _, model, hidden, post = block_sizes(size)
    heads, rest = make_block(torch, model, hidden, post)
    attention = torch.nn.functional.scaled_dot_product_attention
    x = torch.randn((batch, tokens, model), device="cuda").bfloat16()
    out = [None]

    def run(x):
        q, k, v = heads(x)
        return rest(x, attention(q, k, v, is_causal=True))

    eager = run
    if mode:
        run = torch.compile(run)

    def launch():
        with torch.no_grad():
            out[0] = run(x)

    def is_right():
        if not mode:
            return out[0].isfinite().all().item()
        with torch.no_grad():
            return torch.allclose(out[0], eager(x), rtol=0.05, atol=0.1)

    weights = 4 * model * model + 2 * model * hidden
    flop = 2 * weights * batch * tokens + 2 * model * tokens * tokens * batch
    return Work(launch, None, "bf16", is_right, flop=flop)


def block_step(torch, size, mode):
    """A step: one token of each sequence behind a contiguous cache that it writes."""
    batch, _, past, model, hidden, post = block_sizes(size)
    heads, rest = make_block(torch, model, hidden, post)
    attention = torch.nn.functional.scaled_dot_product_attention
    x = torch.randn((batch, 1, model), device="cuda").bfloat16()
    keys, values = (torch.randn((batch, model // 64, past + 1, 64),
                                device="cuda").bfloat16() for _ in range(2))
    place = torch.tensor([past], device="cuda")
    out = [None]

    def run(x):
        q, k, v = heads(x)
        keys.index_copy_(2, place, k)
        values.index_copy_(2, place, v)
        return rest(x, attention(q, keys, values))

    eager = run
    if mode:
        run = torch.compile(run)

    def launch():
        with torch.no_grad():
            out[0] = run(x)

    if mode == "graph":
        for _ in range(3):
            launch()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            launch()
        launch = graph.replay

    def is_right():
        if not mode:
            return out[0].isfinite().all().item()
        got = out[0].clone()
        with torch.no_grad():
            return torch.allclose(got, eager(x), rtol=0.05, atol=0.1)

    weights = 4 * model * model + 2 * model * hidden
    moved = 2 * weights + 4 * model * batch + 4 * model * batch * (past + 1)
    return Work(launch, moved, "read", is_right)


def with_mode(make, mode):
    return lambda torch, size: make(torch, size, mode)


# Exercise, as it is named in our rows: the rung, and what makes its work of a size.
PEERS = {
    "int8_matmul": ("torch _int_mm", int_mm),
    "gptq_matmul": ("torch linear bf16", linear),
    "gptq_matmul_many": ("torch linear bf16", linear),
    "layernorm_gptq_qkv": ("torch compiled norm and linear fp16", norm_and_linear),
    "block_forward": ("torch eager", with_mode(block, "")),
    "block_decode": ("torch eager", with_mode(block_step, "")),
}

# Where PyTorch has more than one way to do it.
MORE_PEERS = {
    "gptq_matmul": [("torch int4pack_mm", int4pack_mm)],
    "gptq_matmul_many": [("torch int4pack_mm", int4pack_mm)],
    "block_forward": [("torch compiled", with_mode(block, "compiled"))],
    "block_decode": [("torch compiled", with_mode(block_step, "compiled")),
                     ("torch compiled, graph",
                      with_mode(block_step, "graph"))],
}


if __name__ == "__main__":
    sys.exit(torch_rows.main(__doc__, PEERS, MORE_PEERS))
