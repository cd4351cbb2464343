"""Disks that are full: what is said of them, and to whom it matters."""

import errno
from tempfile import gettempdir

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  #: errors of a disk that is full, or of a quota


def describe_no_room(error: OSError) -> str:
    """Say that a disk is full, and what to do."""
    if error.filename:
        return f"expected room on the disk of {error.filename!r}, got: {error.strerror}"
    return (
        f"expected room on the disk for what is written, and in {gettempdir()} for as much as is read, got: "
        f"{error.strerror}; TMPDIR names another directory for what is put aside"
    )
