#!/usr/bin/env python3
"""The loss curve of a training of ours beside PyTorch's, from the same first weights
and the same batches.

    torch_curve.py DIR [--most R] [--json FILE] [--cpu] [--not-in-double]

DIR is the folder --out of a training with --record, which has ended:

    first.safetensors    the weights before the first step, and all options
    batches.safetensors  the tokens and the rate of each step
    gpt.safetensors      among others, the loss of each step

PyTorch trains in float, without TF32, and once more in double, which says how much of
the distance is our rounding and how much is PyTorch's: a training with large steps
makes small differences larger, whose they ever are.

    --most R         the largest relative distance of a step's loss that passes; 1e-4
    --json FILE      write both curves there, for book/data
    --cpu            PyTorch on the CPU: for small models
    --not-in-double  leave the training in double out

Ends with 0 if our curve is as near to PyTorch's in float, with 1 if it is not, with 2
for files that do not belong together, and with 3 where there is no PyTorch.
"""
import argparse
import datetime
import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch_gpt

BETAS = (0.9, 0.95)
EPS = 1e-8


class Training:
    """What the three files of a training say."""

    def __init__(self, folder):
        self.notes, first = torch_gpt.read_safetensors(folder / "first.safetensors")
        _, batches = torch_gpt.read_safetensors(folder / "batches.safetensors")
        last_notes, last = torch_gpt.read_safetensors(folder / "gpt.safetensors")
        self.weights = {name: tensor for name, tensor in first.items()
                        if not name.startswith(("first.", "second.", "training."))}
        self.tokens = batches["tokens"]
        self.rates = torch_gpt.numbers(batches["rates"])
        pairs = torch_gpt.numbers(last["training.losses"])
        self.losses = pairs[1::2]
        self.shape = torch_gpt.Shape(self.notes)
        self.decay, self.clip, self.shape.eps = map(
            float.fromhex, self.notes["rate, decay, clip, eps"].split()[1:])
        steps = len(self.rates)
        differs = {name for name, value in self.notes.items()
                   if name != "step" and last_notes.get(name) != value}
        if differs:
            raise ValueError(f"{folder}: gpt.safetensors is of another training: "
                             f"{', '.join(sorted(differs))}")
        if self.notes["step"] != "0":
            raise ValueError(f"{folder}: first.safetensors is of step "
                             f"{self.notes['step']}")
        if self.tokens[0][0] != steps or pairs[0::2] != list(range(1, steps + 1)):
            raise ValueError(f"{folder}: there are {steps} rates, {self.tokens[0][0]} "
                             f"batches and {len(self.losses)} losses")


def clip(torch, gradients, most):
    """As ours: nothing is added to the length. Nobody waits for the GPU."""
    if most <= 0:
        return
    lengths = torch.stack(torch._foreach_norm(gradients))
    share = (most / lengths.double().norm()).clamp(max=1.0)
    torch._foreach_mul_(gradients, share.to(lengths.dtype))


def curve(torch, training, dtype, device):
    """The losses of PyTorch."""
    weights = {name: torch_gpt.as_torch(torch, tensor).to(device, dtype)
               .requires_grad_() for name, tensor in training.weights.items()}
    decaying = [w for name, w in weights.items() if torch_gpt.decays(name, w)]
    others = [w for name, w in weights.items() if not torch_gpt.decays(name, w)]
    optimizer = torch.optim.AdamW(
        [{"params": decaying, "weight_decay": training.decay},
         {"params": others, "weight_decay": 0.0}], betas=BETAS, eps=EPS)
    batches = torch_gpt.as_torch(torch, training.tokens).long().to(device)
    length = batches.shape[2] - 1
    # Ours are rounded to float once, as here.
    angles = [part.float().to(dtype) for part in
              torch_gpt.angles_of(torch, training.shape, length, device)]
    losses = []
    for step, rate in enumerate(training.rates):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = torch_gpt.loss_of(torch, weights, batches[step], training.shape, angles,
                                 torch_gpt.plain_attention)
        loss.backward()
        clip(torch, [w.grad for w in weights.values()], training.clip)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).tolist()


def distance(ours, theirs):
    """The largest relative one, and the step, which counts from 1."""
    far = [abs(a - b) / abs(b) if math.isfinite(a) and math.isfinite(b) else math.inf
           for a, b in zip(ours, theirs, strict=True)]
    worst = max(range(len(far)), key=far.__getitem__)
    return far[worst], worst + 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=float, default=1e-4)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--not-in-double", action="store_true")
    return parser.parse_args()


def write(path, document):
    if path:
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main():
    options = arguments()
    try:
        training = Training(options.folder)
    except (OSError, ValueError, KeyError) as error:
        print(f"torch_curve: {error}", file=sys.stderr)
        return 2
    try:
        import torch
    except ImportError as error:
        print(f"There is no PyTorch here: {error}")
        return 3
    device = "cpu" if options.cpu else "cuda"
    torch.backends.cuda.matmul.allow_tf32 = False
    ours = training.losses
    print(f"{len(ours)} steps of {training.shape.layers} layers of "
          f"{training.shape.width}, PyTorch {torch.__version__}", flush=True)
    floats = curve(torch, training, torch.float32, device)
    far, step = distance(ours, floats)
    document = {"steps": len(ours), "ours": ours, "torch": floats,
                "most": options.most, "largest": far, "at_step": step}
    document.update({
        "gpu": "CPU" if options.cpu else torch.cuda.get_device_name(),
        "torch_version": torch.__version__,
        "model": f"{training.shape.layers} x {training.shape.width}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")})
    passes = far <= options.most
    print(f"ours  from PyTorch in float: at most {far:.2e} relative, in step {step} of "
          f"{len(ours)}: {ours[step - 1]:.6f} and {floats[step - 1]:.6f}; up to "
          f"{options.most:.0e} passes: {'pass' if passes else 'FAIL'}", flush=True)
    write(options.json, document)  # now: a run that is cut short keeps what it has
    if not options.not_in_double:
        doubles = curve(torch, training, torch.float64, device)
        document["double"] = doubles
        for name, losses in (("ours", ours), ("torch", floats)):
            document[f"{name}_from_double"], at = distance(losses, doubles)
            print(f"{name:<5} from PyTorch in double: at most "
                  f"{document[f'{name}_from_double']:.2e} relative, in step {at}")
        write(options.json, document)
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
