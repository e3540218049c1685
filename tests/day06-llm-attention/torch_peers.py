#!/usr/bin/env python3
"""What PyTorch's attention does with the shapes of our benchmarks, on this GPU.

    torch_peers.py --json bench.json [--grid TYPE] [--seconds S] [--backends LIST]
                   [--list]

Reads the rows that the benchmarks of day 6 have written to bench.json, measures
scaled_dot_product_attention, or its gradients, on each of their shapes with each of its
backends (math, memory-efficient, flash, cuDNN), and merges its own rows into the file:
the same exercise and size, the rung "torch sdpa flash" and so on. HSTU's attention,
rotary embedding and sparse attention are compiled: torch_hstu.py, torch_rope.py,
torch_sparse.py. Without any rows in the file it measures a list of its own.

    --grid TYPE   also the grid of sizes that day 6 sets itself, as exercise
                  "attention_grid_TYPE"; TYPE is fp32, fp16 or bf16
    --seconds S   spent on the samples of one row; default 0.2
    --backends L  of math, efficient, flash, cudnn; default all of them, or for kernels
                  that use tensor cores the last two
    --list        say what would be measured; needs no GPU

Optional: where there is no PyTorch or no GPU, it says so and ends with 0. It ends with
1 if bench.json is of another GPU, and with 2 for arguments it does not understand.
"""
import argparse
import datetime
import math
import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch_hstu
import torch_rope
import torch_rows
import torch_sparse
import torch_timing

BACKENDS = ("math", "efficient", "flash", "cudnn")

# Exercise, as it is named in our rows: the type of its numbers.
TYPES = {
    "naive_attention": "fp32",
    "flash_attention": "fp32",
    "grouped_query_attention": "fp32",
    "mixed_precision_attention_fp16": "fp16",
    "mixed_precision_attention_bf16": "bf16",
    "tensor_core_attention_fp16": "fp16",
    "tensor_core_attention_bf16": "bf16",
    "hopper_attention_fp16": "fp16",
    "hopper_attention_bf16": "bf16",
    "paged_attention": "bf16",
    "attention_backward_fp32": "fp32",
    "attention_backward_bf16": "bf16",
}

# Exercises whose kernels, too, have their products done by tensor cores.
TENSOR_CORES = ("tensor_core_attention_", "hopper_attention_",
                "attention_backward_bf16")

# The gradients of q, k and v: five products in place of two.
BACKWARD = "attention_backward_"

# Measured where bench.json has no rows.
DEFAULT_SIZES = (
    [("flash_attention", f"B4 H16 N{n} D64", "cold") for n in (1024, 2048, 4096)]
    + [("mixed_precision_attention_fp16", f"B4 H16 N{n} D64", "cold")
       for n in (1024, 2048, 4096)]
    + [("mixed_precision_attention_bf16", f"B4 H16 N{n} D64", "cold")
       for n in (1024, 2048, 4096)]
    + [("paged_attention", size + " D128 page 16", "cold")
       for size in ("B1 N8192 Hq32 Hkv8", "B16 N8192 Hq32 Hkv8",
                    "B64 N4096 Hq32 Hkv8", "B64 N2048 Hq32 Hkv32")]
)

# The grid: head dimensions that our kernels have.
GRID_LENGTHS = (1024, 2048, 4096, 8192)
GRID_WIDTHS = (512, 1024, 2048)
GRID_HEADS = (8, 16, 32)
GRID_BATCHES = (1, 4, 8, 16, 32)
HEAD_DIMS = (32, 64, 128, 256)


class Shape:
    """Sizes of one problem, read from the text that our benchmarks write."""

    def __init__(self, exercise, size):
        def field(name, otherwise=None):
            found = re.search(rf"(?:^| ){name}(\d+)(?= |$)", size)
            return int(found.group(1)) if found else otherwise

        both_heads = field("H")
        both_lengths = field("N")
        self.batch = field("B")
        self.query_heads = field("Hq", both_heads)
        self.kv_heads = field("Hkv", both_heads)
        self.keys = field("Nk", both_lengths)
        decodes = exercise == "paged_attention"  # N tokens in the cache, one query
        self.queries = 1 if decodes else field("Nq", both_lengths)
        self.head_dim = field("D")
        self.causal = " causal" in size
        if None in (self.batch, self.query_heads, self.kv_heads, self.queries,
                    self.keys, self.head_dim):
            raise ValueError(f"'{size}' is not the size of an attention problem")

    def flop(self):
        full = (4.0 * self.batch * self.query_heads * self.queries * self.keys
                * self.head_dim)
        return full / 2.0 if self.causal else full

    def bytes(self, element):
        """Each input read once, the output written once."""
        rows = self.query_heads * self.queries + self.kv_heads * self.keys
        return 2.0 * element * self.batch * rows * self.head_dim


def grid_sizes(number_type):
    sizes = []
    for width in GRID_WIDTHS:
        for heads in GRID_HEADS:
            if width % heads != 0 or width // heads not in HEAD_DIMS:
                continue
            for length in GRID_LENGTHS:
                for batch in GRID_BATCHES:
                    size = f"B{batch} H{heads} N{length} D{width // heads}"
                    sizes.append((f"attention_grid_{number_type}", size, "cold"))
    return sizes


def wanted_sizes(document, grid):
    """(exercise, size, cache) of everything that is to be measured, each once."""
    ours = [(row["exercise"], row["size"], row.get("cache", "cold"))
            for row in document.get("rows", [])
            if row["exercise"] in TYPES and not row["rung"].startswith("torch ")]
    sizes = []
    seen = set()
    # A chapter's own file has rows, perhaps none of these exercises: nothing is added.
    usual = ours or ([] if grid or document.get("rows") else DEFAULT_SIZES)
    for exercise, size, cache in usual + (grid_sizes(grid) if grid else []):
        if (exercise, size) not in seen:
            seen.add((exercise, size))
            sizes.append((exercise, size, cache))
    return sizes


def type_of(exercise):
    return TYPES.get(exercise, exercise.rsplit("_", 1)[-1])


def backends_of(exercise):
    """Those worth their time: without tensor cores it is ten times as long."""
    return ("flash", "cudnn") if exercise.startswith(TENSOR_CORES) else BACKENDS


class Gpu(torch_timing.Gpu):
    """Inputs and clock; only made where there is PyTorch and a GPU."""

    def __init__(self, torch, seconds):
        super().__init__(torch, seconds)
        self.idea += f", cuDNN {torch.backends.cudnn.version()}"
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False

    def inputs(self, shape, number_type):
        torch = self.torch
        dtype = {"fp32": torch.float32, "fp16": torch.float16,
                 "bf16": torch.bfloat16}[number_type]
        generator = torch.Generator(device="cuda").manual_seed(2026)

        def normal(heads, length):
            return torch.randn(shape.batch, heads, length, shape.head_dim, dtype=dtype,
                               device="cuda", generator=generator)

        return (normal(shape.query_heads, shape.queries),
                normal(shape.kv_heads, shape.keys), normal(shape.kv_heads, shape.keys))

    def largest_error(self, shape, q, k, v, o):
        """Of a few rows, beside double."""
        torch = self.torch
        worst = 0.0
        group = shape.query_heads // shape.kv_heads
        for head, row in ((0, 0), (shape.query_heads - 1, shape.queries - 1),
                          (shape.query_heads // 2, shape.queries // 2)):
            for batch in {0, shape.batch - 1}:
                seen = shape.keys
                if shape.causal:
                    seen = row + 1 + shape.keys - shape.queries
                scores = (k[batch, head // group, :seen].double()
                          @ q[batch, head, row].double()) / math.sqrt(shape.head_dim)
                exact = (torch.softmax(scores, 0)
                         @ v[batch, head // group, :seen].double())
                error = (o[batch, head, row].double() - exact).abs().max().item()
                worst = max(worst, error) if error == error else math.inf
        return worst


    def largest_error_of_dq(self, shape, q, k, v, d_o, dq):
        """Of a few rows, beside double."""
        torch = self.torch
        worst = 0.0
        group = shape.query_heads // shape.kv_heads
        scale = 1.0 / math.sqrt(shape.head_dim)
        for head, row in ((0, 0), (shape.query_heads - 1, shape.queries - 1),
                          (shape.query_heads // 2, shape.queries // 2)):
            seen = shape.keys
            if shape.causal:
                seen = row + 1 + shape.keys - shape.queries
            keys = k[-1, head // group, :seen].double()
            gradient = d_o[-1, head, row].double()
            weights = torch.softmax(keys @ q[-1, head, row].double() * scale, 0)
            d_weights = v[-1, head // group, :seen].double() @ gradient
            d_scores = weights * (d_weights - weights @ d_weights)
            error = (dq[-1, head, row].double() - scale * d_scores @ keys).abs().max()
            worst = max(worst, error.item()) if error == error else math.inf
        return worst


def backward_of(gpu, shape, q, k, v, options):
    """A launch that gives the gradients of q, k and v, and the error of one."""
    torch = gpu.torch
    inputs = [x.detach().requires_grad_() for x in (q, k, v)]
    o = torch.nn.functional.scaled_dot_product_attention(*inputs, **options)
    d_o = torch.randn_like(o)

    def launch():
        return torch.autograd.grad(o, inputs, d_o, retain_graph=True)

    return launch, lambda grads: gpu.largest_error_of_dq(shape, q, k, v, d_o, grads[0])


def measure_backend(gpu, exercise, size, cache, backend, tensors, ceilings):
    """A row, or a sentence that says why there is none."""
    torch = gpu.torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    chosen = {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION,
              "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    shape = Shape(exercise, size)
    if shape.causal and shape.queries != shape.keys:
        return "its causal mask is aligned to the first key, ours to the last"
    q, k, v = tensors
    options = {"is_causal": shape.causal}
    if shape.query_heads != shape.kv_heads:
        options["enable_gqa"] = True

    def launch():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)

    def error_of(o):
        return gpu.largest_error(shape, q, k, v, o)

    is_backward = exercise.startswith(BACKWARD)
    try:
        with sdpa_kernel(chosen[backend]):
            if is_backward:
                launch, error_of = backward_of(gpu, shape, q, k, v, options)
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            results = launch()
            torch.cuda.synchronize()
            output = sum(x.numel() * x.element_size()
                         for x in (results if is_backward else (results,)))
            scratch = torch.cuda.max_memory_allocated() - before - output
            error = error_of(results)
            del results
            allowed = 1e-3 if q.dtype == torch.float32 else 5e-2
            if not error <= allowed:
                return f"wrong by {error:.2g}"
            us, launches = gpu.samples_us(launch, cache)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        return "not enough memory"
    except RuntimeError as error:
        return str(error).strip().splitlines()[0][:100]

    row = {"exercise": exercise, "rung": f"torch sdpa {backend}", "size": size,
           "idea": gpu.idea, "cache": cache, "launches_a_sample": launches,
           **torch_timing.times(us)}
    median = row["median_us"]
    # As our rows: few queries are limited by reading, many by arithmetic.
    if shape.queries < 16:
        row["bytes"] = shape.bytes(q.element_size())
        row["gbps"] = row["bytes"] / median / 1e3
        ceiling, rate = "read", row["gbps"]
    else:
        row["flop"] = shape.flop() * (2.5 if is_backward else 1.0)
        row["tflops"] = row["flop"] / median / 1e6
        # The ceiling of our rows of the same size, so that percentages compare. Where
        # our kernels use no tensor cores, those of a peer that does may exceed 100.
        on_tensor_cores = exercise.startswith(TENSOR_CORES)
        ceiling = TYPES[exercise] if on_tensor_cores else "fp32"
        rate = row["tflops"]
    value = ceilings.get(ceiling, {}).get("value", 0.0)
    row.update({"ceiling": ceiling, "ceiling_value": value or None,
                "percent": 100.0 * rate / value if value else None,
                "scratch_bytes": float(max(scratch, 0)),
                "tokens_per_s": shape.batch * shape.queries / median * 1e6,
                "date": datetime.datetime.now(datetime.timezone.utc).strftime(
                    "%Y-%m-%d")})
    return row


def text_of(row):
    speed = (f"{row['gbps']:8.1f} GB/s" if "gbps" in row
             else f"{row['tflops']:8.1f} TFLOP/s")
    memory = f"  + {row['scratch_bytes'] * 1e-9:.3f} GB" if row["scratch_bytes"] else ""
    return (f"  {row['rung']:<22} {row['median_us']:>12.2f} us {speed}"
            f"  {row['tokens_per_s']:.3g} tokens/s{memory}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", required=True)
    parser.add_argument("--grid", choices=("fp32", "fp16", "bf16"))
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--backends")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def open_gpu(seconds):
    """A Gpu, or a sentence that says why there is none."""
    torch = torch_timing.find_torch()
    if isinstance(torch, str):
        return torch
    try:
        from torch.nn.attention import SDPBackend
        SDPBackend.CUDNN_ATTENTION
    except (ImportError, AttributeError):
        return f"PyTorch {torch.__version__} cannot choose a backend; 2.5 or newer can"
    return Gpu(torch, seconds)


def main():
    options = arguments()
    document = torch_timing.read(options.json)
    sizes = wanted_sizes(document, options.grid)
    backends = options.backends.split(",") if options.backends else []
    unknown = [name for name in backends if name not in BACKENDS]
    if unknown:
        print(f"--backends is '{options.backends}', but must be some of "
              f"{', '.join(BACKENDS)}", file=sys.stderr)
        return 2
    if options.list:
        for exercise, size, cache in sizes:
            print(f"{exercise}  {size}  ({type_of(exercise)}, {cache})")
        for exercise, size, cache in torch_rows.wanted(
                document, [*torch_hstu.TYPES, *torch_rope.STORED,
                           *torch_sparse.EXERCISES]):
            print(f"{exercise}  {size}  (compiled, {cache})")
        return 0
    warnings.filterwarnings("ignore")  # why a backend does not take a shape: we say so
    gpu = open_gpu(options.seconds)
    if isinstance(gpu, str):
        print(f"PyTorch's attention is not measured: {gpu}")
        return 0
    name = gpu.properties.name
    if torch_timing.is_of_another_gpu(document, name):
        print(f"{options.json} is of a {document['machine']['gpu']}, this is a {name}",
              file=sys.stderr)
        return 1
    print(f"{name}, {gpu.idea}")
    rows = []
    for exercise, size, cache in sizes:
        print(f"{exercise}  {size}", flush=True)
        try:
            tensors = gpu.inputs(Shape(exercise, size), type_of(exercise))
        except gpu.torch.cuda.OutOfMemoryError:
            gpu.torch.cuda.empty_cache()
            print("  not enough memory for the inputs")
            continue
        for backend in backends or backends_of(exercise):
            row = measure_backend(gpu, exercise, size, cache, backend, tensors,
                                  document["ceilings"])
            if isinstance(row, str):
                print(f"  torch sdpa {backend:<11} not measured: {row}")
            else:
                print(text_of(row), flush=True)
                rows.append(row)
        del tensors
        # Now: a run that is cut short keeps what it has.
        torch_timing.merge(document, rows)
        torch_timing.write(document, options.json)
    rows += torch_hstu.measure(gpu, document)
    rows += torch_rope.measure(gpu, document)
    rows += torch_sparse.measure(gpu, document)
    torch_timing.merge(document, rows)
    torch_timing.write(document, options.json)
    print(f"{len(rows)} rows merged into {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
