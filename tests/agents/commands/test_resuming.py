"""A run that Ctrl-C interrupts says how it is taken up again, where it noted how far it came."""

from pathlib import Path

import pytest

from turnsignal.agents.commands.resuming import saying_how_to_resume

GOES_ON = "turnsignal: {} notes how far it came; the same command goes on from there\n"
BEGINS = "turnsignal: nothing was noted yet; the same command begins anew\n"
UNNOTED = "turnsignal: begun with --resume, it could go on from here; the same command begins anew\n"


@pytest.mark.parametrize(
    ("noted", "kept", "told"),
    [
        ("notes", None, UNNOTED),
        ("notes", "notes", GOES_ON),
        ("out/00.checkpoint", "out", GOES_ON),
        ("out/run.json", "out", BEGINS),  # before the first checkpoint
        ("notes", "out", BEGINS),
    ],
)
def test_an_interrupted_run_says_whether_the_same_command_goes_on(
    noted: str, kept: str | None, told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / noted).parent.mkdir(exist_ok=True)
    (tmp_path / noted).touch()
    where = None if kept is None else tmp_path / kept
    with pytest.raises(KeyboardInterrupt), saying_how_to_resume(where):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == told.format(where)
