"""Configuration: what the wheel brings for Prometheus, Alertmanager and Grafana, made to fit workers and ports.

The files are those of deploy/ and grafana/, with addresses in the place of theirs: what is tried here is what is
deployed. An address is written as JSON, which is YAML, too.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from turnsignal.stream.errors import TurnsignalError

# By something in them: a folder without modules may lie in several places, and is no path then.
DEPLOY = Path(str(files("turnsignal.deploy") / "compose.yaml")).parent
DASHBOARDS = Path(str(files("turnsignal.dashboards") / "overview.json")).parent
PROVISIONING = Path(str(files("turnsignal.provisioning") / "datasources")).parent

_TARGETS = re.compile(r"(?<=targets: )\[[^\]]*\]")
_IMAGE = re.compile(r"^ +image: (\S*(prometheus|alertmanager|grafana)\S*)$", re.MULTILINE)
_MOUNTED = "/etc/grafana/turnsignal"  #: where the provisioning looks for dashboards


def write_prometheus(directory: Path, workers: Sequence[str], alertmanager: str | None) -> Path:
    """Write Prometheus' configuration with our rules; workers, alertmanager: host:port. Returns the file."""
    text = (DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    wanted = [[alertmanager] if alertmanager else [], list(workers)]  # in the order of the file
    written = iter(wanted)
    text, count = _TARGETS.subn(lambda _: orjson.dumps(next(written)).decode(), text)
    if count != len(wanted):
        msg = f"prometheus.yml: expected targets of alertmanagers and of workers, got {count} lists of targets"
        raise TurnsignalError(msg)
    directory.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(directory / "rules", ignore_errors=True)  # those of an earlier version may be called otherwise
    (directory / "rules").mkdir()
    for path in (DEPLOY / "prometheus" / "rules").glob("*.yml"):
        shutil.copyfile(path, directory / "rules" / path.name)
    return _write(directory / "prometheus.yml", text)


def write_alertmanager(directory: Path) -> Path:
    """Write Alertmanager's configuration; returns the file."""
    directory.mkdir(parents=True, exist_ok=True)
    text = (DEPLOY / "alertmanager" / "alertmanager.yml").read_text(encoding="utf-8")
    return _write(directory / "alertmanager.yml", text)


def write_grafana(directory: Path, dashboards: str = str(DASHBOARDS)) -> Path:
    """Write Grafana's provisioning; dashboards: where they are, as Grafana sees it. Returns the folder."""
    for path in PROVISIONING.glob("*/*.yaml"):
        text = path.read_text(encoding="utf-8").replace(
            f"path: {_MOUNTED}", f"path: {orjson.dumps(dashboards).decode()}"
        )
        (directory / path.parent.name).mkdir(parents=True, exist_ok=True)
        _write(directory / path.parent.name / path.name, text)
    return directory


def grafana_variables(directory: Path, port: int, prometheus: str, worker: str) -> dict[str, str]:
    """Give the variables of a Grafana of one's own: read by anybody on this machine, changed by nobody.

    directory: its data; prometheus, worker: their addresses, as URLs.
    """
    return {
        "GF_SERVER_HTTP_ADDR": "127.0.0.1",
        "GF_SERVER_HTTP_PORT": str(port),
        "GF_PATHS_DATA": str(directory / "data"),
        "GF_PATHS_LOGS": str(directory / "logs"),
        "GF_PATHS_PROVISIONING": str(directory / "provisioning"),
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
        "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        "PROMETHEUS_URL": prometheus,
        "TURNSIGNAL_URL": worker,
    }


def images() -> dict[str, str]:
    """Return the images that deploy/compose.yaml names of Prometheus, Alertmanager and Grafana."""
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    return {name: image for image, name in _IMAGE.findall(text)}


def write_compose(directory: Path, ports: Mapping[str, int], variables: Mapping[str, str]) -> Path:
    """Write a compose file of the three for a Docker engine on this machine, on its network; returns the file.

    directory: has what the other functions wrote; ports: by name; variables: Grafana's.
    """
    image, where = images(), directory.resolve()
    services: dict[str, dict[str, Any]] = {
        "prometheus": {
            "image": image["prometheus"],
            "command": [
                "--config.file=/observe/prometheus/prometheus.yml",
                "--storage.tsdb.path=/prometheus",
                f"--web.listen-address=127.0.0.1:{ports['prometheus']}",
                "--enable-feature=exemplar-storage",
            ],
        },
        "alertmanager": {
            "image": image["alertmanager"],
            "command": [
                "--config.file=/observe/alertmanager/alertmanager.yml",
                "--storage.path=/alertmanager",
                f"--web.listen-address=127.0.0.1:{ports['alertmanager']}",
                "--cluster.listen-address=",
            ],
        },
        "grafana": {
            "image": image["grafana"],
            "environment": {name: value for name, value in variables.items() if not name.startswith("GF_PATHS_")}
            | {"GF_PATHS_PROVISIONING": "/observe/grafana/provisioning"},
        },
    }
    for service in services.values():
        service |= {"network_mode": "host", "volumes": [f"{where}:/observe:ro", f"{DASHBOARDS}:{_MOUNTED}:ro"]}
    return _write(directory / "compose.yaml", orjson.dumps({"services": services}, option=orjson.OPT_INDENT_2).decode())


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
