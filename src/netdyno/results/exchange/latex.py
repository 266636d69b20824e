"""Any text as LaTeX that compiles: with every engine and font encoding, wherever the text stands."""

import unicodedata

ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip
# At the beginning of a row a bracket or a star would belong to the line break or the rule before it.
IN_BRACES = "[]*"
MEANINGS = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{character: f"{{{character}}}" for character in IN_BRACES},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ", "\u00a0": "~"},
    **{"–": "--", "—": "---", "…": r"\dots{}", "‘": "`", "’": "'", "“": "``", "”": "''", "ß": r"\ss{}", "ø": r"\o{}"},
    **{"±": r"$\pm$", "×": r"$\times$", "÷": r"$\div$", "−": "$-$", "·": r"$\cdot$", "→": r"$\to$"},
    **{"°": r"$^\circ$", "µ": r"$\mu$", "²": "$^2$", "³": "$^3$", "≤": r"$\leq$", "≥": r"$\geq$"},
}  # fmt: skip


def latex(text: str) -> str:
    """The text without meaning to LaTeX; a character that fonts may lack is named, such as [U+1F600]."""
    return "".join(map(_character, unicodedata.normalize("NFC", text)))


def _character(character: str) -> str:
    if character in MEANINGS:
        return MEANINGS[character]
    if " " <= character <= "~":
        return character
    base, mark = unicodedata.normalize("NFD", character)[:1], unicodedata.normalize("NFD", character)[1:]
    if mark in ACCENTS and base.isascii() and base.isalpha():
        letter = rf"\{base}{{}}" if base in "ij" and mark != "\u0327" else base
        return rf"\{ACCENTS[mark]}{{{letter}}}"
    return f"{{[}}U+{ord(character):04X}{{]}}"
