"""launches_test.py PROGRAM: what the checker writes down of the kernels of launches.cu:
their names, the lines they are charged to, the lanes behind a guard, tensor cores."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).with_name("launches.cu").read_text().split("\n")


def line_of(mark: str) -> int:
    return next(i for i, line in enumerate(SOURCE, 1) if line.endswith(f"// {mark}"))


def kernels(**environment) -> dict:
    """The kernels of a run by their names."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "run.json")
        variables = {"SIMT_CHECK_JSON": str(report), "SIMT_CHECK_TABLE": "0"}
        subprocess.run([PROGRAM], check=True, env=os.environ | variables | environment)
        return {k["name"]: k for k in json.loads(report.read_text())["kernels"]}


class Launches(unittest.TestCase):
    def test_kernel_behind_a_variable_has_its_own_name(self):
        self.assertEqual(
            sorted(kernels()), ["product", "scale<2>", "scale<3>", "wrapped"])

    def test_a_guard_shares_its_line_with_what_it_guards_but_not_its_lanes(self):
        branches = kernels()["scale<2>"]["branches"]
        here = [b for b in branches if b["line"] == line_of("guard")]
        lanes = [b["part_lanes"] / b["part_executions"]
                 for b in here if b["part_executions"]]
        self.assertEqual(lanes, [28])

    def test_a_wrapper_is_charged_to_its_caller(self):
        def stores(**environment):
            lines = kernels(**environment)["wrapped"]["lines"]
            return [(Path(a["file"]).name, a["line"]) for a in lines
                    if a["op"] == "store" and a["space"] == "shared"]

        self.assertEqual(stores()[0][0], "store.h")
        self.assertEqual(stores(SIMT_CHECK_THROUGH="/wrappers/"),
                         [("launches.cu", line_of("call"))])

    def test_tensor_cores_are_counted_by_their_operands(self):
        totals = kernels()["product"]["totals"]
        self.assertEqual(totals["tensor_f16"], 2 * 16**3)
        self.assertEqual(totals["tensor_f8"], 0)
        self.assertEqual(kernels()["wrapped"]["totals"]["tensor_f16"], 0)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
