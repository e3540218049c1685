"""What is recorded of the kernels in trace_kernels.cu.

Usage: recorder_test.py PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DOINGS = (
    "at", "load", "store", "atomic", "copy", "landed", "release", "acquire", "tile",
    "tile_landed", "barrier", "warp_op", "product", "folded")
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else ""
SOURCE = Path(__file__).with_name("trace_kernels.cu").read_text().split("\n")


def line_of(kernel: str, word: str) -> int:
    """The line of a kernel that has the word in the comment behind it."""
    start = next(i for i, text in enumerate(SOURCE) if f"void {kernel}(" in text)
    for number, text in enumerate(SOURCE[start:], start + 1):
        if text.endswith(f"// {word}"):
            return number
    raise LookupError(word)


class Recorded:
    """A trace with its steps written out."""

    def __init__(self, kernel: str, *arguments, **settings):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.json"
            environment = {
                **os.environ, "SIMT_TRACE": str(file), "SIMT_CHECK_KERNEL": kernel,
                "SIMT_CHECK_TABLE": "0", **settings}
            result = subprocess.run(
                [PROGRAM, *arguments], env=environment, capture_output=True, text=True)
            self.said, self.status = result.stderr, result.returncode
            self.trace = json.loads(file.read_text()) if file.exists() else None
        self.kernel = kernel
        self.steps = []
        flat = self.trace["steps"] if self.trace else []
        for warp, shape, base in zip(flat[::3], flat[1::3], flat[2::3]):
            doing, place, space, size, pattern, cost, ideal, thing = (
                self.trace["shapes"][shape])
            self.steps.append({
                "warp": warp, "doing": DOINGS[doing], "base": base, "bytes": size,
                "line": self.trace["places"][place][1], "space": "gsc"[space],
                "cost": cost, "ideal": ideal, "object": thing,
                "lanes": self.trace["patterns"][pattern]})

    def at(self, word: str, doing: str) -> list:
        line = line_of(self.kernel, word)
        return [s for s in self.steps if s["line"] == line and s["doing"] == doing]


class Recorder(unittest.TestCase):

    def test_a_tile_is_filled_and_read_in_columns(self):
        r = Recorded("conflict", SIMT_TRACE_BLOCK="1")
        self.assertEqual(r.status, 0, r.said)
        self.assertEqual(r.trace["kernel"], "conflict")
        self.assertEqual(r.trace["index"], [1, 0, 0])
        self.assertEqual(r.trace["grid"], [3, 1, 1])
        tile = r.trace["variables"][0]
        self.assertEqual((tile["name"], tile["bytes"]), ("tile", 4096))
        # 16 rows of each warp, of which the middle is folded.
        stores = r.at("fill", "store")
        self.assertEqual([s["base"] - tile["begin"] for s in stores if s["warp"] == 1],
                         [128 * row for row in (1, 3, 5, 31)])
        self.assertEqual(stores[0]["lanes"], [0xffffffff, 4])
        folds = r.trace["folds"]
        self.assertEqual([fold["times"] for fold in folds], [12, 12])
        self.assertEqual(len(folds[0]["writes"]), 12 * 4)
        # One barrier, then a column: 32 wavefronts for one.
        self.assertEqual(
            [s["lanes"][0] for s in r.at("barrier", "barrier")], [0b11])
        loads = r.at("column", "load")
        self.assertEqual([(s["warp"], s["cost"], s["ideal"]) for s in loads],
                         [(0, 32, 1), (1, 32, 1)])
        self.assertEqual(loads[0]["lanes"], [0xffffffff, 128])
        self.assertEqual([s["cost"] for s in r.at("column", "store")], [4, 4])

    def test_warps_go_side_by_side(self):
        r = Recorded("conflict")
        stores = [s["warp"] for s in r.at("fill", "store")]
        self.assertEqual(stores[:6], [0, 1, 0, 1, 0, 1])

    def test_a_seed_is_another_schedule_of_the_same_steps(self):
        first, again, other = (
            Recorded("conflict", SIMT_SEED=seed) for seed in ("1", "1", "2"))
        self.assertEqual(first.steps, again.steps)
        self.assertNotEqual(first.steps, other.steps)

        def of_warp(r):
            return [s for s in r.steps if s["warp"] == 0 and s["doing"] != "folded"]

        self.assertEqual(of_warp(first), of_warp(other))

    def test_a_race_is_at_its_step(self):
        r = Recorded("race")
        self.assertEqual(r.status, 0)
        self.assertEqual(r.trace["findings"][0]["kind"], "race")
        found = [r.steps[i] for i in r.trace["found"][::2]]
        self.assertTrue(found)
        self.assertEqual({s["line"] for s in found}, {line_of("race", "race")})
        atomic = r.at("atomic", "atomic")
        self.assertEqual([(s["warp"], s["lanes"]) for s in atomic], [(0, [1, 0])])

    def test_a_loop_with_barriers_is_folded(self):
        r = Recorded("tiles")
        folds = [s for s in r.steps if s["doing"] == "folded"]
        self.assertEqual([s["warp"] for s in folds], [-1])
        # The first time round begins with the kernel: it is no repetition.
        self.assertEqual(r.trace["folds"][0]["times"], 100 - 1 - 3 - 1)
        part = r.at("part", "load")
        self.assertEqual({s["lanes"][0] for s in part}, {0x11111111})
        self.assertEqual(len(part), 2 * 5)
        self.assertEqual(len(r.at("shuffle", "warp_op")), 2)

    def test_what_is_left_out_is_counted(self):
        whole, part = Recorded("tiles"), Recorded("tiles", SIMT_TRACE_STEPS="10")
        self.assertEqual(len(part.steps), 10)
        self.assertEqual(part.trace["left_out"], len(whole.steps) - 10)

    def test_a_copy_lands_when_it_is_waited_for(self):
        r = Recorded("copy")
        issued = r.at("copy", "copy")
        self.assertEqual(sorted({s["space"] for s in issued}), ["g", "s"])
        landed = r.at("landed", "landed")
        self.assertEqual([s["lanes"] for s in landed], [[0xffffffff, 4]] * 2)
        self.assertGreater(r.steps.index(landed[0]), r.steps.index(issued[0]))

    def test_shared_memory_of_another_block_of_the_cluster(self):
        r = Recorded("neighbours", SIMT_TRACE_BLOCK="1")
        self.assertEqual(r.trace["cluster"], 2)
        own = r.at("own", "store")
        self.assertEqual([(s["space"], s["object"]) for s in own], [("s", 0)] * 2)
        begin = r.trace["variables"][0]["begin"]
        for word, doing in (("read", "load"), ("written", "store")):
            steps = r.at(word, doing)
            self.assertEqual(
                [(s["space"], s["object"]) for s in steps], [("s", 1)] * 2, word)
        self.assertEqual([s["base"] for s in steps], [begin, begin + 128])
        self.assertEqual(Recorded("tiles").trace["cluster"], 1)

    def test_a_block_that_never_ends_is_shown_as_far_as_it_goes(self):
        r = Recorded("endless", "with endless")
        self.assertEqual((r.status, r.trace["ended_early"]), (0, 2))
        self.assertEqual({s["warp"] for s in r.steps} - {-1}, {0, 1})
        spins = r.at("spin", "atomic")
        # All lanes, but where the watchdog has made a thread wait, which it does by the
        # clock: on a busy machine often.
        self.assertIn(0xffffffff, {s["lanes"][0] for s in spins})
        self.assertLess(len(r.steps), 5000)  # folded: 20,000 events would be kept

    def test_a_block_that_never_ran(self):
        r = Recorded("conflict", SIMT_TRACE_BLOCK="7")
        self.assertIsNone(r.trace)
        self.assertIn("no block was recorded; these kernels ran:", r.said)
        self.assertIn("conflict, 3 x 1 x 1 blocks", r.said)


if __name__ == "__main__":
    unittest.main()
