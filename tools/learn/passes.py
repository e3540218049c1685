"""A pass in the simulator is not run again until something changes: .learn/passed/KEY
holds the cases that passed and the fingerprint of what they ran: the bytes of the test
program and of the workbook's libraries that it loads. Other code is another program.
"""

import hashlib
import json
import os
import subprocess
from pathlib import Path

from learn import build, preset, ui

FOLDER = ui.STATE / "passed"


def fingerprint(program: Path | None) -> str:
    """Of a program of the build folder; "" if it cannot be told, and on a GPU, where
    the same program may do something else."""
    if not program or preset.chosen().on_gpu:
        return ""
    try:
        said = subprocess.run(["ldd", program], capture_output=True, text=True)
    except OSError:
        return ""
    folder = str(build.folder().absolute()) + os.sep
    words = said.stdout.split()
    if said.returncode or "not found" in said.stdout:
        return ""
    libraries = sorted({word for word in words if word.startswith(folder)})
    digest = hashlib.sha256()
    for file in (program, *map(Path, libraries)):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    # What programs are told: the order of threads, a limit.
    for name in sorted(os.environ):
        if name.startswith(("SIMT_", "WB_")):
            digest.update(f"{name}={os.environ[name]}\n".encode())
    return digest.hexdigest()


def remember(key: str, mark: str, cases) -> None:
    """`cases` have passed, or were left out with a reason."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = [[case.name, case.outcome, case.reason, case.test] for case in cases]
    (FOLDER / key).write_text(json.dumps({"mark": mark, "cases": kept}))


def forget(key: str) -> None:
    """The program has run: what it had passed before, or claims, is no more."""
    (FOLDER / key).unlink(missing_ok=True)


def recall(key: str, mark: str) -> list[list[str]]:
    """The cases of the pass with this fingerprint: name, outcome, reason, test. Empty
    when there was none; -v wants to see them run."""
    if not mark or ui.Settings.verbose:
        return []
    try:
        known = json.loads((FOLDER / key).read_text())
        return known["cases"] if known["mark"] == mark else []
    except (OSError, ValueError, KeyError, TypeError):
        return []
