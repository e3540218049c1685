"""Errors beside double: ours and PyTorch's, of the same numbers, on one GPU.

    torch_errors.py --program build/cuda/.../day06_attention_once --json FILE

Inputs are normal, with outliers: one number in a thousand is ten times as large
(as in the FlashAttention-3 paper, section 4.3). The reference is computed in double on
the GPU, a head at a time. An error is the root mean square of the difference, divided
by that of the reference; "worst" is the largest single difference.
"""

import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile

SHAPES = [(2, 4, n, d, causal) for d in (64, 128, 256) for n in (1000, 4096)
          for causal in (False, True)]
OURS = {"hopper_attention": (64, 128, 256), "tensor_core_attention": (64, 128)}
PEERS = ("flash", "cudnn")


def inputs(torch, shape, dtype):
    """q, k and v of shape [B, H, N, D]."""
    def one():
        normal = torch.randn(shape, device="cuda")
        outlier = torch.rand(shape, device="cuda") < 0.001
        return torch.where(outlier, normal * 10, normal).to(dtype)
    return one(), one(), one()


def reference(torch, q, k, v, causal):
    """Attention in double, of the numbers as they are stored."""
    out = torch.empty(q.shape, dtype=torch.float64, device="cuda")
    scale = 1.0 / math.sqrt(q.shape[-1])
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = q[b, h].double() @ k[b, h].double().T * scale
            if causal:
                above = torch.ones_like(scores, dtype=torch.bool).triu(1)
                scores.masked_fill_(above, -math.inf)
            out[b, h] = torch.softmax(scores, dim=-1) @ v[b, h].double()
    return out


def errors(o, exact):
    difference = o.double() - exact
    rms = difference.pow(2).mean().sqrt() / exact.pow(2).mean().sqrt()
    return {"rms": rms.item(), "worst": difference.abs().max().item()}


def ours(torch, program, kernel, dtype_name, causal, tensors, folder):
    """o of one of our kernels, by way of two files."""
    q = tensors[0]
    given, got = os.path.join(folder, "in"), os.path.join(folder, "out")
    with open(given, "wb") as file:
        for x in tensors:
            file.write(x.view(torch.int16).cpu().numpy().tobytes())
    sizes = [str(n) for n in q.shape]
    subprocess.run([program, kernel, dtype_name, *sizes,
                    "causal" if causal else "full", given, got], check=True)
    with open(got, "rb") as file:
        bits = torch.frombuffer(bytearray(file.read()), dtype=torch.int16)
    return bits.view(q.dtype).reshape(q.shape).cuda()


def peer(torch, name, causal, tensors):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    backend = {"flash": SDPBackend.FLASH_ATTENTION,
               "cudnn": SDPBackend.CUDNN_ATTENTION}[name]
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(
            *tensors, is_causal=causal)


def measure(torch, program, folder):
    rows = []
    for dtype_name, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        for batch, heads, n, dim, causal in SHAPES:
            torch.manual_seed(n + dim)
            tensors = inputs(torch, (batch, heads, n, dim), dtype)
            exact = reference(torch, *tensors, causal)
            found = {f"torch_{name}": peer(torch, name, causal, tensors)
                     for name in PEERS}
            for kernel, dims in OURS.items():
                if dim in dims:
                    found[kernel] = ours(
                        torch, program, kernel, dtype_name, causal, tensors, folder)
            for name, o in found.items():
                row = {"type": dtype_name, "n": n, "head_dim": dim,
                       "mask": "causal" if causal else "full", "kernel": name}
                row.update(errors(o, exact))
                rows.append(row)
                print(f"{row['type']} N{n} D{dim} {row['mask']:6} {name:22} "
                      f"rms {row['rms']:.3e}  worst {row['worst']:.3e}")
    return rows


def write(path, torch, rows):
    """One row a line, as all files of measurements are written."""
    head = {"what": "error of attention beside double, of the same stored numbers",
            "machine": {"gpu": torch.cuda.get_device_name(),
                        "torch": torch.__version__,
                        "cudnn": torch.backends.cudnn.version()},
            "inputs": "normal, one number in a thousand ten times as large",
            "date": datetime.date.today().isoformat()}
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in head.items()]
    table = ",\n".join("    " + json.dumps(row) for row in rows)
    with open(path, "w", encoding="utf-8") as file:
        head = "{\n" + ",\n".join(lines)
        file.write(head + ',\n  "rows": [\n' + table + "\n  ]\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--json", required=True)
    options = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        sys.exit(f"there is no PyTorch here ({error})")
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU here")
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(torch, options.program, folder)
    write(options.json, torch, rows)


if __name__ == "__main__":
    main()
