"""Texts that make somebody's parser slow, deep or wrong: a fixed list, repeated to any length, and hypothesis's own."""

from collections.abc import Callable

from hypothesis import strategies as st

#: one piece, repeated
PIECES = (
    *("[", "]", "|", "`", ">", "*", "_", "#", "<", "![", "{", "(", "<<"),
    *('"', "'", ".", "...", "!", "\\", "\n", " ", "\t", "\r\n", "***", "~~~"),
    *("a", "A.", "a.b.", "p. ", "P.", "no ", "not the ", "i mean ", "Part 1 ", "https://", "&#10;", "<br>", "<!--"),
    *("[1]", "[1] ", "[1, ", "[1-50] ", "a[1]", "[[]", "[doc_1", "(doc_1", "[^1]", "【", "【1†", "[a]("),
    *(
        "\nSources:\n[1] a",
        " Sources: [1]",
        "<sup>1</sup>",
        "［1］",
        "[1]-[3]",
        "\\[1\\]",
        '{": [1, 2]',
        "[1 & 2, p. 3] ",
        "[10:22] ",
    ),
    *("- a\n", "> - ", "```\n", "` `` ", "|-", "|a|b|\n", "|a|\n|-|\n", "|a|\n|-|\n\n"),
    *("\x00", "\u202e", "\u0300", "\ud800", "ß", "İ", "漢", "👩‍👩‍👧"),
)

#: what lets a text past the first glance of the Markdown checks
OPENERS = ("", "# a\n\n", "| a | b |\n|---|---|\n| ", "https://a.example [1] ")

#: short texts out of what has a meaning to some scorer
TEXTS = st.lists(st.sampled_from([*PIECES, "doc_1", "no", "Reset", "?", "1"]), max_size=30).map("".join) | st.text(
    max_size=80
)


_CUT = 7


def repeated(piece: str, size: int, opener: str = "") -> str:
    """Return a hostile text of at most `size` characters after its opener, cut within the piece in the same place.

    A text that ends elsewhere may be another kind of text: then two sizes tell nothing of growth.
    """
    cut = _CUT % len(piece)
    return opener + piece * ((size - cut) // len(piece)) + piece[:cut]


def table_of(columns: int, row: str) -> Callable[[int], str]:
    """Make a table of so many columns whose rows are all `row`."""
    head = "|a" * columns + "|\n" + "|-" * columns + "|\n"
    return lambda size: repeated(row + "\n", size, head)


#: what no repetition of a piece makes: a text of about `size` characters each
SHAPES: dict[str, Callable[[int], str]] = {
    **{
        f"table of {n} columns, rows {row!r}": table_of(n, row)
        for n in (5, 20, 30, 60, 200, 700)
        for row in ("|b", "b")
    },
    "nested brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "nested brackets of a link": lambda size: "[a](" + "(" * (size // 2) + ")" * (size // 2),
    "deep list": lambda size: "".join("  " * depth + "- a\n" for depth in range(int(max(size, 0) ** 0.5))),
    "deep quote": lambda size: "\n".join(">" * depth + " a" for depth in range(1, int((2 * max(size, 0)) ** 0.5))),
    "backticks of all lengths": lambda size: " ".join("`" * n for n in range(1, int((2 * max(size, 0)) ** 0.5))),
    "emphasis that never closes": lambda size: "*a **b " * (size // 7),
    "emphasis that closes late": lambda size: "*a " * (size // 6) + "b* " * (size // 6),
    "link definitions": lambda size: "".join(f"[{n}]: u\n" for n in range(size // 8)),
    "links by definition": lambda size: "[1]: u\n" + "[a][1] " * (size // 7),
    "footnotes": lambda size: "".join(f"[^{n}]" for n in range(size // 8)),
    "a bracket of digits": lambda size: "[" + "1" * size + "]",
    "brackets of 1,900 digits": lambda size: ("[" + "1" * 1900 + "]") * (size // 1902),
    "brackets of hexadecimals": lambda size: ("[" + "deadbeef-" * 200 + "]") * (size // 1802),
    "brackets of one-letter words": lambda size: ("[" + "a, " * 600 + "]") * (size // 1802),
    "brackets of ids": lambda size: ("[" + "doc_1, " * 280 + "]") * (size // 1962),
    "brackets of ranges": lambda size: ("[" + "1-50, " * 330 + "]") * (size // 1982),
    "brackets of times": lambda size: "".join(f"[{n}:22] " for n in range(size // 8))[:size],
    "brackets of pages": lambda size: "".join(f"[1 & 2, p. {n}] " for n in range(size // 15))[:size],
    "brackets of near ids": lambda size: ("[" + "Doc 1; " * 280 + "]") * (size // 1962),
    "labels with long blanks": lambda size: ("[source" + " " * 1900 + "]") * (size // 1908),
    "round brackets of words": lambda size: ("(a1, " + "b2, " * 48 + "c3)") * (size // 200),
    "an attribute that never closes": lambda size: "<a b='" + "c" * size,
    "tags": lambda size: "<a b='c' d=\"e\" f>" * (size // 17),
    "addresses": lambda size: "https://a.example/b?c=d " * (size // 24),
    "addresses in angle brackets": lambda size: "<https://a.example/b> " * (size // 22),
    "markers before addresses": lambda size: "[1](https://a.example/1) " * (size // 25),
    "lists of one item": lambda size: "- a\n\n1. b\n\n" * (size // 12),
    **{
        f"{depth} quotes, a line that goes on, {more} quoted ones": lambda size, depth=depth, more=more: repeated(
            ">" * depth + "\na\n" + ">>\n" * more, size
        )
        for depth, more in ((2, 0), (5, 0), (11, 0), (2, 50))
    },
    "lists in tabs": lambda size: repeated("-\t-\ta\n", size),
    "lists of a letter": lambda size: repeated("- a\n  - b\n    - c\n", size),
    "headings by underline": lambda size: repeated("a\n=\n", size),
    "emphasis of all kinds": lambda size: repeated("*_**__", size),
    "small tables": lambda size: repeated("|a|b|\n|-|-|\n|`c|\n\n", size),
    "small tables in quotes": lambda size: repeated("> |a|b|\n> |-|-|\n> |`c|\n>\n", size),
    "a ragged table in a list": lambda size: (
        "- a\n\n  " + "|a" * 60 + "|\n  " + "|-" * 60 + "|\n" + repeated("  |b\n", size)
    ),
    "a long bracket of ranges": lambda size: "[" + repeated("1-50, ", size) + "]",
    "quotes of lists": lambda size: "> - > - a\n" * (size // 10),
}
