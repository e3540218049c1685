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
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch_rows
from torch_rows import Work


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


def taps(torch, radius, scale):
    """The weights of our benchmarks along one line, see weight_at() there."""
    return scale * (0.1 + 0.03 * torch.arange(-radius, radius + 1, device="cuda"))


def stencil_1d(torch, size):
    """Of "n = 268435456, radius 4"."""
    n, radius = map(int, re.fullmatch(r"n = (\d+), radius (\d+)", size).groups())
    weight = 0.1 + 0.002 * torch.arange(-radius, radius + 1, device="cuda")
    return convolution(torch, (1, 1, 1, n), [weight.reshape(1, 1, 1, -1)])


def image_shape(size):
    """Batch, channels, rows and columns, and the radius of "64 of 1080 x 1920, radius
    1"."""
    batch, rows, cols, radius = re.fullmatch(
        r"(?:(\d+) of )?(\d+) x (\d+), radius (\d+)", size).groups()
    return (int(batch or 1), 1, int(rows), int(cols)), int(radius)


def convolve_2d(torch, size):
    shape, radius = image_shape(size)
    place = torch.arange(-radius, radius + 1, device="cuda")
    weight = 0.1 + 0.03 * place[:, None] + 0.002 * place[None, :]
    return convolution(torch, shape, [weight[None, None]])


def convolve_separable(torch, size):
    """Two calls, one along the rows and one along the columns."""
    shape, radius = image_shape(size)
    return convolution(torch, shape, [taps(torch, radius, 2.0).reshape(1, 1, 1, -1),
                                      taps(torch, radius, 1.0).reshape(1, 1, -1, 1)])


def convolution(torch, shape, weights):
    """One filter after the other, zeros outside of the image. Without TF32, whose
    products have 10 bits of the mantissa instead of 23."""
    torch.backends.cudnn.allow_tf32 = False
    x = torch.randn(shape, device="cuda")
    results = []

    def filtered(y):
        for weight in weights:
            padding = [extent // 2 for extent in weight.shape[2:]]
            y = torch.nn.functional.conv2d(y, weight.to(y.dtype), padding=padding)
        return y

    def launch():
        results[:] = [filtered(x)]

    def is_right():
        """In both corners: what lies beyond is 0, so that a piece of the image is as
        good as all of it."""
        for edge in (slice(0, 40), slice(-40, None)):
            part = filtered(x[-1:, :, edge, edge].double())
            rows, cols = min(20, shape[2]), 20  # far from where the piece was cut off
            corner = ((slice(0, rows), slice(0, cols)) if edge.start == 0 else
                      (slice(-rows, None), slice(-cols, None)))
            got = results[0][-1, 0][corner].double()
            if not torch.allclose(got, part[0, 0][corner], rtol=1e-4, atol=1e-4):
                return False
        return True

    return Work(launch, 2 * x.numel() * x.element_size(), "copy", is_right)


def embedding_indices(torch, size):
    """Of "1048576 of 1048576 x 128, uniform": the indices, the rows, the columns."""
    count, rows, cols, spread = re.search(
        r"(\d+) of (\d+) x (\d+), (uniform|skewed|one row)$", size).groups()
    count, rows, cols = int(count), int(rows), int(cols)
    if spread == "uniform":
        indices = torch.randint(0, rows, (count,), device="cuda")
    elif spread == "skewed":  # row r in proportion to 1 / (r + 1)
        u = torch.rand(count, dtype=torch.float64, device="cuda")
        indices = ((rows + 1.0) ** u - 1.0).long().clamp(max=rows - 1)
    else:
        indices = torch.zeros(count, dtype=torch.int64, device="cuda")
    return indices, rows, cols


def embedding(torch, size, dtype):
    """A gather of rows."""
    indices, rows, cols = embedding_indices(torch, size)
    table = torch.randn((rows, cols), device="cuda").to(dtype)
    out = [None]

    def launch():
        out[0] = torch.nn.functional.embedding(indices, table)

    def is_right():
        return all(torch.equal(out[0][i], table[indices[i]])
                   for i in (0, len(indices) // 2, -1))

    moved = 2 * len(indices) * cols * table.element_size() + 8 * len(indices)
    return Work(launch, moved, "copy", is_right)


def embedding_bag(torch, size, dtype):
    """Sums of 20 rows each."""
    indices, rows, cols = embedding_indices(torch, size)
    table = torch.randn((rows, cols), device="cuda").to(dtype)
    bags = len(indices) // 20
    offsets = torch.arange(0, bags * 20, 20, device="cuda")
    out = [None]

    def launch():
        out[0] = torch.nn.functional.embedding_bag(indices, table, offsets, mode="sum")

    def is_right():
        want = table[indices[-20:]].double().sum(0)
        return torch.allclose(out[0][-1].double(), want, rtol=0.02, atol=0.02)

    moved = ((len(indices) + bags) * cols * table.element_size() + 8 * len(indices)
             + 8 * bags)
    return Work(launch, moved, "read", is_right)


def embedding_backward(torch, size, run):
    """Gradients of a table. @param run  makes them of gradients, indices and rows"""
    indices, rows, cols = embedding_indices(torch, size)
    grad_out = torch.randn((len(indices), cols), device="cuda")
    out = [None]

    def launch():
        out[0] = run(grad_out, indices, rows)

    def is_right():
        row = indices[0]
        want = grad_out[indices == row].double().sum(0)
        return torch.allclose(out[0][row].double(), want, rtol=1e-3, atol=1e-2)

    moved = 4 * (len(indices) + rows) * cols + 8 * len(indices)
    return Work(launch, moved, "copy", is_right)


def dense_backward(torch):
    """What autograd calls for the weight of an embedding."""
    return lambda grad, indices, rows: torch.ops.aten.embedding_dense_backward(
        grad, indices, rows, -1, False)


def index_add(torch):
    """Atomic additions to a table of zeros."""
    return lambda grad, indices, rows: torch.zeros(
        (rows, grad.shape[1]), device="cuda").index_add_(0, indices, grad)


def lengths_of(torch, num_rows):
    """Those of jagged_tensors_bench.cpp."""
    rows = torch.arange(num_rows, dtype=torch.int64, device="cuda")
    return rows * 7919 % 41


def jagged_offsets(torch, size):
    """Of "262144 rows": the sums alone, for the first offset is a constant."""
    num_rows = int(re.fullmatch(r"(\d+) rows", size).group(1))
    lengths = lengths_of(torch, num_rows).to(torch.int32)
    out = torch.zeros(num_rows + 1, dtype=torch.int32, device="cuda")

    def launch():
        torch.cumsum(lengths, 0, dtype=torch.int32, out=out[1:])

    def is_right():
        return torch.equal(out[1:].long(), torch.cumsum(lengths.long(), 0))

    return Work(launch, 8 * num_rows, "copy", is_right)


class Jagged:
    """Rows of "262144 rows of 20, dim 64", or of "one row of 1048576, dim 64"."""

    def __init__(self, torch, size):
        one = re.fullmatch(r"one row of (\d+), dim (\d+)", size)
        if one:
            lengths = torch.tensor([int(one.group(1))], device="cuda")
            self.max_length, self.dim = int(one.group(1)), int(one.group(2))
        else:
            num_rows, dim = re.fullmatch(r"(\d+) rows of 20, dim (\d+)", size).groups()
            lengths = lengths_of(torch, int(num_rows))
            self.max_length, self.dim = 41, int(dim)
        self.num_rows = lengths.numel()
        self.offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        self.total = int(self.offsets[-1])
        self.offset_bytes = 4 * (self.num_rows + 1)  # ours; PyTorch reads twice as many
        # Entry t of row r is there; in order, these are the entries of the values.
        self.there = (torch.arange(self.max_length, device="cuda")[None, :]
                      < lengths[:, None])

    def values(self, torch):
        return torch.randn(self.total, self.dim, device="cuda").to(torch.bfloat16)

    def dense(self, torch):
        shape = self.num_rows, self.max_length, self.dim
        return torch.randn(shape, dtype=torch.bfloat16, device="cuda")


def jagged_to_dense(torch, size):
    jagged = Jagged(torch, size)
    values = jagged.values(torch)
    out = []

    def launch():
        out[:] = [torch.ops.aten._jagged_to_padded_dense_forward(
            values, [jagged.offsets], [jagged.max_length], 0.0)]

    def is_right():
        return (torch.equal(out[0][jagged.there], values)
                and not out[0][~jagged.there].any())

    dense = jagged.num_rows * jagged.max_length * jagged.dim
    moved = 2 * (values.numel() + dense) + jagged.offset_bytes
    return Work(launch, moved, "copy", is_right)


def dense_to_jagged(torch, size):
    jagged = Jagged(torch, size)
    dense = jagged.dense(torch)
    out = []

    def launch():
        out[:] = [torch.ops.aten._padded_dense_to_jagged_forward(
            dense, [jagged.offsets], jagged.total)]

    def is_right():
        return torch.equal(out[0], dense[jagged.there])

    moved = 4 * jagged.total * jagged.dim + jagged.offset_bytes
    return Work(launch, moved, "copy", is_right)


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
    "stencil_1d": ("torch conv2d", stencil_1d),
    "convolve_2d": ("torch conv2d", convolve_2d),
    "convolve_separable": ("torch conv2d", convolve_separable),
    "embedding": (
        "torch embedding", lambda torch, size: embedding(torch, size, torch.float32)),
    "embedding_u16": (
        "torch embedding", lambda torch, size: embedding(torch, size, torch.bfloat16)),
    "embedding_bag": (
        "torch embedding_bag",
        lambda torch, size: embedding_bag(torch, size, torch.float32)),
    "embedding_bag_fp16": (
        "torch embedding_bag",
        lambda torch, size: embedding_bag(torch, size, torch.float16)),
    "embedding_bag_bf16": (
        "torch embedding_bag",
        lambda torch, size: embedding_bag(torch, size, torch.bfloat16)),
    "embedding_backward": (
        "torch embedding_dense_backward",
        lambda torch, size: embedding_backward(torch, size, dense_backward(torch))),
    "jagged_offsets": ("torch cumsum", jagged_offsets),
    "jagged_to_dense": ("torch jagged_to_padded_dense", jagged_to_dense),
    "dense_to_jagged": ("torch padded_dense_to_jagged", dense_to_jagged),
    "peak_energy": ("torch pooling", peak_energy),
}

# Where PyTorch has more than one way to do it.
MORE_PEERS = {
    "embedding_backward": [(
        "torch index_add_",
        lambda torch, size: embedding_backward(torch, size, index_add(torch)))],
}


if __name__ == "__main__":
    sys.exit(torch_rows.main(__doc__, PEERS, MORE_PEERS))
