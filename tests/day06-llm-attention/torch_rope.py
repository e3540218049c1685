"""Rotary embedding and the append to a paged cache in PyTorch, compiled: one function,
as a model's authors would write it, with q turned in place. q, k and v are arrays of
their own here, which the compiler likes better than slices of one matrix. fp16 moves as
many bytes as bf16, and is not measured."""
import re

import torch_rows

PAGE = 16  # tokens
FP8_SCALE = 0.05
STORED = {"rope_append_bf16": "bfloat16", "rope_append_fp8": "float8_e4m3fn"}
KEPT_AS = {"rope_append_bf16": "bfloat16", "rope_append_fp8": "uint8"}  # the same bits
DECODED = 4096  # tokens that a sequence already has, where each gets one more


class Shape:
    """Sizes of one problem, read from the text that our benchmark writes."""

    def __init__(self, size):
        def field(pattern, otherwise=None):
            found = re.search(pattern, size)
            return int(found.group(1)) if found else otherwise

        self.tokens = field(r"^(\d+) tokens")
        self.query_heads = field(r" Hq(\d+)")
        self.kv_heads = field(r" Hkv(\d+)")
        self.head_dim = field(r" D(\d+)")
        self.rotary = field(r", (\d+) rotary", self.head_dim)
        self.neighbours = size.endswith(", neighbours")
        # As in our benchmark: one token of each of 64 sequences, or four prompts.
        self.decodes = self.tokens == 64
        self.batch = self.tokens if self.decodes else max(1, self.tokens // 4096)

    def bytes(self, stored_bytes):
        """By the contract: numbers of q that do not turn stay where they are."""
        positions = self.tokens // self.batch
        return (4 * self.tokens * self.query_heads * self.rotary
                + (2 + stored_bytes) * self.tokens * 2 * self.kv_heads * self.head_dim
                + 4 * positions * self.rotary)


def turned(torch, x, cosine, sine, shape):
    """Heads of q or k, [tokens, heads, head_dim], in float."""
    front = x[..., :shape.rotary].float()
    half = shape.rotary // 2
    if shape.neighbours:
        a, b = front[..., 0::2], front[..., 1::2]
        pair = torch.stack((a * cosine - b * sine, b * cosine + a * sine), -1)
        return pair.flatten(-2)
    a, b = front[..., :half], front[..., half:]
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


def formula(torch, shape, stored, scale):
    """The function that is compiled."""
    def append(q, k, v, sequences, positions, angles, table, cache_k, cache_v):
        def as_kept(x, cache):
            return (x * scale).to(stored).view(cache.dtype)

        cosine, sine = angles[positions].unsqueeze(1).unbind(-1)
        new_q = turned(torch, q, cosine, sine, shape).to(q.dtype)
        new_k = torch.cat((turned(torch, k, cosine, sine, shape),
                           k[..., shape.rotary:].float()), -1)
        q[..., :shape.rotary].copy_(new_q)
        page = table[sequences, positions // PAGE].unsqueeze(1)
        slot = (positions % PAGE).unsqueeze(1)
        head = torch.arange(shape.kv_heads, device=q.device)
        cache_k[page, head, slot] = as_kept(new_k, cache_k)
        cache_v[page, head, slot] = as_kept(v.float(), cache_v)

    return append


def inputs(torch, shape, kept_as, device):
    """What the function is given: tokens of sequences with pages anywhere."""
    added = shape.tokens // shape.batch
    first = DECODED if shape.decodes else 0
    pages = -(-(first + added) // PAGE)
    place = {"device": device}
    q, k, v = (torch.randn(shape.tokens, heads, shape.head_dim, dtype=torch.bfloat16,
                           **place)
               for heads in (shape.query_heads, shape.kv_heads, shape.kv_heads))
    sequences = torch.arange(shape.batch, **place).repeat_interleave(added)
    positions = (first + torch.arange(added, **place)).repeat(shape.batch)
    table = torch.randperm(shape.batch * pages, **place).view(shape.batch, pages)
    half = shape.rotary // 2
    speeds = 10000.0 ** (-torch.arange(half, dtype=torch.float64, **place) / half)
    angle = torch.arange(pages * PAGE, **place).double().outer(speeds)
    angles = torch.stack((angle.cos(), angle.sin()), -1).float()
    cache_k, cache_v = (
        torch.zeros(shape.batch * pages, shape.kv_heads, PAGE, shape.head_dim,
                    dtype=kept_as, **place) for _ in range(2))
    return [q, k, v, sequences, positions, angles, table, cache_k, cache_v]


def largest_error(torch, shape, before, after, stored, scale):
    """Of three tokens, after one launch: beside complex numbers in double.

    @param before, after  what inputs() gives
    """
    q, k, v, sequences, positions, angles, table, cache_k, cache_v = after
    places = torch.tensor((0, shape.tokens // 2, shape.tokens - 1), device=q.device)
    angle = torch.view_as_complex(angles[positions[places]].double()).unsqueeze(1)

    def exact(x):
        heads = x[places].double()
        front = heads[..., :shape.rotary]
        pairs = (front.unflatten(-1, (-1, 2)) if shape.neighbours
                 else front.unflatten(-1, (2, -1)).transpose(-1, -2))
        product = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * angle)
        if not shape.neighbours:
            product = product.transpose(-1, -2)
        return torch.cat((product.flatten(-2), heads[..., shape.rotary:]), -1)

    def appended(cache):
        page = table[sequences[places], positions[places] // PAGE]
        rows = cache[page, :, positions[places] % PAGE]
        return rows.view(stored).double() / scale

    return max(x.abs().max().item() for x in (
        q[places].double() - exact(before[0]), appended(cache_k) - exact(before[1]),
        appended(cache_v) - before[2][places].double()))


def work(torch, exercise, size):
    """A Work; a few tokens are compared with the formula in double."""
    shape = Shape(size)
    stored = getattr(torch, STORED[exercise])
    is_fp8 = exercise.endswith("fp8")
    scale = 1.0 / FP8_SCALE if is_fp8 else 1.0
    tensors = inputs(torch, shape, getattr(torch, KEPT_AS[exercise]), "cuda")
    before = [x.clone() for x in tensors[:3]]
    torch.compiler.reset()  # else the ninth size would not be compiled any more
    compiled = torch.compile(formula(torch, shape, stored, scale), dynamic=False)

    def launch():
        compiled(*tensors)

    def is_right():
        """After the first launch: another one turns q further."""
        error = largest_error(torch, shape, before, tensors, stored, scale)
        return error < (0.5 if is_fp8 else 3e-2)  # half a step of the largest numbers

    return torch_rows.Work(launch, shape.bytes(1 if is_fp8 else 2), "copy", is_right)


def measure(gpu, document):
    """Rows for the sizes that our own benchmark has written."""
    rows = []
    for exercise, size, cache in torch_rows.wanted(document, STORED):
        def make(torch, text, exercise=exercise):
            return work(torch, exercise, text)
        print(f"{exercise}  {size}", flush=True)
        try:
            row = torch_rows.measure(gpu, exercise, ("torch compiled", make), size,
                                     cache, document["ceilings"])
        except gpu.torch.cuda.OutOfMemoryError:
            row = None
            print("  torch compiled: not enough memory")
        gpu.torch.cuda.empty_cache()
        if row:
            print(f"  {row['rung']:<22} {row['median_us']:>12.2f} us "
                  f"{row['gbps']:8.1f} GB/s", flush=True)
            rows.append(row)
        else:
            print("  torch compiled: wrong, and not timed")
    return rows
