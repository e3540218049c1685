"""./learn solution --copy: the copy includes what the solution includes."""

import re
import unittest
from pathlib import Path
from types import SimpleNamespace

from learn import solution

ROOT = Path(__file__).resolve().parents[3]


def included(text: str, folder: Path, others: list[Path]) -> set[Path]:
    """The files that a compiler finds for #include "name": beside the text first."""
    names = re.findall(r'^#include "([^"]+)"', text, flags=re.MULTILINE)
    found = set()
    for name in names:
        places = [place / name for place in [folder, *others]]
        found.add(next(place for place in places if place.exists()).resolve())
    return found


class Copies(unittest.TestCase):
    def test_each_solution_finds_the_same_files_from_the_chapter(self):
        files = sorted(ROOT.glob("solutions/day*/*/*.cu"))
        self.assertGreater(len(files), 40)
        for file in files:
            path = ROOT / file.parent.relative_to(ROOT / "solutions")
            if not (path / file.name).exists():
                continue  # no exercise: a part of a solution
            chapter = SimpleNamespace(path=path, solution=file)
            text = file.read_text()
            copy = solution._with_its_headers(chapter, text)
            with self.subTest(file=str(file.relative_to(ROOT))):
                self.assertEqual(
                    included(copy, path, []), included(text, file.parent, [path]))


if __name__ == "__main__":
    unittest.main()
