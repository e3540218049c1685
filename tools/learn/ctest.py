"""CTest: running it, and its own results. Of those only how a program ended is used;
what the test found is in its verdict (verdicts.py)."""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from learn import build, steps, ui


class Test(NamedTuple):
    """How CTest saw one test."""

    name: str
    outcome: str  # passed, failed, skipped, notrun
    ending: str  # "Timeout", "SEGFAULT", ...: how it ended, if not by itself
    output: str


def run(log: Path, junit: Path, *arguments: str, of: str = "",
        environment=None) -> list[Test] | None:
    """Runs tests, those `of` one program or all; None if CTest itself failed."""
    junit.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(folder(of)), *arguments]
    options = ["--no-tests=error", "--output-junit", str(junit)]
    # Everything is built; CTest need not look again, nor believe what an earlier run of
    # its own has left (cmake/scripts/build_first.py).
    for note in build.folder().glob("*.not_built"):
        note.unlink(missing_ok=True)
    command += ["--fixture-exclude-any", "^built[.]"]

    def announcement() -> str:
        return f"Testing {number_of_tests(command)} cases ..."

    step = steps.Step("testing", announcement)
    result = steps.run([*command, *options], log, step, environment=environment)
    tests = read(junit)
    return tests and [t._replace(ending=_ending(t, result.text)) for t in tests]


def folder(program: str) -> Path:
    """Where CTest finds the tests of one program, without reading all others."""
    alone = build.folder() / "ctest" / program
    return alone if (alone / "CTestTestfile.cmake").is_file() else build.folder()


def _ending(test: Test, log: str) -> str:
    """CTest's list of failures knows what its XML does not: "name (SEGFAULT)"."""
    ending = log.rpartition(f" - {test.name} (")[2].partition(")")[0]
    is_known = f" - {test.name} (" in log and ending != "Failed"
    return ending if is_known else ""


def number_of_tests(command: list[str]) -> int:
    return len(_listed(command))


def tests(*arguments: str) -> list[dict]:
    """What CTest knows of the tests that these arguments choose."""
    return _listed(["ctest", "--test-dir", str(build.folder()), *arguments])


def _listed(command: list[str]) -> list[dict]:
    answer = subprocess.run(
        [*command, "--show-only=json-v1"], capture_output=True, text=True)
    try:
        return json.loads(answer.stdout)["tests"]
    except (ValueError, KeyError):
        return []


def environment_of(test: dict) -> list[str]:
    """["WB_VERDICT=..."], of one of tests()."""
    for one in test.get("properties", ()):
        if one["name"] == "ENVIRONMENT":
            return one["value"]
    return []


def read(junit: Path) -> list[Test] | None:
    """The results that ctest --output-junit has written."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(junit).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    return [_test(element) for element in root.iter("testcase")]


def _test(element) -> Test:
    outcome = {"run": "passed", "fail": "failed"}.get(element.get("status"), "notrun")
    if (skipped := element.find("skipped")) is not None:
        # A test whose program is missing is "skipped" too, but nobody skipped it.
        outcome = "skipped" if "SKIP" in skipped.get("message", "") else "notrun"
    output = ui.relative(element.findtext("system-out") or "")
    return Test(element.get("name"), outcome, "", output)
