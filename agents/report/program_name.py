"""What to type to start this program once more."""

import shlex
import shutil
import sys
from pathlib import Path

_NAME = "turnsignal"


def typed_program(started_as: str | None = None) -> str:
    """Return how to type the program: by its name where the shell finds that, else by the path it was started with.

    started_as: that path; without one, this process's own.
    """
    started_as = sys.argv[0] if started_as is None else started_as
    if Path(started_as).name != _NAME or shutil.which(_NAME):
        return _NAME
    return shlex.quote(started_as)
