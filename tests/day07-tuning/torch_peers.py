#!/usr/bin/env python3
"""What PyTorch does with the sizes of our benchmarks of day 7, on this GPU.

    torch_peers.py --json bench.json [--seconds S] [--list]

Reads the rows of train_a_gpt and decode_step that their benchmarks have written to
bench.json, has PyTorch do the same with the same sizes, and merges its own rows into
the file: the same exercise and size, the rungs "torch eager", "torch compiled" and
others. A training step has the loss, its gradients, clipping and AdamW, as ours has; a
decoding step makes one token, behind a full cache.

A step has so many kernels that Python is slower than the GPU: "torch compiled bf16" is
what its user gets. "torch compiled bf16 graph" is the same, recorded as a CUDA graph:
what the GPU can do with PyTorch's kernels.

    --seconds S   spent on the samples of one row; default 0.2
    --list        say what would be measured; needs no GPU

Optional: where there is no PyTorch or no GPU, it says so and ends with 0. It ends with
1 if bench.json is of another GPU, or if a result of PyTorch is not what we think it is.
"""
import math
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch_decode
import torch_gpt
import torch_rows
from torch_rows import Work

RATE = 1e-12  # all of the work, and the weights stay: so does the loss


def is_step(size):
    """Not so AdamW by itself, nor what is timed on the host or makes another text."""
    return not size.startswith("AdamW") and "," not in size


def parse(size):
    """Of "8 x 320 B32 N256": the shape that the benchmark has, batch and length."""
    layers, width, batch, length = map(int, re.fullmatch(
        r"(\d+) x (\d+) B(\d+) N(\d+)", size).groups())
    heads = {32: 2, 128: 2, 320: 5}[width]
    shape = torch_gpt.Shape({"layers": layers, "width": width, "heads": heads,
                             "hidden": 4 * width, "rotary": 16,
                             "residual": "parallel"})
    return shape, batch, length


def operations(shape, batch, length):
    """As our benchmark counts them."""
    weights = shape.layers * 12 * shape.width ** 2 + 256 * shape.width
    attention = shape.layers * 7 * shape.width * length
    return batch * length * (6 * weights + attention)


def parameters_of(torch, shape):
    """As they are before the first step: see trainer.cpp."""
    small = 0.02

    def matrix(*size):
        return torch.randn(*size, device="cuda") * small

    width, hidden = shape.width, shape.hidden
    w = {"embed_in.weight": matrix(256, width), "embed_out.weight": matrix(256, width)}

    def linear(name, outputs, inputs):
        w[name + ".weight"] = matrix(outputs, inputs)
        w[name + ".bias"] = torch.zeros(outputs, device="cuda")

    def norm(name):
        w[name + ".weight"] = torch.ones(width, device="cuda")
        w[name + ".bias"] = torch.zeros(width, device="cuda")

    for i in range(shape.layers):
        layer = f"layers.{i}."
        norm(layer + "norm1")
        linear(layer + "attention.qkv", 3 * width, width)
        linear(layer + "attention.out", width, width)
        norm(layer + "norm2")
        linear(layer + "mlp.up", hidden, width)
        linear(layer + "mlp.down", width, hidden)
    norm("norm")
    return {name: tensor.requires_grad_() for name, tensor in w.items()}


def recorded(torch, step):
    """A step as a CUDA graph, after three on a stream of their own: PyTorch asks for
    it."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def training_step(is_compiled, is_bf16, is_graph=False):
    """bf16 is PyTorch's autocast: weights and their gradients are float, products and
    attention bf16."""
    def make(torch, size):
        torch.backends.cuda.matmul.allow_tf32 = False
        shape, batch, length = parse(size)
        torch.manual_seed(2026)
        w = parameters_of(torch, shape)
        tokens = (torch.arange(batch * (length + 1), device="cuda") * 7919 % 251).view(
            batch, length + 1)
        dtype = torch.bfloat16 if is_bf16 else torch.float32
        angles = [part.to(dtype)
                  for part in torch_gpt.angles_of(torch, shape, length, "cuda")]

        def loss_of(w, tokens):
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=is_bf16):
                return torch_gpt.loss_of(torch, w, tokens, shape, angles)

        if is_compiled:
            torch._dynamo.reset()  # each size has code of its own
            loss_of = torch.compile(loss_of, dynamic=False)
        optimizer = torch.optim.AdamW(
            [{"params": [x for name, x in w.items() if torch_gpt.decays(name, x)],
              "weight_decay": 0.1},
             {"params": [x for name, x in w.items() if not torch_gpt.decays(name, x)],
              "weight_decay": 0.0}], lr=RATE, betas=(0.9, 0.95), eps=1e-8, fused=True,
            capturable=is_graph)
        last = [None]

        def launch():
            optimizer.zero_grad(set_to_none=True)
            last[0] = loss_of(w, tokens)
            last[0].backward()
            torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0)
            optimizer.step()

        def is_right():
            return abs(last[0].item() - math.log(256)) < 0.3

        run = recorded(torch, launch) if is_graph else launch
        return Work(run, 0, "bf16" if is_bf16 else "fp32", is_right,
                    operations(shape, batch, length), batch * length)
    return make


def decoding_step(is_compiled, is_graph=False):
    """In float, as ours. The likeliest token becomes the next one, as ours does."""
    def make(torch, size):
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.manual_seed(2026)
        decoder = torch_decode.Decoder(torch, torch_decode.Shape(size))
        logits_of = torch_decode.logits_of
        if is_compiled:
            torch._dynamo.reset()
            logits_of = torch.compile(logits_of, dynamic=False)
        last = [None]

        @torch.no_grad()
        def step():
            logits = logits_of(decoder, decoder.token, decoder.position)
            decoder.token.copy_(logits.argmax(dim=-1))
            decoder.position.add_(1).remainder_(4096)
            last[0] = logits
            return logits

        run = recorded(torch, step) if is_graph else step

        def replayed():
            run()
            return last[0]

        def is_right():
            with torch.no_grad():
                return torch_decode.largest_error(decoder, replayed) < 1e-3

        return Work(run, decoder.bytes(), "read", is_right, tokens=1)
    return make


PEERS = {"train_a_gpt": ("torch eager", training_step(False, False)),
         "decode_step": ("torch eager", decoding_step(False))}
MORE = {"decode_step": [("torch compiled", decoding_step(True)),
                        ("torch compiled graph", decoding_step(True, True))],
        "train_a_gpt": [("torch compiled", training_step(True, False)),
                        ("torch eager bf16", training_step(False, True)),
                        ("torch compiled bf16", training_step(True, True)),
                        ("torch compiled bf16 graph", training_step(True, True, True))]}

if __name__ == "__main__":
    sys.exit(torch_rows.main(__doc__, PEERS, MORE, is_step))
