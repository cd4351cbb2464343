"""The compose file and the image, by the schema and the rules of those who read them; no engine runs them here."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from turnsignal.agents.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")


def tool(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_compose_file_is_one() -> None:
    path = str(DEPLOY / "compose.yaml")
    checked = tool(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", path)
    assert checked.returncode == 0, checked.stdout


def test_the_dockerfile_breaks_no_rule() -> None:
    checked = tool(str(Path(sys.executable).parent / "hadolint"), str(DEPLOY / "Dockerfile"))
    assert checked.returncode == 0, checked.stdout


def test_the_image_runs_as_nobody_in_particular_with_packages_by_hash() -> None:
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", DOCKERFILE, re.MULTILINE)
    assert "--require-hashes --requirement deploy/requirements.lock" in DOCKERFILE
    assert not re.search(r":latest|ADD |curl|apt-get", DOCKERFILE)


def test_what_the_image_is_made_of_is_sent_to_the_builder() -> None:
    root, sent = DEPLOY.parent, (DEPLOY.parent / ".dockerignore").read_text(encoding="utf-8").split()
    copied = [
        path for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE) for path in line.split()[:-1]
    ]
    for path in copied:
        assert (root / path).exists()
        assert any(path.startswith(known[1:]) or known[1:].startswith(path) for known in sent if known.startswith("!"))


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_is_published_beyond_this_machine(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))
    assert "privileged" not in SERVICES[name]


@pytest.mark.parametrize("name", ["topics", "worker", "prometheus", "alertmanager", "grafana"])
def test_containers_cannot_write_to_their_images_or_gain_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_mounted_files_are_there_and_images_have_a_version() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":", 1)[0]
            assert not source.startswith(".") or (DEPLOY / source).exists(), source
            assert source.startswith(".") or source in COMPOSE["volumes"]
        assert service["image"] == "turnsignal" or re.search(r":v?\d+\.\d+\.\d+$", service["image"])


def test_workers_take_the_settings_that_they_are_given() -> None:
    assert Settings.from_env(SERVICES["worker"]["environment"]).shows_conversations
    Settings.from_env(SERVICES["topics"]["environment"])


def test_kafka_is_the_one_that_is_tested_with() -> None:
    pom = (DEPLOY / "kafka" / "pom.xml").read_text(encoding="utf-8")
    version = re.findall(r"<kafka.version>(.+)</kafka.version>", pom)[0]
    assert SERVICES["kafka"]["image"] == f"apache/kafka:{version}"


def test_prometheus_scrapes_the_services_by_our_configuration(tmp_path: Path) -> None:
    """The container rewrites it with sed; so does this."""
    script = SERVICES["prometheus"]["entrypoint"][2].split(" && ", 1)[0].split("&&")[0]
    source, target = DEPLOY / "prometheus" / "prometheus.yml", tmp_path / "prometheus.yml"
    script = script.replace("/etc/turnsignal/prometheus.yml", str(source))
    script = script.replace("/etc/prometheus/prometheus.yml", str(target))
    done = tool("/bin/sh", "-c", script)
    assert done.returncode == 0, done.stderr
    written = yaml.safe_load(target.read_text(encoding="utf-8"))
    assert written["scrape_configs"][0]["static_configs"] == [{"targets": ["worker:9108", "worker:9109"]}]
    assert written["alerting"]["alertmanagers"] == [{"static_configs": [{"targets": ["alertmanager:9093"]}]}]
    if shutil.which("promtool"):
        shutil.copytree(source.parent / "rules", tmp_path / "rules")
        checked = tool("promtool", "check", "config", str(target))
        assert checked.returncode == 0, checked.stdout + checked.stderr
