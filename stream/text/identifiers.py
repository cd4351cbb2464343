"""Identifiers: find e-mail addresses, phone numbers, cards, IBANs and key-like secrets in a text.

A pattern finds candidates and a check rejects lookalikes: a card number must pass Luhn's check and an IBAN its own, a
phone number must not be a date, a version or an order number. The result depends on the text alone. Texts are bytes of
UTF-8; the cost is linear, because patterns run on RE2 and each candidate is checked once.

Not found: numbers in other digits than 0-9, addresses written out ("bob at example dot com"), names, passwords
that nothing announces.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import re2

VERSION = 4  #: raise it when a change finds other identifiers in the same text

Span = tuple[int, int]  #: bytes, end exclusive
Finder = Callable[[bytes], Iterator[Span]]

_GAP = r"[ \x{A0}\x{2011}.()/-]"
_DIGIT = b"0123456789"
_DIGITS = re.compile(rb"\d+")
_DATE = re.compile(
    rb"(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d|\d{1,2}[-/.]\d{1,2}[-/.]\d|(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d"
)
_ABOUT_A_THING = re.compile(
    rb"(?i)(?:order|invoice|ticket|case|ref(?:erence)?|tracking|serial|isbn|sku|part|item|version|article|artikel|"
    rb"bestell(?:ung)?|rechnung|auftrag|sendung|vorgang)s?[ -]?(?:no|nr|number|nummer|id|code)?s?"
    rb"[ .:#=]{0,3}(?:is |ist )?\Z"
)


def compile_pattern(pattern: str) -> Any:
    """Compile an RE2 expression for bytes of UTF-8; raises re2.error."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _any_of(*patterns: Any) -> Any:
    """Compile what tells in one search whether any of some patterns matches: mostly none does."""
    return compile_pattern("|".join(f"(?:{pattern.pattern})" for pattern in patterns))


def _count_digits(data: bytes) -> int:
    return len(data) - len(data.translate(None, _DIGIT))  # a tenth of what counting by an expression takes


# -- e-mail ------------------------------------------------------------------------------------------------------------

_EMAIL = compile_pattern(r"[\pL\pN._%+'-]*[\pL\pN_%+-](?:@|\x{FF20}|%40)(?:[\pL\pN-]+\.)+\pL{2,}")
_AT = (b"@", "\uff20".encode(), b"%40")  #: as it is, at full width, and as a URL spells it
_REPOSITORIES = (b"git@", b"hg@", b"svn@")


def find_emails(data: bytes) -> Iterator[Span]:
    """Yield e-mail addresses; `git@github.com:…` is a repository, not an address."""
    if not any(sign in data for sign in _AT):
        return
    for match in _EMAIL.finditer(data):
        start, end = match.span()
        if not (data.startswith(_REPOSITORIES, start) and data[end : end + 1] in (b":", b"/")):
            yield start, end


# -- phone -------------------------------------------------------------------------------------------------------------

_ABROAD = compile_pattern(rf"(?:\+|\b00)[1-9](?:{_GAP}{{0,3}}\d){{6,20}}")
_AREA = r"(?:[2-4]0[1-9]|[2-4][1-9]\d|[5-9]\d\d)"  #: 200, 300 and 400 are none
_NORTH_AMERICAN = compile_pattern(rf"(?:\b1[ .-])?(?:\({_AREA}\) ?|\b{_AREA}[ .-])\d{{3}}[ .-]\d{{4}}")
_TRUNK = compile_pattern(rf"(?:\(0\d{{1,5}}\)|\b0[1-9]\d{{0,4}})(?:{_GAP}{{1,3}}\d{{2,9}}){{1,5}}")
_ANNOUNCED = compile_pattern(
    r"(?i)\b(?:tel|telephone|telefon|phone|mobile|mobil|cell|handy|fax|call|whatsapp|sms|rufnummer)"
    r"(?:[ -]?(?:number|nummer|no|nr|me|us|him|her|at|on|is|ist|unter)\b){0,3}[ .:#=]{1,4}"
    rf"(\(?\d(?:{_GAP}{{0,3}}\d){{6,14}})"
)
_PHONE = _any_of(_ABROAD, _NORTH_AMERICAN, _TRUNK, _ANNOUNCED)
_PHONE_DIGITS = 7  #: the fewest of one


def find_phones(data: bytes) -> Iterator[Span]:
    """Yield phone numbers: with a country code, in the North American form, with a trunk 0, or after a word like "tel".

    Bare digits are a phone number only after such a word.
    """
    if _count_digits(data) < _PHONE_DIGITS or _PHONE.search(data) is None:
        return
    for match in _ABROAD.finditer(data):
        if (end := _end_abroad(data, *match.span())) is not None:
            yield match.start(), end
    for match in _NORTH_AMERICAN.finditer(data):
        start, end = match.span()
        if _stands_alone(data, start, end) and not _is_of_a_thing(data, start):
            yield start, end
    for match in _TRUNK.finditer(data):
        if (end := _end_after_trunk(data, *match.span())) is not None:
            yield match.start(), end
    for match in _ANNOUNCED.finditer(data):
        start, end = match.span(1)
        if _stands_alone(data, start, end) and not _DATE.match(data, start):
            yield start, end


def _end_abroad(data: bytes, start: int, end: int) -> int | None:
    """Return the end of a number with a country code; None if it is not a phone number."""
    if data[max(0, start - 1) : start].isalnum():
        return None
    if data[start : start + 1] == b"0" and (data[start:end].isdigit() or _goes_on(data, start)):
        return None
    groups = [match.span() for match in _DIGITS.finditer(data, start, end)]
    if data[start : start + 1] == b"0":
        groups[0] = (groups[0][0] + 2, groups[0][1])
    code = data[slice(*groups[0])]
    if len(groups) > 1 and (len(code) > 4 or (len(code) == 1 and code not in (b"1", b"7"))):
        return None
    area = groups[1] if code == b"1" and len(groups) > 1 else (groups[0][0] + 1, groups[0][1])
    if code[:1] == b"1" and (area[1] - area[0] not in (3, 10) or data[area[0]] in b"01"):  # `+100000000 points`
        return None
    return _cut(data, groups, 8, 11 if code == b"1" else 15)


def _end_after_trunk(data: bytes, start: int, end: int) -> int | None:
    """Return the end of a number with a trunk 0; None if it is a date, an IP address or an order number."""
    if _goes_on(data, start) or _is_of_a_thing(data, start):
        return None
    groups = [match.span() for match in _DIGITS.finditer(data, start, end)]
    lengths = [last - first for first, last in groups]
    if lengths[:4] == [3] * 4 and data[groups[0][1] : groups[0][1] + 1] == b".":  # an IP address
        return None
    if data[start : start + 1] != b"(" and lengths[0] < 3:  # may be a date; such a phone number has five pairs
        if lengths[:5] != [2] * 5 or len({data[last : last + 1] for _, last in groups[:4]}) > 1:
            return None
        groups = groups[:5]
    return _cut(data, groups, 9, 12)


def _cut(data: bytes, groups: list[Span], least: int, most: int) -> int | None:
    """Return the end of the longest run of whole groups, from the first, with `least` to `most` digits."""
    end, digits = None, 0
    for first, last in groups:
        digits += last - first
        if digits > most:
            break
        if digits >= least:
            end = last
    return None if end is None or data[end : end + 1].isalpha() else end


_BINDING = (
    b".",
    b"-",
    b"/",
    b"#",
    b"=",
    b"$",
    b"&",
    b"+",
    b"_",
    b"%",
    b"?",
)  #: characters that join a number to the text before it


def _goes_on(data: bytes, start: int) -> bool:
    """Return whether a number continues the text before it: a word, a path, or a longer number."""
    before = data[max(0, start - 1) : start]
    return before.isalnum() or before in _BINDING or (before == b" " and data[max(0, start - 2) : start - 1].isdigit())


def _is_of_a_thing(data: bytes, start: int) -> bool:
    """Return whether the word before a number says that it is an order, ticket or version number."""
    before = data[max(0, start - 32) : start]
    # The search restarts at each byte, so skip it when no word comes before.
    return before.rstrip(b" .:#=-")[-1:].isalpha() and _ABOUT_A_THING.search(before) is not None


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether a number is not part of a longer number, a word or a path."""
    before, after = data[max(0, start - 1) : start], data[end : end + 2]
    if before.isalnum() or before in _BINDING or after[:1].isalnum() or after[:1] == b"_":
        return False
    return not (after[:1] in (b".", b"-", b"/") and after[1:].isdigit())


# -- card --------------------------------------------------------------------------------------------------------------

_CARD = compile_pattern(r"\b\d(?:(?:[ \x{A0}]{1,2}|[.\x{2010}-\x{2015}-]| ?\r?\n ?)?\d){12,}")
_CARD_DIGITS, _MOST_CARD_DIGITS = 13, 19  #: the fewest of one, and the most
_GROUPS = 6  #: of digits that a card is written in, at most
_NO_DIGITS = bytes(byte for byte in range(256) if not 48 <= byte <= 57)
_ISSUERS = re.compile(
    rb"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[3-9]|[3-6]\d|7[01])\d{13}|2(?:22[1-9]|720)\d{12}|3[47]\d{13}"
    rb"|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12,15}|(?:6011|65\d\d|64[4-9]\d|62\d\d)\d{12,15}"
    rb"|(?:50|5[6-8]|63|67)\d{14,17}"
)  #: Visa, Mastercard, American Express, Diners Club, JCB, Discover, UnionPay, Maestro: first digits and lengths


#: digits → what each counts in Luhn's sum, and each that is doubled there
_VALUE = bytes.maketrans(b"0123456789", bytes(range(10)))
_DOUBLED = bytes.maketrans(b"0123456789", bytes([0, 2, 4, 6, 8, 1, 3, 5, 7, 9]))
_FIRST = frozenset(b"23456")  #: digits that a card begins with, after `_ISSUERS`


def find_cards(data: bytes) -> Iterator[Span]:
    """Yield payment card numbers: an issuer's first digits and length, and Luhn's check."""
    if _count_digits(data) < _CARD_DIGITS:
        return
    for match in _CARD.finditer(data):
        start, end = match.span()
        if data[max(0, start - 1) : start] in (b".", b"-", b"/"):  # of a decimal, an id, a path
            continue
        groups = [group.span() for group in _DIGITS.finditer(data, start, end)]
        after = 0
        for number, (first, _) in enumerate(groups):
            if first >= after and data[first] in _FIRST and (last := _card_from(data, groups, number)) is not None:
                after = last
                yield first, last


def _card_from(data: bytes, groups: list[Span], number: int) -> int | None:
    """Return the end of the card that begins with a group; digits are only put together where there are enough."""
    length, lines, start, before = 0, 1, groups[number][0], -1
    for first, last in groups[number : number + _GROUPS]:
        gap, least = data[before:first] if length else b" ", 3  # nobody writes single digits
        if gap != b" ":
            least += gap == b"."  # dots stand between thousands, too
            lines += b"\n" in gap  # a card goes over two of them at most, a column of numbers over more
        before, length = last, length + last - first
        if lines > 2 or last - first < least or length > _MOST_CARD_DIGITS:
            return None
        if length >= _CARD_DIGITS:
            digits = data[start:last].translate(None, _NO_DIGITS)
            if _ISSUERS.fullmatch(digits) and _luhn(digits) and not data[last : last + 1].isalpha():
                return last
    return None


def _luhn(digits: bytes) -> bool:
    """Check digits by Luhn's sum (ISO/IEC 7812-1)."""
    return (sum(digits[::-2].translate(_VALUE)) + sum(digits[-2::-2].translate(_DOUBLED))) % 10 == 0


# -- IBAN --------------------------------------------------------------------------------------------------------------

_IBAN = compile_pattern(r"(?i)\b[A-Z]{2}\d{2}(?:[ \x{A0}-]?[A-Z0-9]){11,30}")
_IBAN_DIGITS = 2  #: behind the country, that it is checked by
_ALNUM = re.compile(rb"[A-Za-z0-9]")
_BETWEEN = bytes(byte for byte in range(256) if _ALNUM.match(bytes([byte])) is None)
_VALUES = str.maketrans({chr(letter): str(letter - 55) for letter in range(65, 91)})  # A is 10, Z is 35
#: Characters of an IBAN → countries, after the SWIFT registry.
_COUNTRIES = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTHS = {country.encode(): length for length, countries in _COUNTRIES.items() for country in countries.split()}


def find_ibans(data: bytes) -> Iterator[Span]:
    """Yield account numbers: a country's length, and the check by 97 (ISO 13616)."""
    if _count_digits(data) < _IBAN_DIGITS:
        return
    at = 0
    while (match := _IBAN.search(data, at)) is not None:
        start, end = match.span()
        at = start + 4
        length = _LENGTHS.get(data[start : start + 2].upper(), 0)
        if not length:
            continue
        iban = data[start:end].translate(None, _BETWEEN)[:length]
        if len(iban) == length and _by_97(iban):
            last = next(islice(_ALNUM.finditer(data, start, end), length - 1, None)).end()
            if not data[last : last + 1].isalnum():
                at = last
                yield start, last


def _by_97(iban: bytes) -> bool:
    return int((iban[4:] + iban[:4]).decode().upper().translate(_VALUES)) % 97 == 1


# -- secrets -----------------------------------------------------------------------------------------------------------

_SECRET = compile_pattern(
    r"\b(?:[spr]k[-_][A-Za-z0-9_-]{20,}|(?:AKIA|ASIA)[0-9A-Z]{16}\b|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{20,}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}|(?:hf|gsk|npm|r8)_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}"
    r"|do[opr]_v1_[0-9a-f]{60,}|SG\.[\w-]{16,}\.[\w-]{16,}|whsec_[A-Za-z0-9+/]{20,}|ya29\.[\w-]{20,}|key-[0-9a-f]{32}\b"
    r"|hooks\.slack\.com/services/[\w/]{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
_BEARER = compile_pattern(
    r"(?i)(?:\bbearer[ :]{1,3}|\bauthorization[\"']?: ?[\"']?(?:basic|token|digest|api-?key) )([\w.~+/-]{16,}={0,2})"
)
#: announced by its name, also at the end of a variable's: DB_PASSWORD, AWS_SECRET_ACCESS_KEY
_ASSIGNED = compile_pattern(
    r"(?i)(?:(?:password|passwd|pwd|passwort|kennwort)[\"']?(?: is | ist | lautet )|(?:--password|<password>)\s?"
    r"|(?:password|passwd|pwd|passwort|kennwort|_pass|(?:api|access|account|secret|private|encryption|signing|auth)"
    r"[_ -]?(?:key|token)|shared[_ -]?access[_ -]?key|(?:\b|_)secret|(?:\b|_)token)"
    r"[\"']?(?:: {0,2}| ?:?= ?| ?=> ?))"
    r"[\"']?([A-Za-z0-9+/_.!@#$%^&~=-]{8,})"
)
_COOKIE = compile_pattern(
    r"(?i)\b(?:set-)?cookie[\"']?: {0,2}[\"']?([\w.$-]{1,64}=[^\s;\"']+(?:; ?[^\s=;\"'][^\r\n;\"']*)*)"
)
_IN_URL = compile_pattern(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/@:]{0,64}:([^\s/@]{1,128})@")
_KEY = _any_of(_SECRET, _BEARER, _ASSIGNED, _COOKIE)
_LETTER = re.compile(rb"[A-Za-z]")


def find_secrets(data: bytes) -> Iterator[Span]:
    """Yield keys and tokens with a vendor's prefix, JWTs, bearer tokens, private keys, and what is assigned to one.

    An assigned value (`password: …`) has a letter and a digit: prose behind such a word has none. Whatever stands for
    a password in a URL is one, and so are all values of a cookie's header.
    """
    for match in _IN_URL.finditer(data) if b"://" in data else ():
        yield match.span(1)
    if not _count_digits(data) or _KEY.search(data) is None:
        return
    for match in _SECRET.finditer(data):
        start, end = match.span()
        if _DIGITS.search(data, start, end) is not None:  # `sk-learn-compatible-estimators` is a word
            yield start, end
    for match in _BEARER.finditer(data):
        start, end = match.span(1)
        if _DIGITS.search(data, start, end) is not None:
            yield start, end
    for match in _ASSIGNED.finditer(data):
        start, end = match.span(1)
        if _DIGITS.search(data, start, end) is not None and _LETTER.search(data, start, end) is not None:
            yield start, end
    for match in _COOKIE.finditer(data):
        start, end = match.span(1)
        if _DIGITS.search(data, start, end) is not None:
            yield start, end


#: kind → its finder; if matches overlap, the earlier kind names the replacement
FINDERS: dict[str, Finder] = {
    "secret": find_secrets,
    "email": find_emails,
    "iban": find_ibans,
    "card": find_cards,
    "phone": find_phones,
}
