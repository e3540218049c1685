#!/usr/bin/env python3
"""What PyTorch does with the sizes of our benchmarks of day 3, on this GPU.

    torch_peers.py --json bench.json [--seconds S] [--list]

Reads the rows that the benchmarks of day 3 have written to bench.json, has PyTorch do
the same work on each of their sizes, and merges its own rows into the file: the same
exercise and size, the rung "torch sum" and so on.

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


def count_of(size):
    """Of "n = 268435456"."""
    return int(re.fullmatch(r"n = (\d+)", size).group(1))


def reduction(torch, size, dtype, run, is_equal):
    """One number of many.

    @param run       makes the number, as a tensor, of the elements
    @param is_equal  of the number and the elements: whether it is right
    """
    n = count_of(size)
    if dtype == torch.int32:
        x = torch.randint(-2**31, 2**31 - 1, (n,), dtype=dtype, device="cuda")
    else:
        x = torch.randn(n, device="cuda").to(dtype)
    out = []

    def launch():
        out[:] = [run(x)]

    return Work(launch, n * x.element_size(), "read", lambda: is_equal(out[0], x))


def is_near_sum(got, x):
    """Within a millionth of the sum of the absolute values."""
    wide = x.double()
    return bool((got.double() - wide.sum()).abs() <= 1e-6 * wide.abs().sum())


def sum_of_floats(torch, size):
    return reduction(torch, size, torch.float32, lambda x: x.sum(), is_near_sum)


def sum_of_bf16(torch, size):
    """With a result in float, as ours."""
    return reduction(torch, size, torch.bfloat16,
                     lambda x: x.sum(dtype=torch.float32), is_near_sum)


def sum_of_integers(torch, size):
    return reduction(torch, size, torch.int32, lambda x: x.sum(),
                     lambda got, x: int(got) == int(x.cpu().sum()))


def largest(torch, size):
    return reduction(torch, size, torch.float32, lambda x: x.max(),
                     lambda got, x: bool((x <= got).all()))


def where_largest(torch, size):
    return reduction(torch, size, torch.float32, lambda x: x.argmax(),
                     lambda got, x: bool((x <= x[got]).all()))



def scan(torch, size, dtype):
    """Of "n = 268435456". PyTorch's sums of integers are wider, unless it is told."""
    n = count_of(size)
    x = torch.randint(-8, 9, (n,), device="cuda", dtype=torch.int32).to(dtype)
    out = torch.empty_like(x)

    def launch():
        torch.cumsum(x, 0, dtype=dtype, out=out)

    def is_right():
        # Integers, and floats as small as these, have exact sums.
        return all(out[i].item() == x[:i + 1].double().sum().item()
                   for i in (0, n // 2, n - 1))

    return Work(launch, 2 * n * x.element_size(), "copy", is_right)


def softmax(torch, size, dtype, is_compiled):
    """Of "8192 x 32768": its rows."""
    shape = tuple(map(int, size.split(" x ")))
    x = torch.randn(shape, device="cuda").to(dtype)

    def rows_of(values):
        return torch.softmax(values, dim=1)

    run = rows_of
    if is_compiled:
        torch._dynamo.reset()  # each size has code of its own
        run = torch.compile(rows_of, dynamic=False)
    out = [None]

    def launch():
        out[0] = run(x)

    def is_right():
        unit = torch.finfo(dtype).eps
        return all(torch.allclose(out[0][row].double(),
                                  torch.softmax(x[row].double(), dim=0),
                                  rtol=max(unit, 1e-4), atol=1e-30)
                   for row in (0, shape[0] - 1))

    return Work(launch, 2 * x.numel() * x.element_size(), "copy", is_right)


def softmax_peers(get_dtype):
    """(rung, what makes its work of a size): as it comes, and compiled.

    @param get_dtype  gives the type of the elements, of torch
    """
    return [(rung, lambda torch, size, is_compiled=is_compiled: softmax(
                torch, size, get_dtype(torch), is_compiled))
            for rung, is_compiled in (("torch softmax", False),
                                      ("torch compiled softmax", True))]


def norm(torch, size, dtype, is_centered, is_compiled):
    """A LayerNorm of the rows of "16384 x 4096", or an RMSNorm."""
    shape = tuple(map(int, size.split(" x ")))
    x = torch.randn(shape, device="cuda").to(dtype)
    gamma = torch.randn(shape[1], device="cuda").to(dtype)
    beta = torch.randn(shape[1], device="cuda").to(dtype)

    def rows_of(values, factors, summands):
        if is_centered:
            return torch.nn.functional.layer_norm(
                values, shape[1:], factors, summands, 1e-5)
        return torch.nn.functional.rms_norm(values, shape[1:], factors, 1e-5)

    run = rows_of
    if is_compiled:
        torch._dynamo.reset()  # each size has code of its own
        run = torch.compile(rows_of, dynamic=False)
    out = [None]

    def launch():
        out[0] = run(x, gamma, beta)

    def is_right():
        unit = torch.finfo(dtype).eps
        wide = [values.double() for values in (gamma, beta)]
        return all(torch.allclose(out[0][row].double(),
                                  rows_of(x[row].double(), *wide),
                                  rtol=2 * max(unit, 1e-4), atol=2 * max(unit, 1e-4))
                   for row in (0, shape[0] - 1))

    return Work(launch, 2 * x.numel() * x.element_size(), "copy", is_right)


def norm_backward(torch, size, dtype, is_centered):
    """The gradients of all that a norm() is given, without its forward pass."""
    shape = tuple(map(int, size.split(" x ")))
    x, dy = (torch.randn(shape, device="cuda").to(dtype) for _ in range(2))
    gamma, beta = (torch.randn(shape[1], device="cuda").to(dtype) for _ in range(2))
    given = (x, gamma, beta) if is_centered else (x, gamma)
    for values in given:
        values.requires_grad_()
    functional = torch.nn.functional
    if is_centered:
        y = functional.layer_norm(x, shape[1:], gamma, beta, 1e-5)
    else:
        y = functional.rms_norm(x, shape[1:], gamma, 1e-5)
    out = []

    def launch():
        out[:] = torch.autograd.grad(y, given, dy, retain_graph=True)

    def is_right():
        # A row of dx is at right angles to the row of ones, if the mean is taken away,
        # and to that of x; we look at the first of them, and at dbeta.
        dx = out[0][0].double()
        unit = max(torch.finfo(dtype).eps, 1e-5)
        along = dx.sum() if is_centered else (dx * x[0].double()).sum()
        is_dx = bool(along.abs() <= unit * shape[1] * dx.abs().max() *
                     max(1.0, float(x[0].double().abs().max())))
        if not is_centered:
            return is_dx
        exact = dy.double().sum(dim=0)
        size_of = dy.double().abs().sum(dim=0)
        return is_dx and bool(((out[2].double() - exact).abs() <= unit * size_of).all())

    return Work(launch, 3 * x.numel() * x.element_size(), "2 reads + 1 write", is_right)


def norm_peers(get_dtype, is_centered):
    """As softmax_peers(): as it comes, and compiled."""
    name = "layer_norm" if is_centered else "rms_norm"
    return [(rung, lambda torch, size, is_compiled=is_compiled: norm(
                torch, size, get_dtype(torch), is_centered, is_compiled))
            for rung, is_compiled in ((f"torch {name}", False),
                                      (f"torch compiled {name}", True))]


def fused_norm(torch, size, kind, is_compiled):
    """What is computed with a LayerNorm of the rows of "16384 x 4096", in bf16.

    @param kind  "layernorm_add", "add_layernorm" or "norm_mul_dropout"
    """
    functional = torch.nn.functional
    shape = tuple(map(int, size.split(" x ")))
    x, other = (torch.randn(shape, device="cuda").bfloat16() for _ in range(2))
    gamma, beta = (torch.randn(shape[1], device="cuda").bfloat16() for _ in range(2))

    def rows_of(values, second, factors, summands):
        if kind == "add_layernorm":
            values = values + second
        y = functional.layer_norm(values, shape[1:], factors, summands, 1e-5)
        if kind == "add_layernorm":
            return values, y
        if kind == "layernorm_add":
            return None, y + second
        return None, functional.dropout(y * second, 0.25)

    run = compiled(torch, rows_of) if is_compiled else rows_of
    out = [None]

    def launch():
        out[0] = run(x, other, gamma, beta)

    def is_right():
        h, y = out[0]
        for row in (0, shape[0] - 1):
            wide = [values.double() for values in (x[row], other[row], gamma, beta)]
            if h is not None:
                wide[0], wide[1] = h[row].double(), torch.zeros_like(wide[1])
            exact, got = rows_of(*wide)[1], y[row].double()
            if kind == "norm_mul_dropout":  # PyTorch's mask is another one
                exact = functional.layer_norm(wide[0], shape[1:], *wide[2:], 1e-5)
                exact = torch.where(got == 0, got, exact * wide[1] / 0.75)
            if not torch.allclose(got, exact, rtol=0.03, atol=0.03):
                return False
        return kind != "norm_mul_dropout" or bool((y == 0).any())

    matrices = 4 if kind == "add_layernorm" else 3
    ceiling = "copy" if kind == "add_layernorm" else "2 reads + 1 write"
    return Work(launch, matrices * x.numel() * x.element_size(), ceiling, is_right)


def norm_mul_dropout_backward(torch, size):
    """The gradients of all four that a norm_mul_dropout is given, forward compiled with
    them: PyTorch's compiler makes both passes at once."""
    functional = torch.nn.functional
    shape = tuple(map(int, size.split(" x ")))
    x, mul, dy = (torch.randn(shape, device="cuda").bfloat16() for _ in range(3))
    gamma, beta = (torch.randn(shape[1], device="cuda").bfloat16() for _ in range(2))
    given = (x, mul, gamma, beta)
    for values in given:
        values.requires_grad_()

    def rows_of(values, factor, factors, summands):
        y = functional.layer_norm(values, shape[1:], factors, summands, 1e-5)
        return functional.dropout(y * factor, 0.25)

    y = compiled(torch, rows_of)(*given)
    out = []

    def launch():
        out[:] = torch.autograd.grad(y, given, dy, retain_graph=True)

    def is_right():
        # What was dropped has no gradient of mul; the rest has dy * y / mul.
        kept = y[0] != 0
        exact = dy[0].double() * y[0].double() / mul[0].double()
        got = out[1][0].double()
        near = torch.isclose(got, exact, rtol=0.05, atol=0.05)
        return bool(near[kept].all()) and bool((got[~kept] == 0).all())

    return Work(launch, 5 * x.numel() * x.element_size(), "2 reads + 1 write", is_right)


def fused_norm_peers(kind):
    """As norm_peers(): as it comes, and compiled."""
    return [(rung, lambda torch, size, is_compiled=is_compiled: fused_norm(
                torch, size, kind, is_compiled))
            for rung, is_compiled in (("torch eager", False),
                                      ("torch compiled", True))]


def histogram(torch, size, dtype):
    """Of "n = 67108864, 256 bins, uniform": the values of our benchmark, by its law."""
    n, bins, kind = re.fullmatch(r"n = (\d+), (\d+) bins, (\w+)", size).groups()
    n, bins = int(n), int(bins)
    place = torch.rand(min(n, 1 << 22), device="cuda", dtype=torch.float64)
    if kind == "skewed":
        place = (bins + 1.0) ** place - 1.0
    elif kind == "constant":
        place = torch.full_like(place, bins // 2)
    else:
        place *= bins
    made = place.clamp(max=bins - 1).to(dtype)
    values = made.repeat(n // made.numel())
    out = [None]

    def launch():
        out[0] = torch.bincount(values, minlength=bins)

    def is_right():
        return all(int(out[0][b]) == int((values == b).sum())
                   for b in (0, bins // 2, bins - 1))

    return Work(launch, n * values.element_size(), "read", is_right)


def compiled(torch, run):
    """PyTorch's own compiler; each size has code of its own."""
    torch._dynamo.reset()
    return torch.compile(run, dynamic=False)


def l2_normalize(torch, size, is_backward):
    """Of "1048576 x 128": its rows."""
    functional = torch.nn.functional
    shape = tuple(map(int, size.split(" x ")))
    x = torch.randn(shape, device="cuda")
    if not is_backward:
        run = compiled(torch, lambda rows: functional.normalize(rows, dim=1))
        out = [None]

        def launch():
            out[0] = run(x)

        def is_right():
            wide = x[-1].double()
            return torch.allclose(out[0][-1].double(), wide / wide.norm(), atol=1e-5)

        return Work(launch, 2 * x.numel() * 4, "copy", is_right)

    norms = x.norm(dim=1, keepdim=True)
    y = x / norms
    dy = torch.randn(shape, device="cuda")
    run = compiled(torch, lambda dy, y, norms: (
        dy - y * (y * dy).sum(dim=1, keepdim=True)) / norms)
    out = [None]

    def launch_backward():
        out[0] = run(dy, y, norms)

    def is_right_backward():
        # Moving along y changes no direction: the gradient is orthogonal to it.
        return bool(((out[0] * y).sum(dim=1).abs() * norms[:, 0] < 1e-3).all())

    return Work(launch_backward, 3 * x.numel() * 4, "copy", is_right_backward)


def bce(torch, size, is_backward):
    """Of "n = 67108864"; the gradient by its formula, which PyTorch compiles."""
    n = count_of(size)
    logits = torch.randn(n, device="cuda")
    targets = (torch.rand(n, device="cuda") < 1 / 3).float()
    out = [None]
    if is_backward:
        run = compiled(torch, lambda x, t: (torch.sigmoid(x) - t) / n)
    else:
        run = compiled(
            torch, torch.nn.functional.binary_cross_entropy_with_logits)

    def launch():
        out[0] = run(logits, targets)

    def is_right():
        x, t = logits[:1000].double(), targets[:1000].double()
        if is_backward:
            return torch.allclose(out[0][:1000].double() * n, torch.sigmoid(x) - t,
                                  atol=1e-5)
        # The mean of 2^26 differs from that of all by less than a thousandth.
        return abs(out[0].item() - 0.806) < 0.01

    moved = n * (12 if is_backward else 8)
    return Work(launch, moved, "copy" if is_backward else "read", is_right)


def sampled_softmax(torch, size):
    """Of "8192 x 8192, 3 in 4 real": the queries that are real, for PyTorch has them
    without room."""
    queries, negatives = map(
        int, re.fullmatch(r"(\d+) x (\d+), 3 in 4 real", size).groups())
    real = queries - queries // 4
    positive = torch.randn(real, device="cuda")
    negative = torch.randn(real, negatives, device="cuda")
    log_q = torch.randn(negatives, device="cuda")
    positive_ids = torch.full((real,), 7, dtype=torch.int32, device="cuda")
    negative_ids = torch.randint(
        1000, (negatives,), dtype=torch.int32, device="cuda")

    def losses_of(own, others, own_ids):
        hits = negative_ids[None, :] == own_ids[:, None]
        others = (others - log_q).masked_fill(hits, float("-inf"))
        return torch.nn.functional.softplus(torch.logsumexp(others, dim=1) - own)

    run = compiled(torch, lambda: losses_of(positive, negative, positive_ids))
    out = [None]

    def launch():
        out[0] = run()
        return out[0].mean()

    def is_right():
        wide = losses_of(positive[:9].double(), negative[:9].double(), positive_ids[:9])
        return torch.allclose(out[0][:9].double(), wide, rtol=1e-4)

    return Work(launch, real * negatives * 4, "read", is_right)


def table_find(torch, size):
    """Of "1048576 keys, 7340032 slots, load 0.75, hits". PyTorch has no hash table: a
    binary search in sorted keys."""
    n, slots, load = re.fullmatch(
        r"(\d+) keys, (\d+) slots, load ([\d.]+), hits", size).groups()
    n, held = int(n), int(int(slots) * float(load))
    keys = torch.randint(0, 2**52, (held,), device="cuda").sort().values
    asked = keys[torch.randint(0, held, (n,), device="cuda")]
    out = [None]

    def launch():
        out[0] = torch.searchsorted(keys, asked)

    return Work(launch, 76 * n, "read", lambda: torch.equal(keys[out[0]], asked))


def table_rows(size):
    """Of "1048576 of 1835008 x 64, hot": how many of how many rows, and columns."""
    return map(int, re.match(r"(\d+) of (\d+) x (\d+), ", size).groups())


def table_lookup(torch, size):
    """Rows by their numbers; cold ones are gathered by the CPU and copied."""
    n, rows, cols = table_rows(size)
    where = "cuda" if size.endswith("hot") else "cpu"
    values = torch.randn((rows, cols), device=where)
    slots = torch.randint(0, rows, (n,), device=where)
    out = torch.empty((n, cols), device="cuda")

    def launch():
        out.copy_(torch.index_select(values, 0, slots))

    def launch_on_gpu():
        torch.index_select(values, 0, slots, out=out)

    return Work(launch if where == "cpu" else launch_on_gpu, n * (8 * cols + 4), "copy",
                lambda: torch.equal(out[-1].cpu(), values[slots[-1]].cpu()))


def table_backward(torch, size):
    """Atomic additions to rows, which go on with what is there."""
    n, rows, cols = table_rows(size)
    slots = torch.randint(0, rows, (n,), device="cuda")
    values = torch.zeros((rows, cols), device="cuda")
    grad = torch.ones((n, cols), device="cuda")

    def launch():
        values.index_add_(0, slots, grad, alpha=0.5)

    def is_right():
        return values[slots[0], 0].item() == 0.5 * (slots == slots[0]).sum().item()

    return Work(launch, n * (12 * cols + 4), "read2_write1", is_right)


# Exercise, as it is named in our rows: the rung, and what makes its work of a size.
PEERS = {
    "reduce_sum": ("torch sum", sum_of_floats),
    "reduce_sum_bf16": ("torch sum", sum_of_bf16),
    "reduce_sum_i32": ("torch sum", sum_of_integers),
    "reduce_max": ("torch max", largest),
    "reduce_argmax": ("torch argmax", where_largest),
    "scan_int32": ("torch cumsum",
                   lambda torch, size: scan(torch, size, torch.int32)),
    "scan_float": ("torch cumsum",
                   lambda torch, size: scan(torch, size, torch.float32)),
    "histogram_i32": ("torch bincount",
                      lambda torch, size: histogram(torch, size, torch.int32)),
    "histogram_u8": ("torch bincount",
                     lambda torch, size: histogram(torch, size, torch.uint8)),
    "l2_normalize": ("torch compiled normalize",
                     lambda torch, size: l2_normalize(torch, size, False)),
    "l2_normalize_backward": ("torch compiled formula",
                              lambda torch, size: l2_normalize(torch, size, True)),
    "bce_with_logits": ("torch compiled bce",
                        lambda torch, size: bce(torch, size, False)),
    "bce_with_logits_backward": ("torch compiled formula",
                                 lambda torch, size: bce(torch, size, True)),
    "sampled_softmax": ("torch compiled logsumexp", sampled_softmax),
    "table_find": ("torch searchsorted", table_find),
    "table_lookup": ("torch index_select", table_lookup),
    "table_backward": ("torch index_add_", table_backward),
    "softmax": softmax_peers(lambda torch: torch.float32)[0],
    "softmax_bf16": softmax_peers(lambda torch: torch.bfloat16)[0],
    "layer_norm": norm_peers(lambda torch: torch.float32, True)[0],
    "layer_norm_bf16": norm_peers(lambda torch: torch.bfloat16, True)[0],
    "rms_norm_bf16": norm_peers(lambda torch: torch.bfloat16, False)[0],
    "layer_norm_backward": (
        "torch backward",
        lambda torch, size: norm_backward(torch, size, torch.float32, True)),
    "layer_norm_backward_bf16": (
        "torch backward",
        lambda torch, size: norm_backward(torch, size, torch.bfloat16, True)),
    "rms_norm_backward_bf16": (
        "torch backward",
        lambda torch, size: norm_backward(torch, size, torch.bfloat16, False)),
    "add_layernorm_bf16": fused_norm_peers("add_layernorm")[0],
    "layernorm_add_bf16": fused_norm_peers("layernorm_add")[0],
    "norm_mul_dropout_bf16": fused_norm_peers("norm_mul_dropout")[0],
    "norm_mul_dropout_backward_bf16": (
        "torch compiled backward", norm_mul_dropout_backward),
}

# Where PyTorch has more than one way to do it.
MORE_PEERS = {
    "softmax": softmax_peers(lambda torch: torch.float32)[1:],
    "softmax_bf16": softmax_peers(lambda torch: torch.bfloat16)[1:],
    "layer_norm": norm_peers(lambda torch: torch.float32, True)[1:],
    "layer_norm_bf16": norm_peers(lambda torch: torch.bfloat16, True)[1:],
    "rms_norm_bf16": norm_peers(lambda torch: torch.bfloat16, False)[1:],
    "add_layernorm_bf16": fused_norm_peers("add_layernorm")[1:],
    "layernorm_add_bf16": fused_norm_peers("layernorm_add")[1:],
    "norm_mul_dropout_bf16": fused_norm_peers("norm_mul_dropout")[1:],
}

if __name__ == "__main__":
    sys.exit(torch_rows.main(__doc__, PEERS, MORE_PEERS))
