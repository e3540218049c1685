"""The model of day 7, chapter 08, as PyTorch's users would write it, and the files that
a training of ours leaves. What is computed is said in <wb/model/gpt.h>."""
import json
import math
import struct


class Shape:
    """The sizes of a model, from the notes of a checkpoint."""

    def __init__(self, notes):
        self.layers = int(notes["layers"])
        self.width = int(notes["width"])
        self.heads = int(notes["heads"])
        self.hidden = int(notes["hidden"])
        self.rotary = int(notes["rotary"])
        self.is_parallel = notes["residual"] == "parallel"
        self.eps = float(notes.get("eps", 1e-5))
        self.head_dim = self.width // self.heads


def angles_of(torch, shape, length, device):
    """Cosines and sines of each position, [length, rotary / 2], computed in double."""
    i = torch.arange(shape.rotary // 2, dtype=torch.float64, device=device)
    turn = 10000.0 ** (-2.0 * i / max(shape.rotary, 1))
    at = torch.arange(length, dtype=torch.float64, device=device)[:, None] * turn
    return at.cos(), at.sin()


def turned(torch, x, shape, cosine, sine):
    """Heads of q or k, [batch, heads, length, head_dim]: i turns with
    i + rotary / 2."""
    half = shape.rotary // 2
    a, b, rest = x.split([half, half, shape.head_dim - shape.rotary], dim=-1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine, rest), dim=-1)


def plain_attention(torch, q, k, v):
    """As its formula is written: no kernel of another precision is chosen for it."""
    length = q.shape[2]
    hidden = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
    return torch.softmax(scores.masked_fill(hidden, -math.inf), dim=-1) @ v


def fast_attention(torch, q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def attention(torch, x, w, name, shape, angles, attend):
    functional = torch.nn.functional
    batch, length, _ = x.shape
    qkv = functional.linear(x, w[name + "qkv.weight"], w[name + "qkv.bias"])
    q, k, v = qkv.view(batch, length, 3, shape.heads, shape.head_dim).permute(
        2, 0, 3, 1, 4)
    q, k = (turned(torch, part, shape, *angles) for part in (q, k))
    o = attend(torch, q, k, v)
    o = o.transpose(1, 2).reshape(batch, length, shape.width)
    return functional.linear(o, w[name + "out.weight"], w[name + "out.bias"])


def mlp(torch, x, w, name):
    functional = torch.nn.functional
    z = functional.linear(x, w[name + "up.weight"], w[name + "up.bias"])
    hidden = functional.gelu(z, approximate="tanh")
    return functional.linear(hidden, w[name + "down.weight"], w[name + "down.bias"])


def loss_of(torch, w, tokens, shape, angles, attend=fast_attention):
    """The mean loss of a batch.

    @param w       tensors by the names of the checkpoint
    @param tokens  int64 [batch, length + 1]
    @param angles  of angles_of(), in the type that the rotation is to have
    """
    functional = torch.nn.functional

    def norm(x, name):
        return functional.layer_norm(x, (shape.width,), w[name + ".weight"],
                                     w[name + ".bias"], shape.eps)

    x = functional.embedding(tokens[:, :-1], w["embed_in.weight"])
    for i in range(shape.layers):
        name = f"layers.{i}."
        attended = attention(torch, norm(x, name + "norm1"), w, name + "attention.",
                             shape, angles, attend)
        if shape.is_parallel:
            x = x + attended + mlp(torch, norm(x, name + "norm2"), w, name + "mlp.")
        else:
            h = x + attended
            x = h + mlp(torch, norm(h, name + "norm2"), w, name + "mlp.")
    logits = functional.linear(norm(x, "norm"), w["embed_out.weight"])
    if logits.dtype == torch.bfloat16:
        logits = logits.float()
    return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def decays(name, tensor):
    """Whether a parameter has weight decay: matrices do."""
    return tensor.dim() == 2


FORMATS = {"F32": ("f", 4), "I32": ("i", 4)}


def read_safetensors(path):
    """Notes, and (shape, bytes, type) of each tensor. Needs no package."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        elements = file.read()
    notes = header.pop("__metadata__", {})
    tensors = {}
    for name, it in header.items():
        begin, end = it["data_offsets"]
        if it["dtype"] not in FORMATS:
            raise ValueError(f"{path}: {name} is of the type {it['dtype']}")
        expected = math.prod(it["shape"]) * FORMATS[it["dtype"]][1]
        if end - begin != expected or end > len(elements):
            raise ValueError(f"{path}: {name} has not the bytes of its shape")
        tensors[name] = (it["shape"], elements[begin:end], it["dtype"])
    return notes, tensors


def numbers(tensor):
    """The elements of a tensor of read_safetensors(), as a list."""
    _, elements, kind = tensor
    letter, size = FORMATS[kind]
    return list(struct.unpack(f"<{len(elements) // size}{letter}", elements))


def as_torch(torch, tensor):
    """The same as a tensor of PyTorch, on the CPU."""
    shape, elements, kind = tensor
    dtype = {"F32": torch.float32, "I32": torch.int32}[kind]
    return torch.frombuffer(bytearray(elements), dtype=dtype).reshape(shape)
