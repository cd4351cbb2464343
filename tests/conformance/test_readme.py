"""What the README shows is what the commands print."""

import re
from pathlib import Path

from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal

ROOT = Path(__file__).parents[2]


def test_the_sample_of_the_readme_is_what_replaying_it_prints(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    (shown,) = re.findall(r"```\n(3,773 turns.*?)```", readme, re.S)
    run = CliRunner(env={"COLUMNS": "140"}).invoke(turnsignal, ["replay", "--sample", "--out", str(tmp_path)])
    printed = [line.rstrip() for line in run.output.splitlines()]
    lines = [line for line in shown.splitlines() if line and line != "…" and not line.startswith("Next: ")]
    assert [line for line in lines if line not in printed] == []
