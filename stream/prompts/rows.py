"""Rows: what the cells of a table's row say of the rule in one of them.

A rule may hold only where a cell beside it says so: under "Applies to", "When" or "Channel", and, right of a column of
rules, under any head that is not known to tell only why or whose it is.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))["patterns"])


def is_order(cell: str) -> bool:
    """Return whether a cell at a row's head is a rule, and not what the row is about."""
    return _SAYS["order"].search(cell) is not None


def is_ban(cells: list[str], columns: list[str]) -> bool:
    """Return whether a row forbids what it is about: "Emojis | Never" below "Topic | Rule"."""
    is_pair = len(cells) == len(columns) == 2 and _SAYS["denied"].fullmatch(cells[1]) is not None
    return is_pair and _SAYS["of_rules"].fullmatch(columns[1].strip("*_: ")) is not None


def narrows(cells: list[str], columns: list[str], rule: int) -> str:
    """Return what another cell of a row says of when its rule holds: "Applies to: SMS"; "" if none does.

    columns: their heads; rule: the index of the rule's cell. Right of a column of rules, one with an unknown head may
    narrow them, too.
    """
    heads = [column.strip("*_: ") for column in columns]
    is_known = rule < len(heads) and _SAYS["of_rules"].fullmatch(heads[rule]) is not None
    for index, (head, cell) in enumerate(zip(heads, cells, strict=False)):
        may_narrow = index > rule and is_known and _SAYS["beside_rules"].fullmatch(head) is None
        if index == rule or not (may_narrow or _SAYS["of_cases"].fullmatch(head) is not None):
            continue
        is_none = _SAYS["of_exceptions"].search(head) is not None and _SAYS["none"].fullmatch(cell) is not None
        is_platform = _SAYS["platform"].fullmatch(cell) is not None
        if cell and not is_none and not (is_platform and not index) and _SAYS["in_all_cases"].fullmatch(cell) is None:
            return cell if is_platform else f"{head}: {cell}"
    return ""
