"""One mistake: what the text would be, and how the woven text chooses it."""

from dataclasses import dataclass, field

from learn.mutation.code import Code, Function

NAMESPACE = "::wb_mutant::"


@dataclass
class Mutant:
    """Tokens first ... last of the code become `text`. The rest is for weave.py; in it
    the mark ID stands for the mutant's number."""

    code: Code
    function: Function
    operator: str
    first: int
    last: int
    text: str
    shown: tuple[int, int]  # the tokens that a reader should see around it
    infix: str = ""  # another meaning of the operator sign ...
    sign: int = -1  # ... which is this token
    call: str = ""  # another meaning of the function named by first ... last
    around: tuple[int, int, str, str] | None = None  # first, last, before, behind
    number: int = -1  # in the woven program
    occurrence: int = field(default=1, compare=False)

    @property
    def before(self) -> str:
        return _short(self.code.words(*self.shown))

    @property
    def after(self) -> str:
        code, (first, last) = self.code, self.shown
        left = code.words(first, self.first - 1) if self.first > first else ""
        right = code.words(self.last + 1, last) if self.last < last else ""
        gaps = [_gap(code, self.first - 1) if left else "",
                _gap(code, self.last) if right else ""]
        return _short(left + gaps[0] + self.text + gaps[1] + right) or "nothing"

    @property
    def key(self) -> str:
        """Names it as long as its function and its words stay; see known.py."""
        count = f" ({self.occurrence})" if self.occurrence > 1 else ""
        return (f"{self.function.name}: {self.operator}:"
                f" {self.before} -> {self.after}{count}")

    @property
    def line(self) -> int:
        return self.code.line(self.first)

    def changed_line(self) -> tuple[list[str], list[str]]:
        """The lines of the source that it changes, before and after."""
        tokens, text = self.code.tokens, self.code.text
        start, end = tokens[self.first].start, tokens[self.last].end
        begin = text.rfind("\n", 0, start) + 1
        finish = text.find("\n", end)
        old = text[begin:finish]
        new = text[begin:start] + self.text + text[end:finish]
        return old.split("\n"), [line for line in new.split("\n") if line.strip()]


def _gap(code: Code, index: int) -> str:
    """White space between a token and the next one."""
    return " " if code.tokens[index].end < code.tokens[index + 1].start else ""


def _short(text: str, most: int = 70) -> str:
    return text if len(text) <= most else f"{text[: most - 24]}...{text[-21:]}"


def meaning(name: str, *arguments) -> str:
    """The C++ type of another meaning: less_equal<ID>."""
    return f"{NAMESPACE}{name}<{', '.join(['ID', *map(str, arguments)])}>"


def number_mutants(mutants: list[Mutant]) -> list[Mutant]:
    """Counts those that have the same key."""
    seen: dict[str, int] = {}
    for mutant in mutants:
        mutant.occurrence = 1
        key = mutant.key
        seen[key] = mutant.occurrence = seen.get(key, 0) + 1
    return mutants
