"""HSTU's attention in PyTorch, compiled: dense sequences of one length, causal. It has
no jagged batches: this is the best that it can do with our sizes."""
import re

import torch_rows

TYPES = {
    "hstu_attention_fp32": "float32",
    "hstu_attention_fp16": "float16",
    "hstu_attention_bf16": "bfloat16",
    "hstu_backward_bf16": "bfloat16",
}
CEILINGS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def attention(torch):
    """silu(alpha q k^T) * mask / N v, as a model's authors would write it."""
    def formula(q, k, v, mask):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = torch.nn.functional.silu(scores) * mask / q.shape[-2]
        return weights @ v
    return formula


def work(torch, exercise, size):
    """A Work; what it computes is compared with the formula in double, for one head."""
    batch, heads, length, dim = (
        int(re.search(rf"(?:^| ){name}(\d+)", size).group(1)) for name in "BHND")
    dtype = getattr(torch, TYPES[exercise])
    backward = "backward" in exercise
    shape = (batch, heads, length, dim)
    q, k, v, d_o = (torch.randn(shape, dtype=dtype, device="cuda") for _ in range(4))
    mask = torch.ones(length, length, dtype=dtype, device="cuda").tril()
    formula = attention(torch)
    torch._dynamo.reset()  # each size has code of its own; past some it gives up
    compiled = torch.compile(formula, dynamic=False)
    out = {}
    if backward:
        # launch() goes back through one forward pass again and again: its buffers stay.
        from torch._functorch import config
        if hasattr(config, "donated_buffer"):
            config.donated_buffer = False
        for tensor in (q, k, v):
            tensor.requires_grad_()
        out["o"] = compiled(q, k, v, mask)

    def launch():
        if backward:
            out["o_gradients"] = torch.autograd.grad(
                out["o"], (q, k, v), d_o, retain_graph=True)
        else:
            out["o"] = compiled(q, k, v, mask)

    def is_right():
        # One head in double, errors beside the largest number.
        exact = [x[0, 0].detach().double().requires_grad_() for x in (q, k, v)]
        o = formula(*exact, mask.double())
        wanted, found = [o], [out["o"]]
        if backward:
            wanted += torch.autograd.grad(o, exact, d_o[0, 0].double())
            found += out["o_gradients"]
        return all(
            ((x[0, 0].double() - y).abs().max() < 3e-2 * y.abs().max()).item()
            for x, y in zip(found, wanted))

    products = 10 if backward else 4
    flop = products * 0.5 * batch * heads * length * length * dim
    return torch_rows.Work(launch, 0, CEILINGS[TYPES[exercise]], is_right, flop)


def measure(gpu, document):
    """Rows for the sizes that our own benchmarks have written."""
    rows = []
    for exercise, size, cache in torch_rows.wanted(document, TYPES):
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
                  f"{row['tflops']:8.1f} TFLOP/s", flush=True)
            rows.append(row)
    return rows
