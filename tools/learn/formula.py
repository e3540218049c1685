"""Formulas for a terminal: KaTeX's source as readable Unicode.

    \\frac{e^{s_j}}{\\sum_l e^{s_l}}    ->    e^(sⱼ)/(∑ₗ e^(sₗ))
"""

import re

TOKEN = re.compile(r"\\[A-Za-z]+\s*|\\.|\s+|.", re.DOTALL)

# With a blank on both sides, however they were typed.
RELATIONS = {
    "cdot": "·", "times": "×", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠",
    "neq": "≠", "approx": "≈", "pm": "±", "oplus": "⊕", "bmod": "mod", "to": "→",
    "rightarrow": "→", "leftarrow": "←", "Rightarrow": "⇒", "in": "∈", "ll": "≪",
    "gg": "≫", "equiv": "≡", "sim": "∼", "propto": "∝", "mid": "|", "land": "∧",
    "lor": "∨", "cup": "∪", "cap": "∩", "subset": "⊂", "div": "÷", "mapsto": "↦"}
SYMBOLS = {
    "infty": "∞", "dots": "…", "ldots": "…", "cdots": "⋯", "partial": "∂", "nabla": "∇",
    "forall": "∀", "exists": "∃", "emptyset": "∅", "ell": "ℓ", "prime": "′",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε",
    "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "quad": "\u2003", "qquad": "\u2003", "colon": ":"}
OPERATORS = {"sum": "∑", "prod": "∏", "int": "∫"} | {
    name: name for name in ("log", "ln", "exp", "min", "max", "sin", "cos", "tanh")
}
OPENING = {"lfloor": "⌊", "lceil": "⌈", "lvert": "|", "langle": "⟨", "lVert": "‖"}
CLOSING = {"rfloor": "⌋", "rceil": "⌉", "rvert": "|", "rangle": "⟩", "rVert": "‖"}
ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "vec": "\u20d7",
           "overline": "\u0305", "dot": "\u0307"}
TEXTS = ("text", "texttt", "textbf", "textit", "mathrm", "mathbf", "mathit", "mathtt",
         "mathcal", "operatorname", "mathrel", "mathop")
SPACES = {",": " ", ";": " ", ":": " ", " ": " ", "!": "", "\\": "\n"}

SUPERSCRIPTS = dict(
    zip("0123456789+−-()nixTt",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿⁱˣᵀᵗ"))
SUBSCRIPTS = dict(
    zip("0123456789+−aehijklmnoprstuvx",
        "₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"))


def readable(source: str) -> str:
    """The formula in Unicode; more than one line only where the source says so."""
    text = _Reader(source).group()
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r" ?\u2003 ?", "   ", text)
    return "\n".join(line.strip() for line in text.split("\n"))


class _Reader:
    """Reads a formula once from left to right."""

    def __init__(self, source: str):
        self.tokens = TOKEN.findall(source.strip().replace("{,}", ","))
        self.next = 0

    def take(self) -> str:
        token = self.tokens[self.next] if self.next < len(self.tokens) else ""
        self.next += 1
        return token

    def group(self) -> str:
        """Up to the closing brace, or to the end."""
        text = ""
        while (token := self.take()) and token != "}":
            if token in ("^", "_"):
                text = text.rstrip(" ") + self.script(token)
                if re.search(r"(∑|∏|∫|log|ln|exp|min|max)\S*$", text):
                    text += "" if self.is_before("(", "_", "^") else " "
            elif token.strip() in ("\\right", "\\left"):
                continue
            elif token[1:].strip() in CLOSING or token in (")", "]"):
                text = text.rstrip(" ") + self.atom(token)
            else:
                text += self.atom(token)
        return text

    def is_before(self, *signs: str) -> bool:
        rest = "".join(self.tokens[self.next : self.next + 3])
        return re.sub(r"^\s*(\\left)?\s*", "", rest).startswith(signs)

    def argument(self) -> str:
        """What a command or a script applies to: a group or a single token."""
        while (token := self.take()).isspace():
            pass
        return self.group() if token == "{" else self.atom(token)

    def atom(self, token: str) -> str:
        if token == "{":
            return self.group()
        if not token.startswith("\\") or len(token) < 2:
            return {"-": "−", "&": "", "~": " ", "*": "∗"}.get(token, token)
        name = token[1:].strip()
        if not name.isalpha():
            return SPACES.get(token[1:], token[1:])
        if name in RELATIONS:
            return f" {RELATIONS[name]} "
        if name in OPERATORS:
            return OPERATORS[name] + ("" if self.is_before("(", "_", "^") else " ")
        if name in ("frac", "tfrac", "dfrac"):
            above, below = self.argument(), self.argument()
            return f"{_bracketed(above)}/{_bracketed(below)}"
        if name == "sqrt":
            return "√" + _bracketed(self.argument())
        if name in ACCENTS:
            return "".join(sign + ACCENTS[name] for sign in self.argument())
        if name in TEXTS:
            return self.text()
        if name in ("begin", "end"):
            self.text()
            return ""
        if name in SYMBOLS and token[-1].isspace() and self.is_before("-", "+", "="):
            return SYMBOLS[name] + " "
        if name in CLOSING and token[-1].isspace():
            return CLOSING[name] + " "
        return {**SYMBOLS, **OPENING, **CLOSING}.get(name, name)

    def text(self) -> str:
        """An argument taken word for word."""
        if self.take() != "{":
            self.next -= 1
            return self.argument()
        words = ""
        while (token := self.take()) and token != "}":
            words += token.removeprefix("\\") if len(token) == 2 else token
        return words

    def script(self, sign: str) -> str:
        """A superscript or subscript, in small signs where Unicode has them."""
        text = self.argument().strip()
        signs = SUPERSCRIPTS if sign == "^" else SUBSCRIPTS
        small = re.fullmatch(r"[+−-]?\d+|.|[a-z]{2}", text)
        if small and all(c in signs for c in text):
            return "".join(signs[c] for c in text)
        return sign + (text if re.fullmatch(r"[A-Za-z0-9]+|.", text) else f"({text})")


def _bracketed(text: str) -> str:
    """In brackets, unless it cannot be misread without."""
    text = text.strip()
    return text if re.fullmatch(r"[\w.,∞√]+|\([^()]*\)", text) else f"({text})"
