"""Rendering: answers as pages for people. What strangers wrote is escaped, kept to itself, and hides nothing.

Everything but markup of ours goes through autoescape. Names and texts stand in elements of their own direction, so that
a right-to-left override in one cannot turn the words beside it, and characters that cannot be seen are spelled out.
There is no script, and the style is named to the browser by its digest: nothing else in a page would be followed.
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup, escape

from turnsignal.agents.pages.html import html_templates
from turnsignal.stream.text.signed import signed
from turnsignal.stream.text.visible import OF_TEXTS, visible

MAX_NAME = 300  #: characters of a name or an id that are shown
MAX_TEXT = 4_000  #: characters of a text that are shown
_HTML = "text/html"
_DIRECTIONS = (".", "..")  # parts of a path that are none
_PLAIN = re.compile(r"[\w .,:;()/@=%+-]{0,300}", re.ASCII)


@cache
def _environment() -> Environment:
    environment = html_templates("turnsignal.agents.pages", "templates")
    environment.globals["style"] = Markup(_style())
    environment.filters |= {
        "name": format_name,
        "text": format_text,
        "time": format_time,
        "figure": format_value,
        "signed": format_signed,
        "count": "{:,}".format,
        "path": quote_path,
    }
    return environment


@cache
def _style() -> str:
    templates = html_templates("turnsignal.agents.pages", "templates")
    assert templates.loader is not None, "they come from a package"
    return templates.loader.get_source(templates, "style.css.j2")[0].strip()


@cache
def style_policy() -> str:
    """Return the content security policy of a page: its own style, forms that come back here, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def wants_page(accept: str) -> bool:
    """Say whether an Accept header names pages, as browsers' do; all others get JSON."""
    return any(media.split(";", 1)[0].strip().lower() == _HTML for media in accept.split(","))


def render(template: str, answer: Mapping[str, Any]) -> bytes:
    """Draw an answer; a template sees it whole as `answer`."""
    return _environment().get_template(template).render(answer=answer).encode("utf-8", "backslashreplace")


def format_name(value: object) -> Markup:
    """Write a name or an id from a stranger, of bounded length, on one line.

    >>> format_name("<b>\\u202e")
    Markup('<bdi>&lt;b&gt;\\\\u202e</bdi>')
    """
    text = "" if value is None else str(value)
    if _PLAIN.fullmatch(text):  # as nearly all of them are, and a page has hundreds
        return Markup(f"<bdi>{text}</bdi>")
    shown = visible(text[:MAX_NAME]) + ("…" if len(text) > MAX_NAME else "")
    return Markup(f"<bdi>{escape(shown)}</bdi>")


def format_text(value: str, markers: Sequence[Sequence[int]] = ()) -> Markup:
    """Write a text from a stranger; markers: spans of citations in it, in order, which are highlighted."""
    parts, at = [], 0
    for start, end in markers:
        if at <= start < end <= MAX_TEXT:
            marked = escape(visible(value[start:end], OF_TEXTS))
            parts += [escape(visible(value[at:start], OF_TEXTS)), Markup("<mark>") + marked + Markup("</mark>")]
            at = end
    parts.append(escape(visible(value[at:MAX_TEXT], OF_TEXTS)))
    if len(value) > MAX_TEXT:
        parts.append(escape("…"))
    return Markup('<div class="text" dir="auto">') + Markup("").join(parts) + Markup("</div>")


def format_time(seconds: object) -> str:
    """Write an event time; strangers choose them, and some lie before the year 1 in UTC."""
    if not isinstance(seconds, int | float):
        return "–"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.0f} s"


def format_value(value: object) -> str:
    """Write a value or a mean; what is not scored is a dash, never 0.

    >>> format_value(0.5), format_value(None)
    ('0.500', '–')
    """
    return f"{value:.3f}" if isinstance(value, int | float) else "–"


def format_signed(value: object) -> str:
    """Write how much something moved."""
    return signed(value) if isinstance(value, int | float) else "–"


def quote_path(value: object) -> str:
    """Write an id as the last part of a path.

    No spelling of `.` and `..` reaches a server, as clients take them for directions: behind these stands a NUL, which
    no id has, and which `unquote_path` takes off.
    """
    text = str(value)
    return quote(text + "\0" if text in _DIRECTIONS else text, safe="", errors="replace")


def unquote_path(part: str) -> str:
    """Return the id that `quote_path` wrote. part: of a path, with its percent signs resolved."""
    return part[:-1] if part.endswith("\0") and part[:-1] in _DIRECTIONS else part
