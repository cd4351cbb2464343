"""`turnsignal topics …` and `turnsignal forget`: what is on the broker, and setting it right."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from turnsignal.agents.app_table import APPS
from turnsignal.agents.commands.options import FILE, JSON, open_console, print_json, reach_settings, shown_progress
from turnsignal.agents.commands.suggestions import SuggestingGroup
from turnsignal.agents.process.exits import EXIT_FAILED
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.text.counts import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnsignal.agents.kafka.forgetting import Remains
    from turnsignal.agents.kafka.topics import Described
    from turnsignal.agents.settings import Settings

Wanted = Literal["earliest", "latest", "accept", "state"]

APP = click.argument("app", type=click.Choice([*APPS]))
_PARTITIONS = (
    "Partitions are no setting: raise those of the turns with Kafka's own tools, then `turnsignal topics repair APP"
    " --align` gives the other topics as many."
)


@click.group(cls=SuggestingGroup, epilog="Example: turnsignal topics create")
def topics() -> None:
    """Make and inspect turnsignal's topics on TURNSIGNAL_BROKERS."""


@topics.command(
    short_help="Make the topics that are not there.",
    epilog="Example: TURNSIGNAL_PARTITIONS=12 turnsignal topics create",
)
@JSON
def create(*, as_json: bool) -> None:
    """Make the topics that are not there; those that are there stay as they are.

    Partitions, replication and retention come from TURNSIGNAL_PARTITIONS, TURNSIGNAL_REPLICATION and
    TURNSIGNAL_RETENTION_….
    """
    from turnsignal.agents.kafka.topics import create_topics

    created = create_topics(reach_settings())
    if as_json:
        print_json([{"topic": topic.name, "state": topic.state, "detail": topic.detail} for topic in created])
        return
    for topic in created:
        click.echo(f"{topic.state:8} {topic.name}" + (f"  ({topic.detail})" if topic.detail else ""))
    if any(topic.state == "differs" for topic in created):
        click.echo("Those that differ were left as they are; `turnsignal topics update` changes settings.", err=True)
        click.echo(_PARTITIONS, err=True)


@topics.command(
    short_help="Give topics the settings that `create` would give them.",
    epilog="Example: TURNSIGNAL_RETENTION_TURNS=3d turnsignal topics update --dry-run",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; show what would be changed.")
@JSON
def update(*, dry_run: bool, as_json: bool) -> None:
    """Give the topics that are there the settings that `create` would give them.

    Retention, compaction and in-sync replicas, as TURNSIGNAL_… say; workers may go on meanwhile. Where a retention
    becomes shorter, the broker deletes what is older within minutes. Partitions and replicas stay as they are: see
    `turnsignal topics repair --align`, and Kafka's own tools for replicas.
    """
    from turnsignal.agents.kafka.topics import update_topics

    altered = update_topics(reach_settings(), dry_run=dry_run)
    if as_json:
        names = ("topic", "setting", "before", "after")
        print_json([dict(zip(names, change, strict=True)) for change in altered])
        return
    for topic, setting, before, after in altered:
        click.echo(f"{'would change' if dry_run else 'changed'} {topic}: {setting}: {before} → {after}")
    if not altered:
        click.echo(f"All settings are as wanted. {_PARTITIONS}")


@topics.command(
    short_help="Show every topic and the rights that workers need.", epilog="Example: turnsignal topics show"
)
@JSON
def show(*, as_json: bool) -> None:
    """Show every topic beside what the settings want, and the access rights that a worker needs.

    Exit code 1 when a topic is absent, or this user may not see it.
    """
    from turnsignal.agents.kafka.topics import describe_topics

    settings = reach_settings()
    described = describe_topics(settings)
    if as_json:
        print_json({"topics": [_as_json(topic) for topic in described], "rights": _rights(settings)})
    else:
        _show_tables(settings, described)
    if absent := [topic.name for topic in described if not topic.partitions]:
        which = f"{count_of(len(absent), 'topic')} absent, or not to be seen by this user (DESCRIBE)"
        click.echo(f"{which}: `turnsignal topics create` makes what is absent.", err=True)
        raise SystemExit(EXIT_FAILED)


def _as_json(topic: "Described") -> dict[str, object]:
    differs = {key: {"wanted": wanted, "found": actual} for key, (wanted, actual) in topic.differs.items()}
    records = sum(high - low for low, high in topic.offsets.values())
    known = {"topic": topic.name, "partitions": topic.partitions, "replication": topic.replication}
    return known | {"records": records, "differs": differs}


def _rights(settings: "Settings") -> dict[str, list[dict[str, object]]]:
    from turnsignal.agents.kafka.topics import rights

    return {app: [right._asdict() for right in rights(settings, app)] for app in APPS}


def _show_tables(settings: "Settings", described: "Sequence[Described]") -> None:
    from rich.table import Table

    from turnsignal.agents.kafka.topics import rights

    table = Table("topic", "partitions", "replication", "records", "differs (wanted / found)")
    for topic in described:
        differs = "\n".join(f"{key}: {wanted} / {actual}" for key, (wanted, actual) in topic.differs.items())
        records = sum(high - low for low, high in topic.offsets.values())
        cells = (str(topic.partitions), str(topic.replication), f"{records:,}") if topic.partitions else ("-", "-", "-")
        table.add_row(topic.name, *cells, differs or "-")
    console = open_console()
    console.print(table)
    for app in APPS:
        access = Table("resource", "name", "operations", title=f"Rights of {app}", title_justify="left")
        for right in rights(settings, app):
            access.add_row(right.resource, right.name + ("*" if right.prefixed else ""), ", ".join(right.operations))
        console.print(access)


@topics.command(
    short_help="Set positions, or drop damaged state; stop the workers first.",
    epilog="Example: turnsignal topics repair score --to earliest",
)
@APP
@click.option(
    "--to",
    metavar="earliest|latest|accept|state|OFFSET",
    help="Where to go on; accept: where it stands, or the earliest where that is gone; state: where the state is.",
)
@click.option("--in", "partition", metavar="TOPIC-PARTITION", help="The partition that an OFFSET is meant for.")
@click.option("--align", is_flag=True, help="Give topics that need equal partition counts as many as the largest has.")
@click.option(
    "--drop-unreadable",
    is_flag=True,
    help="Drop entries of the state that no version reads, batches that nobody can unpack, and what they knew: of a"
    " conversation (score), a series or an incident (watch), a partition's budget and its calls under way (judge)."
    " Batches need the rights ALTER_CONFIGS and DELETE on the state's topic.",
)
@click.option(
    "--drop-newer",
    is_flag=True,
    help="Drop entries that say that a newer version wrote them, where none has ever run: damaged, too. Otherwise run"
    " that version. Positions stay as they are, but with --to or --align.",
)
def repair(
    app: str, *, to: str | None, partition: str | None, align: bool, drop_unreadable: bool, drop_newer: bool
) -> None:
    """Set an app's positions after a topic was recreated, expired or given partitions, or drop state that is damaged.

    Stop its workers first.
    """
    from turnsignal.agents.worker.repair import align_partitions
    from turnsignal.agents.worker.repair import repair as set_positions

    drops = drop_unreadable or drop_newer
    if to is None and not (align or drops):
        msg = "say what to repair: --to earliest|latest|accept|state|OFFSET, --align, --drop-unreadable or --drop-newer"
        raise click.UsageError(msg)
    settings = reach_settings()
    if drops:
        _drop(settings, app, damaged=drop_unreadable, newer=drop_newer)
        if to is None and not align:
            return
    if align:
        raised = align_partitions(settings)
        for name, count in raised.items():
            click.echo(f"{name} now has {count} partitions")
        if not raised:
            click.echo("All partition counts are equal already.")
    # New partitions change the metadata that commits carry, so an alignment without --to accepts what stands.
    for change in set_positions(settings, app, _target(to or "accept", partition)):
        before = "nothing" if change.before is None else change.before
        click.echo(f"{change.topic}-{change.partition}: {before} → {change.after}")


def _drop(settings: "Settings", app: str, *, damaged: bool, newer: bool) -> None:
    """Drop what is not read of the state, and say what that is, and what is left."""
    from turnsignal.agents.worker.repair import drop_unreadable

    unread = drop_unreadable(settings, app, damaged=damaged, newer=newer)
    for each in unread.dropped:
        click.echo(f"partition {each.partition}: dropped {each.key_or_offsets}: {each.wrong}")
    for option, left in (("--drop-unreadable", unread.damaged), ("--drop-newer", unread.newer)):
        for each in left:
            click.echo(f"partition {each.partition}: left {each.key_or_offsets}: {each.wrong}")
        if left:
            click.echo(f"{len(left):,} left, which {option} drops.")
    if not any(unread):
        click.echo("Every entry of the state reads as one.")


def _target(to: str, partition: str | None) -> Wanted | Mapping[tuple[str, int], int]:
    if to in ("earliest", "latest", "accept", "state"):
        return cast("Wanted", to)
    match = re.fullmatch(r"(.+)-(\d+)", partition or "")
    if not to.isdigit() or match is None:
        msg = (
            "--to: expected earliest, latest, accept, state, or an offset together with --in TOPIC-PARTITION;"
            f" got {to!r}{f' in {partition!r}' if partition else ''}"
        )
        raise ConfigError(msg)
    return {(match[1], int(match[2])): int(to)}


@click.command(
    short_help="Erase a conversation, or all of a user's.",
    epilog="Example: turnsignal forget c-42, or: turnsignal forget --user u-7 --dry-run",
)
@click.argument("conversation_id", required=False)
@click.option("--user", "user_id", metavar="ID", help="Forget every conversation with a turn of this user_id.")
@click.option(
    "--hash-users",
    "user_key",
    type=FILE,
    help="The secret with which `produce --hash-users` made digests of user ids: finds the user by theirs.",
)
@click.option("--dry-run", is_flag=True, help="Ask for nothing; show what would be forgotten.")
@JSON
def forget(
    *, conversation_id: str | None, user_id: str | None, user_key: Path | None, dry_run: bool, as_json: bool
) -> None:
    """Erase a conversation, or all of a user's: the state in the workers, the summary on the compacted topic.

    The workers do it as soon as they read the request. What was written before (turns, scores) stays until the broker
    deletes it; what and until when is printed. Turns that come later, or that workers have not read yet, begin the
    conversation anew: stop its source and wait for the lag to be 0 first.

    What is queued about it for judges is not sent any more, nor is a verdict on it written, from about a second after
    the request on, or from the start of a judge worker that does not run now. What was sent before is with the
    endpoint.

    A user's conversations are found by reading every turn that the topic still holds. One whose turns have all expired
    is not found that way; no record that is left of it names the user. A conversation of several users is forgotten as
    a whole. Exit code 1 when none is found.

    Of a single conversation turns are looked for in the partition where its key belongs, and it is said where there are
    none: its id may be mistyped. It is asked for all the same, as its turns may have expired, or stand in others.
    """
    import time

    from turnsignal.agents.files.users import hash_user, read_user_key
    from turnsignal.agents.kafka.forgetting import find_conversations, list_remains, send_requests
    from turnsignal.stream.records.turns import MAX_ID

    if (conversation_id is None) == (user_id is None):
        raise click.UsageError("say what to forget: CONVERSATION_ID, or --user ID")
    if user_key is not None and user_id is None:
        raise click.UsageError("--hash-users says how a user is named: give --user ID with it")
    given = conversation_id if user_id is None else user_id
    if given is None or not 0 < len(given) <= MAX_ID or not given.isprintable():
        msg = f"expected an id of 1 to {MAX_ID} printable characters, got {(given or '')[:80]!r}"
        raise ConfigError(msg)
    named = given if user_key is None else hash_user(given, read_user_key(user_key))
    settings = reach_settings()
    conversations = [given]

    def say(line: str) -> None:
        if not as_json:
            click.echo(line)

    if user_id is not None:
        with shown_progress("reading turns", 0) as (_, _reading, sending):
            users = find_conversations(settings, named, sending)
        conversations = users.conversations
    if not dry_run and conversations:
        send_requests(settings, conversations)  # before a word is said: whoever reads only some lines ends this process
    if user_id is not None:
        since = f", from {users.oldest:%Y-%m-%d %H:%M} UTC on" if users.oldest else ""
        which = user_id if user_key is None else f"{user_id}, whose digest is {named},"
        say(f"{len(conversations):,} conversations of {which} in {users.turns:,} turns{since}:")
        for name in conversations:
            say(f"  {name}")
        if not conversations and user_key is None:
            say("Where turns name users by digests (`produce --hash-users FILE`), give --hash-users the same file.")
        say("Conversations whose turns have all expired are not among them, and nothing left names their users.")
    if not dry_run and conversations:
        what = conversations[0] if user_id is None else f"{len(conversations):,} conversations"
        say(f"Asked the workers to forget {what}.")
    has_turns: bool | None = bool(conversations)
    if user_id is None:
        has_turns, doubt = _look_for_turn(settings, given)
        if doubt:
            say(doubt)
    remains = list(list_remains(settings, time.time())) if conversations else []
    if as_json:
        stays = [part._asdict() for part in remains]
        asked = not dry_run and bool(conversations)
        print_json({"conversations": conversations, "has_turns": has_turns, "asked": asked, "stays": stays})
    elif conversations:
        click.echo("What stays, and until when by the broker's settings; it takes some minutes more:")
        for part in remains:
            click.echo(f"  {_describe(part)}")
    if not conversations:
        raise SystemExit(EXIT_FAILED)


def _look_for_turn(settings: "Settings", conversation_id: str) -> tuple[bool | None, str]:
    """Return whether there is a turn of a conversation, None where that is not known; and what to say of that."""
    from turnsignal.agents.kafka.forgetting import find_turn

    try:
        with shown_progress("looking for its turns", 0) as (_, _reading, sending):
            sought = find_turn(settings, conversation_id, sending)
    except TurnsignalError as error:  # who may ask for it to be forgotten need not be allowed to read turns
        return None, f"Whether {conversation_id} has turns, or is mistyped, was not looked up: {error}"
    if sought.is_there:
        return True, ""
    where = f"{sought.topic}-{sought.partition}, where its key belongs"
    return False, (
        f"No turn of {conversation_id} is among the {sought.turns:,} of {where}: is the id mistyped? One whose turns"
        " have expired, or were sent to another partition, cannot be told from that."
    )


def _describe(remains: "Remains") -> str:
    """Say in a line what stays on a topic."""
    if remains.until is None:
        limit = "max.compaction.lag.ms" if remains.compacted else "retention.ms"
        when = f"without end, as {limit} sets none; see `turnsignal topics update`"
    else:
        when = f"until {remains.until:%Y-%m-%d %H:%M} UTC"
        if remains.compacted:
            when += ", or the first record on its partition after that (a later request to forget is one)"
    return f"{remains.topic}: {remains.what}: {when}"
