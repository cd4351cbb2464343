"""Write the dashboards: `python -m grafana.build`, or `make dashboards`; a test fails when they are older than this.

Grafana needs nothing of this: it reads what is written, grafana/dashboards/*.json.
"""

import json
from pathlib import Path
from types import ModuleType

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from grafana.boards import follow_ups, instructions, judges, overview, pipeline, retrieval, stages

#: In the order in which they are read. A new dashboard is a module of `grafana.boards`, and one more name here.
BOARDS: tuple[ModuleType, ...] = (overview, stages, retrieval, follow_ups, instructions, judges, pipeline)

DASHBOARDS = Path(__file__).parent / "dashboards"


def written() -> dict[str, str]:
    """Return the text of every dashboard, by the name of its file."""
    texts = {}
    for module in BOARDS:
        text = json.dumps(module.build().build(), cls=JSONEncoder, indent=1, sort_keys=True, ensure_ascii=False)
        texts[f"{module.__name__.rpartition('.')[2].replace('_', '-')}.json"] = f"{text}\n"
    return texts


def main() -> None:
    """Write the files, and remove those that nothing writes any more."""
    texts = written()
    for path in DASHBOARDS.glob("*.json"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (DASHBOARDS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
