"""Put the rules of deploy/prometheus/rules into rules.yaml, a PrometheusRule: python deploy/kubernetes/build.py.

The rules stay as they are written, comments included; a test fails when rules.yaml is older than they are.
"""

from pathlib import Path

HERE = Path(__file__).parent
RULES = HERE.parent / "prometheus" / "rules"
WRITTEN = HERE / "rules.yaml"

_HEAD = """\
# Made by build.py from deploy/prometheus/rules; change those. For the Prometheus operator.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: turnsignal
  labels:
    app.kubernetes.io/name: turnsignal
spec:
  groups:
"""


def render() -> str:
    """Return rules.yaml. Raises ValueError for a file of rules without `groups:` on a line of its own."""
    parts = []
    for path in sorted(RULES.glob("*.yml")):
        head, found, groups = path.read_text(encoding="utf-8").partition("\ngroups:\n")
        if not found:
            msg = f"{path}: expected `groups:` on a line of its own, got {head[:80]!r}"
            raise ValueError(msg)
        lines = [f"  {line}" if line.strip() else "" for line in groups.strip("\n").split("\n")]
        parts.append("\n".join([f"    # from {path.name}", *lines, ""]))
    return _HEAD + "\n".join(parts)


if __name__ == "__main__":
    WRITTEN.write_text(render(), encoding="utf-8")
