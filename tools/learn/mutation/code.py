"""The functions of a solution, and what is in their bodies: statements, conditions,
subscripts, calls. No parser of C++: it relies on the style that clang-format gives all
of our files, in which `a < b` is a comparison and `f<b>` is not."""

import re
from dataclasses import dataclass, field

from learn.mutation.tokens import read

OPEN = {"(": ")", "[": "]", "{": "}"}
ENDS = {")": "(", "]": "[", "}": "{"}
SPECIFIERS = frozenset(
    "const static extern volatile typename struct register __shared__ __constant__"
    " __device__".split())
BUILTIN = frozenset("unsigned signed long short int char double".split())
CONSTANT = frozenset("constexpr using typedef static_assert template enum".split())
NO_FUNCTION = frozenset(
    "__launch_bounds__ __align__ alignas decltype requires __attribute__ noexcept"
    " __cluster_dims__ sizeof".split())
KEYWORDS = frozenset(
    "return if else for while do switch case default break continue goto throw new"
    " delete sizeof alignof decltype const constexpr auto static true false nullptr"
    " this operator typename template asm volatile co_return".split())


@dataclass
class Statement:
    """Tokens first ... last, the semicolon included."""

    first: int
    last: int
    declares: str = ""  # the name that it declares


@dataclass
class Condition:
    """What is asked: tokens first ... last, both included."""

    first: int
    last: int
    where: str  # if, for, while, ?, bool


@dataclass
class Function:
    name: str  # with the struct's, Scratch::reserve
    first: int  # token of the parameters' parenthesis
    body: int  # of the {
    end: int  # of the }
    on_device: bool
    statements: list[Statement] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    loops: list[tuple[str, Condition]] = field(default_factory=list)
    constant: set[int] = field(default_factory=set)  # tokens that are no run-time code
    scopes: dict[int, list[set[str]]] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """vector_add_v2_kernel is part of version 2; 0 for what has no number."""
        match = re.search(r"_v(\d+)", self.name)
        return int(match[1]) if match else 0


class Code:
    """A file: its text, tokens, pairs of brackets and functions."""

    def __init__(self, path: str, text: str):
        self.path, self.text = path, text
        self.tokens = read(text)
        self.pair: dict[int, int] = {}  # bracket to bracket, both ways
        self._match_brackets()
        self.angles = self._template_arguments()
        self.members = {self[i] for i in range(1, len(self.tokens))
                        if self[i - 1] in (".", "->")}
        self.functions: list[Function] = []
        self._declarations(0, len(self.tokens), "")
        for function in self.functions:
            _Body(self, function)

    def __getitem__(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def words(self, first: int, last: int) -> str:
        """The text of tokens first ... last on one line."""
        text = self.text[self.tokens[first].start : self.tokens[last].end]
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        return re.sub(r"\s+", " ", text).strip()

    def first_paren(self, index: int) -> int:
        """The last token before the next parenthesis."""
        while self[index + 1] != "(":
            index += 1
        return index

    def line(self, index: int) -> int:
        return self.text.count("\n", 0, self.tokens[index].start) + 1

    def _match_brackets(self) -> None:
        stack = []
        for i, token in enumerate(self.tokens):
            if token.text in OPEN and token.kind == "sign":
                stack.append(i)
            elif token.text in ENDS and token.kind == "sign":
                # Both branches of an #if may open; the file is still read to its end.
                while stack and self[stack[-1]] != ENDS[token.text]:
                    stack.pop()
                if stack:
                    self.pair[i] = stack.pop()
                    self.pair[self.pair[i]] = i

    def _template_arguments(self) -> dict[int, int]:
        """< to > of template arguments and parameters."""
        angles = {}
        for i, token in enumerate(self.tokens):
            before = self.tokens[i - 1] if i else None
            if token.text == "<" and before and before.kind == "name" and (
                    before.end == token.start or before.text == "template"):
                depth = 0
                j = i
                while j < len(self.tokens) and self[j] not in (";", "{"):
                    if self[j] in OPEN and j in self.pair:
                        j = self.pair[j]
                    elif self[j] == "<" and not self.tokens[j].spaced:
                        depth += 1
                    elif self[j] == ">" and not self.tokens[j].spaced or (
                            self[j] == ">" and depth == 1 and self[j + 1] in
                            ("struct", "class", "__global__", "__device__", "static")):
                        depth -= 1
                        if depth == 0:
                            angles[i] = j
                            break
                    j += 1
        return angles

    def _declarations(self, at: int, end: int, prefix: str) -> None:
        """Finds the functions of a namespace's or struct's body."""
        begin = at
        while at < end:
            word = self[at]
            if word == ";":
                begin = at + 1
            elif word == "(" and at in self.pair or word == "[" and at in self.pair:
                at = self.pair[at]
            elif word == "{" and at in self.pair:
                self._braces(begin, at, prefix)
                at = self.pair[at]
                if self[at + 1] not in (";", ",", ")"):
                    begin = at + 1
            at += 1

    def _braces(self, begin: int, brace: int, prefix: str) -> None:
        head = [self[i] for i in range(begin, brace)]
        close = self.pair[brace]
        name = self._function_name(begin, brace)
        if "namespace" in head or head[:1] == ["extern"] and len(head) == 2:
            self._declarations(brace + 1, close, prefix)
        elif {"struct", "class", "union"} & set(head) and not name:
            # struct Tiles : Base {; template <class T> struct Tiles<4> {
            at = max(i for i in range(begin, brace)
                     if self[i] in ("struct", "class", "union")) + 1
            while self.tokens[at].kind != "name" or self[at] in NO_FUNCTION:
                at = self.pair.get(at, at) + 1
                if at >= brace:
                    return
            self._declarations(brace + 1, close, f"{prefix}{self[at]}::")
        elif name and "=" not in head and "constexpr" != head[-1]:
            words = set(head)
            device = bool({"__global__", "__device__"} & words)
            if "constexpr" in words and not device:
                return  # like other constants, see docs/mutation.md
            index, text = name
            self.functions.append(
                Function(prefix + text, index + 1, brace, close, device))

    def _function_name(self, begin: int, brace: int) -> tuple[int, str] | None:
        at = begin
        while at < brace:
            if at in self.angles:
                at = self.angles[at]
            elif (self.tokens[at].kind == "name" and self[at + 1] == "("
                  and self[at] not in NO_FUNCTION):
                if self[at] == "operator":
                    return (self.pair[at + 1], "operator()")
                return (at, self[at])
            elif self[at] == "(" and at in self.pair:
                at = self.pair[at]
            at += 1
        return None


class _Body:
    """Reads one function's body into the Function."""

    def __init__(self, code: Code, function: Function):
        self.code, self.function = code, function
        self.names: list[set[str]] = [set()]
        for i in range(function.first, function.body):
            if code.tokens[i].kind == "name":
                self.names[0].add(code[i])
        self.block(function.body, function.end)
        self.constants()

    def block(self, brace: int, close: int) -> None:
        self.names.append(set())
        at = brace + 1
        while at < close:
            at = self.statement(at, close)
        self.names.pop()

    def see(self, first: int, last: int) -> None:
        for i in range(first, last + 1):
            self.function.scopes[i] = list(self.names)
            if self.code.tokens[i].kind == "name":
                self.names[-1].add(self.code[i])

    def statement(self, at: int, end: int) -> int:
        """Reads one; returns where the next one begins."""
        code, word = self.code, self.code[at]
        if word == "{":
            self.block(at, code.pair[at])
            return code.pair[at] + 1
        if word in (";", "else", "do", "}", "try"):
            return at + 1
        if word in ("case", "default"):
            while code[at] != ":":
                self.function.constant.add(at)
                at += 1
            return at + 1
        if word in ("if", "while", "switch", "for", "catch"):
            return self.control(at)
        return self.simple(at, end)

    def control(self, at: int) -> int:
        code, word = self.code, self.code[at]
        paren = at + 1
        is_constant = code[paren] == "constexpr"
        if is_constant:
            paren += 1
        close = code.pair[paren]
        inside = range(paren + 1, close)
        self.see(paren, close)
        if is_constant or word == "catch":
            self.function.constant.update(inside)
            return close + 1
        parts = self.split(paren + 1, close, ";")
        if word == "for" and len(parts) == 3:
            first, last = parts[1]
            name = self.loop_variable(parts[0])
            if first <= last:
                condition = Condition(first, last, "for")
                self.function.conditions.append(condition)
                self.function.loops.append((name, condition))
        elif word in ("if", "while"):
            first, last = parts[-1]
            declares = "=" in [code[i] for i in range(first, last + 1)]
            if not declares:
                self.pieces(first, last, word)
        self.lambdas(paren + 1, close)
        self.ternaries(paren + 1, close)
        return close + 1

    def loop_variable(self, part: tuple[int, int]) -> str:
        for i in range(part[0], part[1]):
            if self.code[i + 1] == "=":
                return self.code[i]
        return ""

    def pieces(self, first: int, last: int, where: str) -> None:
        """A condition, and what && and || put together in it."""
        found = [(first, last)]
        for sign in ("||", "&&"):
            found = [part for piece in found
                     for part in self.split(piece[0], piece[1] + 1, sign)]
        if "?" in [self.code[i] for i in range(first, last + 1)]:
            found = [(first, last)]
        for a, b in found:
            self.function.conditions.append(Condition(a, b, where))

    def split(self, first: int, end: int, sign: str) -> list[tuple[int, int]]:
        """The parts between signs that are in no brackets, as first and last token."""
        parts, at, begin = [], first, first
        while at < end:
            if self.code[at] in OPEN:
                at = self.code.pair[at]
            elif self.code[at] == sign:
                parts.append((begin, at - 1))
                begin = at + 1
            at += 1
        parts.append((begin, end - 1))
        return parts

    def simple(self, at: int, end: int) -> int:
        """A declaration or an expression, up to its semicolon."""
        code, function = self.code, self.function
        last = at
        while last < end and code[last] != ";":
            last = code.pair[last] if code[last] in OPEN else last
            last += 1
        last = min(last, end)
        statement = Statement(at, last, self.declared(at, last))
        self.see(at, last)
        if CONSTANT & {code[at], code[at + 1], code[at + 2]} or "__shared__" in (
                code[at], code[at + 1], code[at + 2], code[at + 3]):
            if code[at] != "throw":
                function.constant.update(range(at, last + 1))
        function.statements.append(statement)
        if statement.declares:
            self.extents(statement)
            if "bool" in (code[at], code[at + 1]):
                for i in range(at, last):
                    if code[i] == "=":
                        self.pieces(i + 1, last - 1, "bool")
                        break
        self.lambdas(at, last)
        self.ternaries(at, last)
        return last + 1

    def lambdas(self, first: int, last: int) -> None:
        """The statements of a lambda's body are statements."""
        at = first
        while at <= last:
            if self.code[at] == "{" and self.code[at - 1] in (")", "]", "mutable"):
                self.block(at, self.code.pair[at])
                at = self.code.pair[at]
            at += 1

    def ternaries(self, first: int, last: int) -> None:
        code = self.code
        for at in range(first, last + 1):
            if code[at] != "?":
                continue
            begin = at - 1
            while begin > first:
                if code[begin] in ENDS:
                    begin = code.pair[begin]
                elif code[begin] in (
                        "(", "[", "{", ",", ";", "=", "return", ":", "?", "+=", "-=",
                        "*=", "<<<", "<", "<<") and (
                            code[begin] != "<" or not code.tokens[begin].spaced):
                    break
                begin -= 1
            if begin > first or code[begin] in ("return", "(", ","):
                begin += 1
            if begin < at:
                self.pieces(begin, at - 1, "?")

    def declared(self, at: int, last: int) -> str:
        """The name that a statement declares; "" if it declares none."""
        code, i = self.code, at
        if code[at] in CONSTANT:
            return code[at + 1]
        while code[i] in SPECIFIERS or code[i] in ("__align__", "alignas"):
            i = code.pair[i + 1] + 1 if code[i + 1] == "(" else i + 1
        if code.tokens[i].kind != "name" or code[i] in KEYWORDS - {"auto", "decltype"}:
            return code[i] if i > at and code.tokens[i].kind == "name" else ""
        while code[i] in BUILTIN and code[i + 1] in BUILTIN:
            i += 1
        while i + 1 <= last:  # wb::Arguments<3>
            i += 1
            if i in code.angles:
                i = code.angles[i] + 1
            if code[i] != "::":
                break
            i += 1
        while code[i] in ("*", "&", "&&", "const", "__restrict__"):
            i += 1
        if code[i] == "[" and code[i - 1] in ("auto", "&"):  # auto [first, stride]
            return code[i + 1]
        if (code.tokens[i].kind == "name" and code[i] not in KEYWORDS
                and code[i + 1] in ("=", "(", "{", "[", ";", ",", ":")):
            return code[i]
        return ""

    def extents(self, statement: Statement) -> None:
        """float tile[4][D]: the extents are constants."""
        code = self.code
        for i in range(statement.first, statement.last):
            if code[i] == statement.declares and code[i + 1] == "[":
                at = i + 1
                while code[at] == "[":
                    self.function.constant.update(range(at, code.pair[at] + 1))
                    at = code.pair[at] + 1
                return

    def constants(self) -> None:
        """Template arguments, unevaluated operands, assembly, captures."""
        code, constant = self.code, self.function.constant
        for i in range(self.function.body, self.function.end):
            if i in code.angles:
                constant.update(range(i, code.angles[i] + 1))
            elif code[i] in ("sizeof", "alignof", "decltype") and code[i + 1] == "(":
                constant.update(range(i, code.pair[i + 1] + 1))
            elif code[i] == "asm":
                at = i + 1
                while code[at] != "(":
                    at += 1
                constant.update(range(i, code.pair[at] + 1))
            elif code[i] == "[" and i in code.pair and (
                    code.tokens[i - 1].kind != "name" and code[i - 1] not in (")", "]")
                    or code[i - 1] in KEYWORDS or code[i - 1] == "auto"):
                constant.update(range(i, code.pair[i] + 1))

