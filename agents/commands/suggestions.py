"""Suggestions: what may be meant by a command that there is not."""

from collections.abc import Iterator

import click

from turnsignal.stream.text.misspelt import nearest


class SuggestingGroup(click.Group):
    """A group that names the commands that are most like one that it does not have, those of its groups too."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; click says what is wrong, and this what may be meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchOption:
            raise
        except click.UsageError as error:
            if near := suggest(self, args[0]):
                error.message += f" Did you mean {' or '.join(f'`{ctx.command_path} {name}`' for name in near)}?"
            raise


def suggest(group: click.Group, typed: str) -> list[str]:
    """Return at most three commands of a group that are like a word, the nearest first.

    >>> suggest(SuggestingGroup(commands={"replay": click.Command("replay")}), "relpay")
    ['replay']
    """
    names = dict(_names(group))
    near = nearest(typed.lower(), names, 3)
    return [path for word in near for path in names[word]][:3]


def _names(group: click.Group) -> Iterator[tuple[str, list[str]]]:
    """Give each command's last word, and its paths: `check` is `suite check`."""
    names: dict[str, list[str]] = {}
    for name, command in group.commands.items():
        names.setdefault(name, []).insert(0, name)
        if isinstance(command, click.Group):
            for inner in command.commands:
                names.setdefault(inner, []).append(f"{name} {inner}")
    yield from names.items()
