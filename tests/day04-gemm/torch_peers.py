#!/usr/bin/env python3
"""What PyTorch does with the sizes of our benchmarks of day 4, on this GPU.

    torch_peers.py --json bench.json [--seconds S] [--list]

Reads the rows that the benchmarks of day 4 have written to bench.json, has PyTorch do
the same work on each of their sizes, and merges its own rows into the file: the same
exercise and size, the rungs "torch eager" and "torch compiled".

    --seconds S   spent on the samples of one row; default 0.2
    --list        say what would be measured; needs no GPU

Optional: where there is no PyTorch or no GPU, it says so and ends with 0. It ends with
1 if bench.json is of another GPU, or if a result of PyTorch is not what we think it is.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch_rows
from torch_rows import Work


def parse(size):
    """Of "4096 x 4096 x 4096, silu, residual": the numbers, the words behind them."""
    numbers, *words = size.split(", ")
    return [int(number) for number in numbers.split(" x ")], words


def activation(torch, words):
    functional = torch.nn.functional
    if "gelu" in words:
        return lambda z: functional.gelu(z, approximate="tanh")
    return functional.silu


def numbers(torch, *shape, scale=1.0):
    return (torch.randn(*shape, device="cuda") * scale).to(torch.bfloat16)


def made(torch, run, is_compiled):
    """run, or what torch.compile() makes of it, which may choose among kernels."""
    if not is_compiled:
        return run
    torch._dynamo.reset()  # each size has code of its own
    return torch.compile(run, dynamic=False, mode="max-autotune-no-cudagraphs")


def is_near(torch, got, exact):
    """As far from it as a few roundings to bf16 may be, for a row of results."""
    return bool(torch.allclose(got.double(), exact, rtol=2**-6, atol=2**-5))


def work(run, arguments, is_right, flop):
    out = [None]

    def launch():
        out[0] = run(*arguments)

    return Work(launch, 0, "bf16", lambda: is_right(out[0]), flop)


def layer(is_compiled):
    """y = act(x w^T + bias) + residual."""
    def make(torch, size):
        (M, N, K), words = parse(size)
        act = activation(torch, words)
        x = numbers(torch, M, K)
        w = numbers(torch, N, K, scale=K**-0.5)
        bias = numbers(torch, N)
        residual = numbers(torch, M, N) if "residual" in words else None

        def eager(x, w, bias, residual):
            y = act(torch.nn.functional.linear(x, w, bias))
            return y if residual is None else y + residual

        def is_right(y):
            z = x[-1].double() @ w.double().T + bias.double()
            exact = act(z)
            return is_near(torch, y[-1],
                           exact if residual is None else exact + residual[-1].double())

        return work(made(torch, eager, is_compiled), (x, w, bias, residual), is_right,
                    2 * M * N * K)
    return make


def backward(is_compiled):
    """dz = act'(z) * (dy w), and the sums of its columns."""
    def make(torch, size):
        (M, N, K), words = parse(size)
        aten = torch.ops.aten
        dy = numbers(torch, M, N)
        w = numbers(torch, N, K, scale=N**-0.5)
        z = numbers(torch, M, K)

        def of_activation(dh, z):
            if "gelu" in words:
                return aten.gelu_backward(dh, z, approximate="tanh")
            return aten.silu_backward(dh, z)

        def eager(dy, w, z):
            dz = of_activation(dy @ w, z)
            return dz, dz.float().sum(dim=0)

        def is_right(results):
            exact = of_activation(dy[-1:].double() @ w.double(), z[-1:].double())
            return is_near(torch, results[0][-1:], exact)

        return work(made(torch, eager, is_compiled), (dy, w, z), is_right,
                    2 * M * N * K)
    return make


def two_layers(is_compiled):
    """y = act(x w1^T + bias1) w2^T + bias2."""
    def make(torch, size):
        (M, K, H, N), words = parse(size)
        act = activation(torch, words)
        linear = torch.nn.functional.linear
        x = numbers(torch, M, K)
        w1 = numbers(torch, H, K, scale=K**-0.5)
        bias1 = numbers(torch, H)
        w2 = numbers(torch, N, H, scale=H**-0.5)
        bias2 = numbers(torch, N)

        def eager(x, w1, bias1, w2, bias2):
            return linear(act(linear(x, w1, bias1)), w2, bias2)

        def is_right(y):
            exact = eager(*(t.double() for t in (x[-1:], w1, bias1, w2, bias2)))
            return is_near(torch, y[-1:], exact)

        return work(made(torch, eager, is_compiled), (x, w1, bias1, w2, bias2),
                    is_right, 2 * M * H * (K + N))
    return make


PEERS = {
    "linear_act": ("torch eager", layer(False)),
    "linear_act_backward": ("torch eager", backward(False)),
    "mlp": ("torch eager", two_layers(False)),
}
COMPILED = {
    "linear_act": [("torch compiled", layer(True))],
    "linear_act_backward": [("torch compiled", backward(True))],
    "mlp": [("torch compiled", two_layers(True))],
}

if __name__ == "__main__":
    sys.exit(torch_rows.main(__doc__, PEERS, COMPILED))
