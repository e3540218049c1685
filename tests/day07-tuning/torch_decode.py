"""One token of the decoder of 09-fusion-case-study, by PyTorch: the same sizes, float,
a full cache with sinks and a window, sequential residual. Not a program of its own: see
torch_peers.py."""
import re

EPS = 1e-5
SINKS = 4
ROTARY_BASE = 10000.0
VOCABULARY = 256


class Shape:
    """As the benchmark names it: "layers x width"."""

    def __init__(self, size):
        self.layers, self.width = map(
            int, re.fullmatch(r"(\d+) x (\d+)", size).groups())
        self.heads, self.rotary, window = {
            32: (2, 8, 6), 320: (5, 16, 252), 2560: (32, 20, 508)}[self.width]
        self.slots = SINKS + window
        self.hidden = 4 * self.width
        self.head_dim = self.width // self.heads


class Decoder:
    """Weights, cache and position, as tensors whose places do not change: so that a
    step can be recorded as a graph."""

    def __init__(self, torch, shape):
        self.torch, self.shape = torch, shape

        def matrix(*size):
            return torch.randn(*size, device="cuda") * 0.02

        def norm():
            return torch.ones(shape.width, device="cuda"), matrix(shape.width)

        width, hidden = shape.width, shape.hidden
        self.layers = [{"norm1": norm(), "norm2": norm(),
                        "qkv": (matrix(3 * width, width), matrix(3 * width)),
                        "out": (matrix(width, width), matrix(width)),
                        "up": (matrix(hidden, width), matrix(hidden)),
                        "down": (matrix(width, hidden), matrix(width))}
                       for _ in range(shape.layers)]
        self.norm = norm()
        self.embed_in = matrix(VOCABULARY, width)
        self.embed_out = matrix(VOCABULARY, width)
        cache = (shape.layers, 2, 1, shape.heads, shape.slots, shape.head_dim)
        self.cache = torch.randn(*cache, device="cuda")
        self.token = torch.full((1,), 65, device="cuda")
        self.position = torch.full((1,), shape.slots, device="cuda")
        half = torch.arange(0, shape.rotary, 2, device="cuda").double()
        turns = ROTARY_BASE ** (-half / shape.rotary)
        angles = torch.arange(4096, device="cuda").double()[:, None] * turns
        self.cos, self.sin = angles.cos().float(), angles.sin().float()

    def bytes(self):
        """Weights and cache, read once."""
        tensors = [x for layer in self.layers for pair in layer.values() for x in pair]
        tensors += [*self.norm, self.embed_out, self.cache]
        return sum(x.numel() for x in tensors) * 4


def logits_of(decoder, token, position, type_of=lambda x: x):
    """The logits of the next token. `type_of` casts what is read: to double, to check.
    Writes k and v of the token to the cache."""
    torch, shape = decoder.torch, decoder.shape
    F = torch.nn.functional

    def linear(x, pair):
        return F.linear(x, type_of(pair[0]), type_of(pair[1]))

    def norm(x, pair):
        return F.layer_norm(x, (shape.width,), type_of(pair[0]), type_of(pair[1]), EPS)

    cos, sin = type_of(decoder.cos)[position], type_of(decoder.sin)[position]
    slot = SINKS + (position - SINKS) % (shape.slots - SINKS)

    def turned(x):
        half = shape.rotary // 2
        a, b, rest = x[..., :half], x[..., half:2 * half], x[..., 2 * half:]
        return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), dim=-1)

    x = type_of(decoder.embed_in)[token]
    for layer, cache in zip(decoder.layers, decoder.cache):
        qkv = linear(norm(x, layer["norm1"]), layer["qkv"])
        q, k, v = qkv.view(3, shape.heads, 1, shape.head_dim)
        cache[0, 0].index_copy_(1, slot, turned(k).to(cache.dtype))
        cache[1, 0].index_copy_(1, slot, v.to(cache.dtype))
        mixed = F.scaled_dot_product_attention(
            turned(q)[None], type_of(cache[0]), type_of(cache[1]))
        x = x + linear(mixed.reshape(1, shape.width), layer["out"])
        n = norm(x, layer["norm2"])
        up = F.gelu(linear(n, layer["up"]), approximate="tanh")
        x = x + linear(up, layer["down"])
    return F.linear(norm(x, decoder.norm), type_of(decoder.embed_out))


def largest_error(decoder, step):
    """Of the step's logits, from those in double; relative to the largest."""
    token, position = decoder.token.clone(), decoder.position.clone()
    exact = logits_of(decoder, token, position, lambda x: x.double())
    decoder.token.copy_(token)
    decoder.position.copy_(position)
    got = step().double()
    return ((got - exact).abs().max() / exact.abs().max()).item()
