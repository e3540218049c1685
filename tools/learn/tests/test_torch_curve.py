"""torch_curve.py and torch_gpt.py, without PyTorch: the files that they read, and which
of them are refused."""

import importlib.util
import json
import struct
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[3] / "tests" / "day07-tuning"


def module(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded


torch_gpt = module(TESTS / "torch_gpt.py")
torch_curve = module(TESTS / "08-train-a-gpt" / "torch_curve.py")

NOTES = {"layers": "1", "width": "2", "heads": "1", "hidden": "2", "rotary": "2",
         "residual": "parallel", "step": "0",
         "rate, decay, clip, eps": "0x1p-10 0x1p-3 0x1p+0 0x1p-17"}


def safetensors(path: Path, tensors: dict, notes: dict) -> None:
    """Tensors: name -> (dtype, shape, values)."""
    header = {"__metadata__": notes}
    elements = b""
    for name, (dtype, shape, values) in tensors.items():
        letter = {"F32": "f", "I32": "i", "BF16": "H"}[dtype]
        added = struct.pack(f"<{len(values)}{letter}", *values)
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(elements), len(elements) + len(added)]}
        elements += added
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + elements)


class TorchCurve(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        self.first = {"norm.bias": ("F32", [2], [1.0, 2.0]),
                      "first.norm.bias": ("F32", [2], [0.0, 0.0])}
        self.batches = {"tokens": ("I32", [2, 1, 3], [1, 2, 3, 4, 5, 6]),
                        "rates": ("F32", [2], [0.5, 0.25])}
        self.losses = {"training.losses": ("F32", [2, 2], [1.0, 5.5, 2.0, 5.25])}
        self.last_notes = {**NOTES, "step": "2"}

    def training(self):
        safetensors(self.folder / "first.safetensors", self.first, NOTES)
        safetensors(self.folder / "batches.safetensors", self.batches, {})
        safetensors(self.folder / "gpt.safetensors", self.losses, self.last_notes)
        return torch_curve.Training(self.folder)

    def test_all_that_a_training_says_is_read(self):
        training = self.training()
        self.assertEqual(list(training.weights), ["norm.bias"])
        self.assertEqual(torch_gpt.numbers(training.tokens), [1, 2, 3, 4, 5, 6])
        self.assertEqual(training.rates, [0.5, 0.25])
        self.assertEqual(training.losses, [5.5, 5.25])
        self.assertEqual((training.decay, training.clip), (0.125, 1.0))
        self.assertEqual(training.shape.eps, 2.0 ** -17)

    def test_files_of_two_trainings_are_refused(self):
        self.last_notes["width"] = "4"
        self.assertRaisesRegex(ValueError, "another training: width", self.training)

    def test_a_training_that_has_not_ended_is_refused(self):
        self.losses = {"training.losses": ("F32", [1, 2], [1.0, 5.5])}
        self.assertRaisesRegex(ValueError, "2 rates, 2 batches and 1 losses",
                               self.training)

    def test_a_tensor_of_another_type_or_size_is_refused(self):
        self.first["norm.bias"] = ("BF16", [2], [1, 2])
        self.assertRaisesRegex(ValueError, "norm.bias is of the type BF16",
                               self.training)
        self.first["norm.bias"] = ("F32", [3], [1.0, 2.0])
        self.assertRaisesRegex(ValueError, "norm.bias has not the bytes", self.training)

    def test_the_largest_distance_is_relative_and_finds_nan(self):
        self.assertEqual(torch_curve.distance([2.0, 3.0], [2.0, 4.0]), (0.25, 2))
        far, step = torch_curve.distance([float("nan"), 4.0], [2.0, 4.0])
        self.assertEqual((far, step), (float("inf"), 1))


if __name__ == "__main__":
    unittest.main()
