"""All mutants in one text ("mutant schemata"). Where a mutant differs, the text asks at
run time which one it shall be: `a < b` becomes `a < Op<…, less_equal<17>>{} > b`,
whose meaning stands in tools/mutate/mutant.h. One compilation then serves hundreds of
mutants. No line is added, so that reports name the lines of the source."""

from collections import defaultdict

from learn.mutation import ladder
from learn.mutation.code import Code
from learn.mutation.mutant import NAMESPACE, Mutant

SIGNS = {
    "<": ("<", ">", "less"), ">": (">", "<", "greater"),
    "<=": ("<=", ">=", "less_equal"), ">=": (">=", "<=", "greater_equal"),
    "==": ("==", "==", "equal"),
    "!=": ("!=", "!=", "not_equal"), "+": ("+", "+", "plus"), "-": ("-", "-", "minus"),
    "*": ("*", "*", "times"), "/": ("/", "/", "over"), "%": ("%", "%", "modulo"),
    "&": ("&", "&", "bit_and"), "|": ("|", "|", "bit_or"),
    "<<": ("<<", "<<", "shift_left"), ">>": (">>", ">>", "shift_right")}
"""A sign, and the second one behind which its right operand comes: of the same
precedence, so that no parentheses are needed."""

INTEGERS = ("bool", "int", "unsigned", "size_t", "int64_t", "uint64_t", "uint32_t")


def weave(code: Code, mutants: list[Mutant], path: str,
          versions: dict[str, list[int]] | None = None,
          unused: set[str] = frozenset()) -> str:
    """The text of a file with these mutants in it.

    versions  of each launcher, see ladder.py; by default those of this file
    unused    functions that are never called"""
    edits: list[tuple[tuple, int, int, str]] = []  # order, start, end, text
    infix, calls = defaultdict(list), defaultdict(list)
    tokens = code.tokens
    for count, mutant in enumerate(mutants):
        number = str(mutant.number)
        if mutant.infix:
            infix[mutant.sign].append(mutant.infix.replace("ID", number, 1))
        elif mutant.call:
            base, what = mutant.call.split(" ", 1)
            name_end = code.first_paren(mutant.first)
            calls[mutant.first, name_end, base].append(what.replace("ID", number, 1))
        else:
            first, last, before, behind = mutant.around
            start, end = tokens[first].start, tokens[last].end
            # At one place: what ends there, the inner first; then what begins there,
            # the outer first.
            edits.append(((start, 1, -end, count), start, start,
                          before.replace("<ID>", f"<{number}>", 1)))
            edits.append(((end, 0, -start, -count), end, end,
                          behind.replace("<ID>", f"<{number}>", 1)))
    for sign, meanings in infix.items():
        _, second, base = SIGNS[code[sign]]
        at = tokens[sign].end
        all_of = ", ".join([f"{NAMESPACE}{base}<-1>", *meanings])
        edits.append(
            ((at, 0, 0, 0), at, at, f" {NAMESPACE}Op<{all_of}>{{}} {second}"))
    for (first, last, base), meanings in calls.items():
        start, end = tokens[first].start, tokens[last].end
        edits.append(((start, 2, -end, 0), start, end,
                      f"{NAMESPACE}Call<{NAMESPACE}{base}, {', '.join(meanings)}>{{}}"))
    changed = {m.around[0] if m.around else m.first for m in mutants}
    edits += _not_constant(code, changed)
    versions = versions or ladder.versions([code])
    edits += ladder.edits(code, versions)
    for function in code.functions:
        if function.name in unused:
            start, end = tokens[function.body].end, tokens[function.end].start
            lines = "\n" * code.text.count("\n", start, end)
            edits = [edit for edit in edits if not start <= edit[1] <= end]
            edits.append(((start, 2, -end, 0), start, end, f" throw 0;{lines}"))
    text, at = [], 0
    for _, start, end, new in sorted(edits):
        text += code.text[at:start], new
        at = end
    text.append(code.text[at:])
    return f'#include <mutant.h>\n#line 1 "{path}"\n{"".join(text)}'


def _not_constant(code: Code, changed: set[int]):
    """`const int n = 2 * D;` is a constant expression, in which no mutant lives;
    without the `const` it is none."""
    for function in code.functions:
        for statement in function.statements:
            first, last = statement.first, statement.last
            if first in function.constant or code[first] != "const" or (
                    code[first + 1] not in INTEGERS or
                    code[first + 2] != statement.declares) or (
                        changed.isdisjoint(range(first, last + 1))):
                continue
            token = code.tokens[first]
            yield (token.start, 2, -token.end, 0), token.start, token.end, ""
