"""./learn book [build | pdf | epub] [--port N]

The lessons as a book, with figures and search: builds what has changed and
serves it on this machine. Installs the packages of the book on first use,
after asking. build: only builds, into book/dist; book/dist/offline needs no
server. pdf, epub: all of it as book/dist/warpbook.pdf or warpbook.epub.
"""

import filecmp
import os
import re
import shutil
import subprocess
from pathlib import Path

from learn import lock, preset, steps, ui

MINIMUM_NODE = 18
STAMP = Path("book/dist/.built")
LOCK_COPY = "node_modules/.warpbook-lock"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NPM_FAULTS = {
    "ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH|ECONNRESET":
        "npm could not reach its registry (no network?): connect, then run ./learn book"
        " again.",
    "ENOSPC": "The disk is full: free some space, then run ./learn book again."}


def arguments(parser) -> None:
    parser.add_argument("what", nargs="*")
    parser.add_argument("--port")


def run(options) -> int:
    what = options.what[-1] if options.what else "serve"
    for word in options.what:
        if word not in ("build", "pdf", "epub", "serve"):
            raise ui.Stop(
                f"./learn book knows build, pdf, epub and --port N, not '{word}'.")
    if options.port and not re.fullmatch(r"\d{1,5}", options.port):
        raise ui.Stop("--port wants a number, as in ./learn book --port 8000.")
    lock.take()
    _tools()
    if what == "pdf":
        _browser()
    _build()
    if what == "build":
        ui.say(
            "The book is in book/dist; book/dist/offline/index.html opens without a"
            " server.")
        return 0
    if what == "pdf":
        return _node("book/lib/pdf.mjs")
    if what == "epub":
        return _node("book/lib/epub.mjs")
    lock.release()
    port = ["--port", options.port] if options.port else []
    return _node("book/lib/serve.mjs", *port)


def _node(*words: str) -> int:
    ui.show_command(["node", *words])
    return subprocess.run(["node", *words]).returncode


def _fail(sentence: str) -> ui.Stop:
    """One sentence, and where the lessons are all the same."""
    lesson = next(iter(sorted(Path().glob("day*/*/lesson.md"))), "a lesson.md")
    return ui.Stop(
        f"{sentence}\nThe lessons are plain Markdown as well: ./learn lesson, or open"
        f" {lesson} in any editor.")


def _tools() -> None:
    """Node, npm and the book's packages are here, or could be installed."""
    if not all(map(shutil.which, ("node", "npm"))):
        preset.install("nodejs", "npm")
        if not all(map(shutil.which, ("node", "npm"))):
            raise _fail(f"The book needs Node {MINIMUM_NODE} or newer, and npm.")
    answer = subprocess.run(["node", "--version"], capture_output=True, text=True)
    version = answer.stdout.strip().removeprefix("v")
    if answer.returncode or not version[:1].isdigit():
        raise _fail("The command node does not work; try: node --version")
    if int(version.partition(".")[0]) < MINIMUM_NODE:
        raise _fail(
            f"Node {version} is too old, the book needs {MINIMUM_NODE} or newer: get it"
            " from https://nodejs.org.")
    try:
        current = filecmp.cmp("package-lock.json", LOCK_COPY, shallow=False)
    except OSError:
        current = False
    if not current:
        _packages()


def _packages() -> None:
    """Runs npm, after asking."""
    log = ui.STATE / "log" / "npm.log"
    ui.say("The book needs packages from npm (130, 120 MB, in node_modules).")
    if not ui.confirm("Install them now with 'npm ci'?"):
        raise _fail("Nothing was installed. To go on, run ./learn book --yes.")
    ui.say(f"Installing (the log is {log}) ...")
    result = steps.run(["npm", "ci", "--no-fund", "--no-audit"], log)
    if result.status == 0:
        shutil.copyfile("package-lock.json", LOCK_COPY)
        return
    for pattern, sentence in NPM_FAULTS.items():
        if re.search(pattern, result.text):
            raise _fail(sentence)
    lines = result.text.strip().split("\n")
    error = next((line for line in lines if "error" in line.lower()), lines[-1])
    raise _fail(f"npm ci failed: {error}")


def _browser() -> None:
    """A PDF is printed by Chromium."""
    if named := os.environ.get("CHROMIUM"):
        if not shutil.which(named):
            raise _fail(f"CHROMIUM names {named}, which is not there.")
        return
    if any(map(shutil.which, BROWSERS)):
        return
    preset.install("chromium")
    if not any(map(shutil.which, BROWSERS)):
        raise _fail(
            "A PDF is printed by Chromium, which is not here. If it lies elsewhere, say"
            " where: CHROMIUM=/path ./learn book pdf.")


def _is_current() -> bool:
    """No source of the book is newer than the book. The learner's own files are none:
    the book shows them as they were handed out."""
    if not STAMP.is_file() or not Path("book/dist/index.html").is_file():
        return False
    built = STAMP.stat().st_mtime
    made = ("book/dist", "book/.vitepress/cache", "book/.vitepress/.temp")
    if os.path.getmtime("package-lock.json") > built:
        return False
    roots = ["book", *Path().glob("day*"), "solutions", "tests", "docs", "common"]
    for root in map(str, roots):
        for folder, folders, files in os.walk(root):
            folders[:] = [f for f in folders if f"{folder}/{f}" not in made]
            for file in files:
                path = os.path.join(folder, file)
                if root.startswith("day") and file.endswith(".cu"):
                    continue
                if os.path.getmtime(path) > built:
                    return False
    return True


def _build() -> None:
    """Builds what is not built yet."""
    if _is_current():
        return
    log = ui.STATE / "log" / "book.log"
    ui.say(f"Building the book, which takes a minute (the log is {log}) ...")
    ui.STATE.mkdir(exist_ok=True)
    started = ui.STATE / "book-started"
    started.touch()
    result = steps.run(["npm", "run", "--silent", "book:build"], log)
    if result.status == 0:
        if summary := re.search(r"^\d+ pages;.*$", result.text, re.MULTILINE):
            ui.say(summary[0])
        # What changed while it was built is newer than the book.
        moment = started.stat().st_mtime_ns
        STAMP.touch()
        os.utime(STAMP, ns=(moment, moment))
        return
    lines = result.text.split("\n")
    fault = re.compile(r"build error|^\[|the book has faults")
    first = next((i for i, line in enumerate(lines) if fault.search(line)), None)
    if first is not None:
        ui.complain(ui.indent("\n".join(lines[first : first + 13])), "dim")
    raise ui.Stop(f"The book was not built; all of it is in {log}.", 1)
