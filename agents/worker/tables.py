"""Tables: what the partition tasks keep, shown as Faust tables that can be read.

`app.tables["conversations"]["c-1"]` is what is kept of a conversation, and `app.tables["windows-5m"]["c-1"].current()`
its scores in the window of its newest turn. The state is neither restored nor written by Faust: a table looks it up in
the partition tasks of this worker when it is asked. So it shows the partitions that are assigned here, and what is
committed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, Protocol

import faust
from faust.stores.base import Store
from faust.tables import TableManager
from faust.tables.recovery import Recovery
from faust.tables.wrappers import WindowSet, WindowWrapper
from faust.types import CollectionT, EventT
from faust.types.windows import WindowRange
from faust.windows import TumblingWindow
from mode.utils.times import want_seconds

from turnsignal.agents.worker.partition_task import AppSpec, PartitionTask
from turnsignal.stream.conversations.windows import WindowSpec

_URL = "memory://"  #: Faust wants one of every store
_UNITS = (("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0))


class TaskLookup(Protocol):
    """Who has the partition tasks of this worker, and knows what they keep."""

    spec: AppSpec
    tasks: dict[int, PartitionTask]


class ReadOnlyStore(Store):
    """A store of Faust's that nobody can change."""

    keys, values, items = Mapping.keys, Mapping.values, Mapping.items  # Faust's own want a dictionary

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Say that it cannot be changed. Raises TypeError."""
        msg = f"expected to read the table {self.table_name}, got a change: only records of its inputs change it"
        raise TypeError(msg)

    __setitem__ = __delitem__ = clear = update = apply_changelog_batch = reset_state = refuse
    backup_partition = restore_backup = refuse


class TaskStore(ReadOnlyStore):
    """What the partition tasks of this worker keep: key as text → what is kept, for people.

    Of a conversation that has had no turn, only feedback that waits for one, that is {}.
    """

    def __init__(self, task_manager: TaskLookup, app: faust.App, table: faust.Table) -> None:
        super().__init__(_URL, app, table)
        self._task_manager = task_manager

    def __getitem__(self, key: str) -> Any:
        encoded = key.encode("utf-8", "replace")
        for task in self._task_manager.tasks.values():
            if encoded in task.processor.store:
                return task.processor.describe(encoded) or {}
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        # Copied, partition by partition: a batch may be committed while somebody reads.
        return (key.decode() for task in list(self._task_manager.tasks.values()) for key in list(task.processor.store))

    def __len__(self) -> int:
        return sum(len(task.processor.store) for task in self._task_manager.tasks.values())


class WindowStore(ReadOnlyStore):
    """The windows of one size: (key, range of the window as Faust has it) → means by scorer."""

    def __init__(self, state: TaskStore, spec: WindowSpec, app: faust.App, table: faust.Table) -> None:
        super().__init__(_URL, app, table)
        self.conversations = state
        self._spec = spec

    def __getitem__(self, key: tuple[str, WindowRange]) -> Any:
        conversation, (start, _) = key
        for window in self._windows(self.conversations[conversation]):
            if abs(window["start"] - start) < self._spec.size / 2:  # Faust rounds fractions of a second otherwise
                return window["scores"]
        raise KeyError(key)

    def __iter__(self) -> Iterator[tuple[str, WindowRange]]:
        for key in self.conversations:
            for window in self._windows(self.conversations.get(key, {})):
                yield key, self.table.window.current(window["start"])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _windows(self, described: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        return (window for window in described.get("windows", ()) if window["size"] == self._spec.size)


class StateTable(faust.Table):
    """A Faust table that shows what the partition tasks keep; it cannot be changed."""

    def __init__(self, app: faust.App, task_manager: TaskLookup, **options: Any) -> None:
        super().__init__(app, **options)
        self.changelog_topic = app.topic(task_manager.spec.changelog, acks=False)
        self._data = TaskStore(task_manager, app, self)

    async def on_start(self) -> None:
        """Declare nothing: the changelog is written and read by the partition tasks."""

    def _refuse(self, *_: Any, **__: Any) -> None:
        self.data.refuse()

    on_key_set = on_key_del = on_clear = _refuse


class StateWindowSet(WindowSet):
    """The windows of one conversation; the stream's time is that of its newest turn, as nothing else moves them."""

    def current(self, event: EventT | None = None) -> Any:
        """Return the window of the newest turn (or of an event). Raises KeyError."""
        return self.table._windowed_timestamp(self.key, self._time(event))

    def delta(self, d: Any, event: EventT | None = None) -> Any:
        """Return the window so many seconds before the newest turn (or an event). Raises KeyError."""
        return self.table._windowed_timestamp(self.key, self._time(event) - want_seconds(d))

    value = current

    def _time(self, event: EventT | None) -> float:
        event = event or self.event
        time: float = self.table.data.conversations[self.key]["last"] if event is None else event.message.timestamp
        return time


class StateWindows(WindowWrapper):
    """A windowed table: each key is a conversation, with its windows."""

    ValueType = StateWindowSet

    def __contains__(self, key: Any) -> bool:
        try:
            self[key].current()
        except KeyError:
            return False
        return True

    def __len__(self) -> int:
        return len(self.table.data.conversations)

    def _keys(self) -> Iterator[str]:
        return iter(self.table.data.conversations)

    def _items(self, event: EventT | None = None) -> Iterator[tuple[str, Any]]:
        return self._each(lambda windows: windows.current(event))

    _items_current = _items

    def _items_delta(self, d: Any, event: EventT | None = None) -> Iterator[tuple[str, Any]]:
        return self._each(lambda windows: windows.delta(d, event))

    def _each(self, read: Callable[[StateWindowSet], Any]) -> Iterator[tuple[str, Any]]:
        for key in self._keys():
            try:
                yield key, read(self[key])
            except KeyError:
                continue


class WindowTable(StateTable):
    """A windowed table of Faust's: `table["c-1"]` are the windows of a conversation, `table["c-1", range]` is one.

    windows: Faust's wrapper, whose keys are conversations.
    """

    def __init__(self, app: faust.App, task_manager: TaskLookup, spec: WindowSpec, **options: Any) -> None:
        super().__init__(app, task_manager, window=TumblingWindow(spec.size, spec.keep), **options)
        self._data = WindowStore(self.data, spec, app, self)
        self.windows = StateWindows(self)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, tuple) else self.windows[key]


class StateTables(TableManager):
    """The tables of an app: shown, and nothing of them left to Faust.

    Faust would wait a second for tables to be made before it reads anything, subscribe to their changelogs, and read
    those to their ends; the end of a transactional changelog is a marker, which never comes.
    """

    _recovery: Recovery | None

    @property
    def recovery(self) -> Recovery:
        """Faust's recovery, which has no tables to restore: it resumes the streams at once."""
        if self._recovery is None:
            self._recovery = Recovery(self.app, TableManager(self.app), beacon=self.beacon, loop=self.loop)
        return self._recovery

    def add(self, table: CollectionT) -> CollectionT:
        """Show a table. Raises TypeError for one that Faust would have to restore."""
        if not isinstance(table, StateTable):
            msg = f"expected a table that shows partition tasks, got {table!r}: nobody would restore it here"
            raise TypeError(msg)
        self[table.name] = table
        return table

    async def on_start(self) -> None:
        """Say that all tables are there."""
        await self._update_channels()
        await self.recovery.start()

    async def _update_channels(self) -> None:
        self._tables_finalized.set()
        self._tables_registered.set()


def show_state(app: faust.App, task_manager: TaskLookup) -> None:
    """Make the tables of what an app keeps: one by its spec's name, and one for each size of window."""
    spec, beacon = task_manager.spec, app.tables.beacon
    shown = f"what is kept under a key, read from {spec.changelog}"
    app.tables.add(StateTable(app, task_manager, name=spec.table, help=shown, beacon=beacon))
    for window in spec.windows:
        size = _describe(window.size)
        shown = f"means of scores in windows of {size}, kept for {_describe(window.keep)}, by {spec.table}"
        app.tables.add(WindowTable(app, task_manager, window, name=f"windows-{size}", help=shown, beacon=beacon))


def _describe(seconds: float) -> str:
    unit, length = next(((unit, length) for unit, length in _UNITS if seconds % length == 0), ("s", 1.0))
    return f"{seconds / length:g}{unit}"
