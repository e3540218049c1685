#!/usr/bin/env python3
"""The case study's program tells what the lesson says, and names what is wrong.

    story_test.py PROGRAM book/data/fusion_parting.json trained/weights.safetensors
"""
import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)
DATA = Path(sys.argv.pop(1))
TRAINED = Path(sys.argv.pop(1))  # by day07-tuning/08-train-a-gpt, in bf16
SHAPE = {"layers": "1", "width": "32", "heads": "2", "hidden": "64", "context": "16",
         "rotary": "8", "residual": "parallel"}


def tensors(width=32, hidden=64):
    """Shapes of a model of one layer."""
    of = {"embed_in.weight": [256, width], "norm.weight": [width], "norm.bias": [width],
          "embed_out.weight": [256, width]}
    layer = {"norm1.weight": [width], "norm1.bias": [width],
             "attention.qkv.weight": [3 * width, width],
             "attention.qkv.bias": [3 * width],
             "attention.out.weight": [width, width], "attention.out.bias": [width],
             "norm2.weight": [width], "norm2.bias": [width],
             "mlp.up.weight": [hidden, width], "mlp.up.bias": [hidden],
             "mlp.down.weight": [width, hidden], "mlp.down.bias": [width]}
    return of | {f"layers.0.{name}": shape for name, shape in layer.items()}


def checkpoint(shapes, first=0.25):
    """A file in the format safetensors; all elements but the first are 0.25."""
    header, elements = {"__metadata__": SHAPE}, 0
    for name, shape in shapes.items():
        size = shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [4 * elements, 4 * (elements + size)]}
        elements += size
    text = json.dumps(header).encode()
    numbers = struct.pack("<f", first) + struct.pack("<f", 0.25) * (elements - 1)
    return struct.pack("<Q", len(text)) + text + numbers


class Story(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def tell(self, *options):
        return subprocess.run([PROGRAM, *map(str, options)], capture_output=True,
                              text=True, timeout=120, check=False)

    def expect_error(self, part, *options):
        done = self.tell(*options)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(part, done.stderr)

    def file(self, name, content):
        (self.folder / name).write_bytes(content)
        return self.folder / name

    def test_the_story(self):
        written = self.folder / "story.json"
        done = self.tell("--json", written)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("error 0\n"), 2)
        unfused, first, then, yours = done.stdout.split("\n\n")[1:]
        self.assertIn("launches a step     34, of which the fused kernel 0", unfused)
        self.assertIn("launches a step     34, of which the fused kernel 0", first)
        self.assertIn("hidden states part  nowhere", first)
        self.assertIn("launches a step     28, of which the fused kernel 6", then)
        self.assertIn("part  at token 0, layer 0, behind attention", then)
        self.assertIn("launches a step     25, of which the fused kernel 6", yours)
        self.assertIn("hidden states part  nowhere", yours)
        self.assertIn("text                the same", yours)
        self.compare(json.loads(written.read_text()), json.loads(DATA.read_text()))

    def compare(self, got, wanted):
        """What the book shows is what the program says; last bits may differ."""
        self.assertEqual(len(got["rows"]), len(wanted["rows"]))
        for row, other in zip(got["rows"], wanted["rows"]):
            places, others = row.pop("by_place"), other.pop("by_place")
            self.assertEqual(row.pop("farthest"), max(places))
            self.assertEqual(other.pop("farthest"), max(others))
            self.assertEqual(row, other)
            for difference, of_book in zip(places, others, strict=True):
                if of_book > 1e-3:
                    self.assertAlmostEqual(difference, of_book, delta=0.06 * of_book)
                else:
                    self.assertLess(difference, 1e-5)

    def test_a_checkpoint(self):
        file = self.file("ok.safetensors", checkpoint(tensors()))
        done = self.tell("--checkpoint", file, "--tokens", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("text                the same", done.stdout)

    def test_the_trained_model(self):
        """It knows English: of a sentence that it has not seen it does not hesitate
        among 256 bytes, as one that has learned nothing does."""
        text = self.file("text", b" " * 225 + b"the man who was asked to ")
        done = self.tell("--checkpoint", TRAINED, "--tokens", 1, "--text", text)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        perplexity = re.findall(r"perplexity +([0-9.]+)", done.stdout)
        self.assertEqual(len(perplexity), 2, done.stdout)
        for value in perplexity:
            self.assertLess(float(value), 12)
        self.assertIn("hidden states part  nowhere", done.stdout)

    def test_checkpoints_that_are_wrong(self):
        whole = checkpoint(tensors())
        for part, content in (
                ("cut", whole[:-8]),
                ("[16]", checkpoint(tensors() | {"layers.0.norm2.bias": [16]})),
                ("nan", checkpoint(tensors(), float("nan")))):
            name = self.file("wrong.safetensors", content)
            done = self.tell("--checkpoint", name)
            self.assertEqual(done.returncode, 2, part + done.stdout)
            self.assertTrue(done.stderr.strip(), part)
            if part == "[16]":
                self.assertIn("layers.0.norm2.bias", done.stderr)
            if part == "nan":
                self.assertIn("embed_in.weight", done.stderr)
        self.expect_error("missing", "--checkpoint", self.folder / "missing")

    def test_texts_and_prompts_that_are_wrong(self):
        self.expect_error("empty", "--text", self.file("empty", b""))
        self.expect_error("prompt tokens is 17", "--prompt", "x" * 17)
        self.expect_error("--tokens is 0", "--tokens", 0)
        self.expect_error("--token: unknown", "--token", 3)


if __name__ == "__main__":
    unittest.main()
