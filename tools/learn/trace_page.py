"""A recorded trace as one HTML file that needs nothing else: the figure that the book
has (book/figures/kernel-trace), its data, and the lines of code that they name."""

import json
import re
from html import escape
from pathlib import Path

FIGURE = Path("book/figures/kernel-trace")
FAR = 25  # so many lines apart, two places are shown apart
MOST_ABOVE, MOST_BELOW = 30, 12  # that belong to the function around them

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{style}
</style>
<main>
<h1>{title}</h1>
<p class="about">{about}</p>
<div id="trace"></div>
</main>
<script type="application/json" id="data">{data}</script>
<script type="module">
{script}
const trace = JSON.parse(document.getElementById('data').textContent);
window.player = mount(document.getElementById('trace'), trace);
document.querySelector('#trace input').focus();
window.player.go(Number(location.hash.slice(1)) || 0);  // page.html#60
</script>
</html>
"""

STYLE = """\
:root { color-scheme: light dark; }
body { margin: 0; font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
  background: var(--wb-fig-bg, #fff); color: var(--wb-fig-ink, #1f2328); }
main { max-width: 1360px; margin: 0 auto; padding: 12px 20px 40px; }
h1 { margin: 0; font-size: 1.25rem; overflow-wrap: anywhere; }
.about { margin: 2px 0 14px; color: var(--wb-fig-muted, #59636e); }
@media (prefers-color-scheme: dark) {
  :root { --wb-fig-bg: #1b1b1f; --wb-fig-ink: #f0f3f6; --wb-fig-muted: #a8b1ba;
    --wb-fig-line: #4a5058; --wb-fig-1: #6cb6f5; --wb-fig-2: #f0a35c;
    --wb-fig-3: #4fc79c; --wb-fig-5-soft: #453a0a; }
  html .kt { --kt-bad: #ff8d84; --kt-light: 60%; }
}
"""


def complete(trace: dict, root: Path) -> dict:
    """The trace with the lines of code that it names, and paths relative to the
    checkout."""
    numbers: dict[str, set[int]] = {}
    for file, line in trace["places"]:
        if file and line:
            numbers.setdefault(file, set()).add(line)
    sources = []
    for file, lines in numbers.items():
        try:
            text = Path(root, file).read_text(errors="replace").split("\n")
        except OSError:
            continue
        lines = {line for line in lines if line <= len(text)}
        for first, last in sections(text, sorted(lines)):
            sources.append({
                "file": short(file, root), "first": first,
                "lines": text[first - 1 : last]})
    result = {**trace, "sources": sources}
    result["places"] = [[short(file, root), line] for file, line in trace["places"]]
    result["launched"] = [short(trace["launched"][0], root), trace["launched"][1]]
    result["findings"] = [
        {**finding, "text": finding["text"].replace(f"{root}/", "")}
        for finding in trace["findings"]]
    return result


def short(file: str, root: Path) -> str:
    return file.removeprefix(f"{root}/")


def sections(text: list[str], lines: list[int]) -> list[tuple[int, int]]:
    """First and last lines of the functions around some lines, in order."""
    result: list[tuple[int, int]] = []
    for line in lines:
        if result and line - result[-1][1] <= FAR:
            result[-1] = (result[-1][0], line)
        else:
            result.append((line, line))
    grown: list[tuple[int, int]] = []
    for first, last in result:
        first, last = start_of(text, first), end_of(text, last)
        if grown and first <= grown[-1][1] + 1:
            grown[-1] = (grown[-1][0], max(last, grown[-1][1]))
        else:
            grown.append((first, last))
    return grown


def start_of(text: list[str], line: int) -> int:
    """Where the function begins that has the line: below the nearest line above it that
    is empty or a comment, where code stands at the margin."""
    for number in range(line, max(line - MOST_ABOVE, 0), -1):
        above = text[number - 2] if number > 1 else ""
        is_outside = not above.strip() or above.startswith(("//", "}", "#"))
        if is_outside and re.match(r"\w", text[number - 1]):
            return number
    return max(line - 3, 1)


def end_of(text: list[str], line: int) -> int:
    """The closing bracket at the margin."""
    for number in range(line, min(line + MOST_BELOW, len(text)) + 1):
        if text[number - 1].startswith("}"):
            return number
    return min(line + 3, len(text))


def compact(trace: dict) -> str:
    """The document as committed to the book: one member a line."""
    members = [
        f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}"
        for name, value in trace.items()]
    return "{\n" + ",\n".join(members) + "\n}\n"


def plain(module: str) -> str:
    """A module without its imports and exports: both share one script."""
    imports = r"^import\s*\{[^}]*\}\s*from\s*'\./model\.js';\n"
    return re.sub(rf"{imports}|^export\s*\{{[^}}]*\}};\n", "", module, flags=re.M)


def about(trace: dict) -> str:
    """Which block of which launch it is."""
    def shape(sizes):
        return " x ".join(map(str, sizes))

    where = ":".join(map(str, trace["launched"]))
    seed = trace["seed"]
    schedule = f"schedule {seed}" if seed else "the warps take turns"
    index = ", ".join(map(str, trace["index"]))
    return (
        f"Block ({index}) of {shape(trace['grid'])} blocks of {shape(trace['block'])}"
        f" threads, launched at {where}; {schedule}."
        " Recorded in the simulator: the order of steps is one that the kernel allows;"
        " a GPU's may be another. Lines that only compute are no steps.")


def page(trace: dict, figure: Path = FIGURE) -> str:
    """The HTML of a completed trace."""
    data = json.dumps(trace, separators=(",", ":")).replace("</", "<\\/")
    script = plain((figure / "model.js").read_text()) + plain(
        (figure / "view.js").read_text())
    return PAGE.format(
        title=escape(trace["kernel"]), about=escape(about(trace)), data=data,
        style=STYLE + (figure / "view.css").read_text(), script=script)
