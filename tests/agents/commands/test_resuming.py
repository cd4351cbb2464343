"""A run that Ctrl-C interrupts says how it is taken up again, where it noted how far it came."""

from pathlib import Path

import pytest

from turnsignal.agents.commands.resuming import saying_how_to_resume


@pytest.mark.parametrize(
    ("kept", "told"),
    [(None, ""), (Path("notes"), "turnsignal: notes notes how far it came; the same command goes on from there\n")],
)
def test_an_interrupted_run_says_how_to_go_on(kept: Path | None, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), saying_how_to_resume(kept):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == told
