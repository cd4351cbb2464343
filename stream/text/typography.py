"""Typography: the signs of a text as they are typed on a keyboard.

Models differ in whether they write “isn’t” or "isn't", and no instruction means the one without the other.
"""

#: sign as typed → its typographic forms, each one character, so that spans stay where they are
_FORMS = {
    "'": "‘’‚‛ʼ＇",
    '"': "“”„‟«»＂",
    " ": "\u00a0\u202f\u2007",
    "-": "\u2010\u2011",
}
_PAIRS = [(form, sign) for sign, forms in _FORMS.items() for form in forms]


def typed(text: str) -> str:
    """Return a text with straight quotation marks and apostrophes, and breaking spaces and hyphens; of the same length.

    >>> typed("“It isn’t”")
    '"It isn\\'t"'
    """
    if not text.isascii():
        for form, sign in _PAIRS:
            text = text.replace(form, sign)
    return text
