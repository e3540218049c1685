"""Which version of the solution the contract's function runs: WB_MUTANT_VERSION names
it. The tests then run a version as if a learner had written it alone."""

import re

from learn.mutation.code import Code
from learn.mutation.mutant import NAMESPACE


def versions(codes: list[Code]) -> dict[str, list[int]]:
    """The numbers of each launcher: vector_add_v1, vector_add_v2 are two of one."""
    found: dict[str, set[int]] = {}
    for code in codes:
        for function in code.functions:
            if not function.on_device and (parts := _parts(function.name)):
                found.setdefault(parts[0], set()).add(parts[1])
        for stem, number in re.findall(r"WB_RUNG\(\s*\w+,\s*(\w+)_v(\d+)", code.text):
            found.setdefault(stem, set()).add(int(number))
    return {stem: sorted(numbers) for stem, numbers in found.items()}


def _parts(name: str) -> tuple[str, int] | None:
    match = re.fullmatch(r"(\w+)_v(\d+)", name)
    return (match[1], int(match[2])) if match else None


def uses(code: Code, function) -> list[tuple[int, str, int]]:
    """Where a function that is no version calls one, or takes its address: token,
    launcher, number. What versions have in common may fall back on another."""
    if function.version or function.on_device or re.search(
            rf"_v\d+ =\s+{function.name}\b", code.text):
        return []
    return [(i, *parts) for i in range(function.body, function.end)
            if (parts := _parts(code[i])) and (
                code[_last(code, i) + 1] == "(" or _is_value(code, i))]


def _is_value(code: Code, i: int) -> bool:
    return code[i - 1] == "=" and code[i + 1] == ";"


def _last(code: Code, i: int) -> int:
    """The last token of a name, its template arguments included."""
    return code.angles.get(i + 1, i)


def is_wrapped(code: Code, function) -> bool:
    """Is it the contract of a ladder of which list_rung() is given no launchers, but
    functions around them? These stand in the contract's place, then."""
    given = re.search(
        rf'list_rung\(\s*"{function.name}",\s*"\w+",\s*"[^"]*",\s*(\w+)', code.text)
    return bool(given) and not _parts(given[1])


def edits(code: Code, known: dict[str, list[int]]):
    """What is to be written, as order, start, end and text (weave.py)."""
    tokens = code.tokens
    direct = set()
    for function in code.functions:
        for i, stem, number in uses(code, function):
            others = [n for n in known.get(stem, []) if n != number]
            if not others:
                continue
            if _is_value(code, i):
                which = "".join(f"{NAMESPACE}version == {n} ? &{stem}_v{n} : "
                                for n in others)
                token = tokens[i]
                yield ((token.start, 2, -token.end, 0), token.start, token.end,
                       f"({which}&{code[i]})")
                continue
            last = _last(code, i)
            arguments = code.words(i + 1, last) if last > i else ""
            direct.add(number)
            # A version of another type is left to the functions around it.
            text = "".join(_run(n, f"{stem}_v{n}", arguments) for n in others)
            text = (f"([&](auto&&... a) {{ {text}"
                    f"return {stem}_v{number}{arguments}(a...); }})")
            start, end = tokens[i].start, tokens[last].end
            yield (start, 2, -end, 0), start, end, text
    for function in code.functions:
        if is_wrapped(code, function):
            at = tokens[function.body].end
            names = ", ".join(_parameters(code, function))
            numbers = ", ".join(map(str, sorted(direct)))
            yield ((at, 1, -at, 0), at, at,
                   f" if ({NAMESPACE}run_listed<{numbers}>({names})) return;")
    for match in re.finditer(r"\bwb::list_rung\(", code.text):
        yield ((match.start(), 2, -match.end(), 0), match.start(), match.end(),
               f"{NAMESPACE}list_rung(")


def _run(number: int, launcher: str, arguments: str) -> str:
    """Another version, with the template arguments that the call has, or with none."""
    ways = [arguments, ""] if arguments else [""]
    return "else ".join(f"WB_MUTANT_RUN({number}, ({launcher}{way}(a...))) "
                        for way in ways)


def _parameters(code: Code, function) -> list[str]:
    """Their names: the words before commas, and before the parenthesis."""
    close = code.pair[function.first]
    return [code[i - 1] for i in range(function.first + 2, close + 1)
            if code[i] == "," or i == close]


def unused(codes: list[Code], wanted: set[int]) -> set[str]:
    """The launchers that these versions do not need."""
    known = versions(codes)
    launchers = {f"{stem}_v{n}" for stem, numbers in known.items() for n in numbers}
    needs: dict[str, set[str]] = {}
    for code in codes:
        for function in code.functions:
            words = {code[i] for i in range(function.body, function.end)} & launchers
            for i, stem, number in uses(code, function):
                words.discard(code[i])
                words |= {f"{stem}_v{n}" for n in wanted & set(known.get(stem, []))}
                if wanted - set(known.get(stem, [])) or _last(code, i) > i:
                    words.add(code[i])
            needs.setdefault(function.name, set()).update(words)
    used = set(needs) - launchers
    while True:
        # A version that is a name for something else needs nothing by itself.
        more = {name for user in used for name in needs.get(user, ())} - used
        if not more:
            return launchers - used
        used |= more
