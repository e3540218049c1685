#!/usr/bin/env python3
"""profile.py tells the kernels of a step apart, and adds up their times."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).with_name("profile.py")
HEAD = ('"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum"\n'
        '"","","","","{}"\n')
NORM = "void norm_v4_kernel<float, (int)4>(Norm<T1>, bool, int)"
LAYERS = {
    "v1": [NORM, "product_kernel", "rotate_append_kernel", "attend_kernel",
           "product_kernel", "add_kernel", NORM, "product_kernel", "product_kernel",
           "add_kernel"],
    "v3": ["qkv_append_kernel(Heads)", "attend_kernel", "product_kernel",
           "add_norm_kernel", "product_kernel", "product_kernel", "add_norm_kernel"],
    "v4": ["norm_qkv_append_kernel", "attend_kernel", "product_add_kernel",
           "norm_product_kernel", "product_add_kernel"]}
ENDS = {"v1": ([], [NORM, "product_kernel"]), "v3": ([NORM], ["product_kernel"]),
        "v4": ([], ["norm_product_kernel"])}


def step(version, layers):
    """The kernels of a step, by their order."""
    first, last = ENDS[version]
    return ["embed_kernel", *first, *layers * LAYERS[version], *last, "pick_kernel"]


class Profile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        machine = {"machine": {"gpu": "G", "cuda": "13.0", "driver": "1"},
                   "rows": [{"date": "2026-11-29"}]}
        self.file("machine.json", json.dumps(machine))

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def csv(self, kernels, unit="ns"):
        """Kernel number i of its step takes 1000 + i ns; a product has 40 blocks."""
        text, i = "==PROF== Connected\n" + HEAD.format(unit), 0
        for number, name in enumerate(kernels):
            i = 0 if name == "embed_kernel" else i + 1
            text += f'"{number}","{name}","(256, 1, 1)","(40, 1, 1)","1,{i:03}"\n'
        return text

    def profile(self, *texts):
        names = [self.file(f"{i}.csv", text) for i, text in enumerate(texts)]
        return subprocess.run(
            [sys.executable, str(PROGRAM), str(self.folder / "out.json"),
             str(self.folder / "machine.json"), *names],
            capture_output=True, text=True, check=False)

    def rows(self, *texts):
        done = self.profile(*texts)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(data["machine"]["gpu"], "G")
        return {(row["version"], row["kernel"]): row for row in data["rows"]}

    def test_versions_and_kernels(self):
        # The first launches belong to a step that had begun before, the last to one
        # that did not end.
        rows = self.rows(self.csv(["add_kernel", *2 * step("v1", 2), "embed_kernel"]),
                         self.csv(step("v3", 2)), self.csv(step("v4", 2)))
        launches = {key: row["launches"] for key, row in rows.items()}
        self.assertEqual(launches["v1", "all"], 24)
        self.assertEqual(launches["v3", "all"], 18)
        self.assertEqual(launches["v4", "all"], 13)
        self.assertEqual({row["size"] for row in rows.values()}, {"2x320"})
        for name in ("qkv", "out", "up", "down", "attend", "rotate_append"):
            self.assertEqual(launches["v1", name], 2)
        self.assertEqual(launches["v1", "norm"], 5)
        self.assertEqual(launches["v1", "add"], 4)
        self.assertEqual(launches["v3", "norm"], 1)
        self.assertEqual(launches["v3", "add_norm"], 4)
        for name in ("norm_qkv_append", "out_add", "norm_up", "down_add", "attend"):
            self.assertEqual(launches["v4", name], 2)
        self.assertEqual(launches["v4", "norm_logits"], 1)
        self.assertEqual(rows["v1", "all"]["steps"], 2)
        # Attention is number 4 and 14 of a step.
        self.assertEqual(rows["v1", "attend"]["us"], 2.02)
        self.assertEqual(rows["v1", "attend"]["us_each"], 1.01)

    def test_what_is_no_profile(self):
        for part, text in (("no table", "==ERROR==\n"),
                           ("--print-units base", self.csv(step("v1", 1), "us")),
                           ("no kernel of a step",
                            self.csv(["embed_kernel", "copy_kernel", "pick_kernel"]))):
            done = self.profile(text)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
