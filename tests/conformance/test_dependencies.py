"""Every declared dependency is used, and the lock files hold what pyproject.toml asks for, by hash."""

import ast
import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
LOCKS = {
    "requirements.lock": [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]],
    "requirements-report.lock": [*PROJECT["project"]["dependencies"], *EXTRAS["language"], *EXTRAS["report"]],
    "requirements-test.lock": [
        *PROJECT["project"]["dependencies"],
        *(wanted for extra in ("language", "report", "dashboards", "zstd", "test", "lint") for wanted in EXTRAS[extra]),
    ],
}


def lock(name: str) -> dict[str, set[str]]:
    """The versions of each package in a lock file."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / "deploy" / name).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([a-z0-9-]+)==([^ ;]+)", line):
            found.setdefault(match[1], set()).add(match[2])
    return found


def imported() -> set[str]:
    """The top-level packages that the code imports, within functions too."""
    names = set()
    for top in ("stream", "agents"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    names.add((node.module or "").partition(".")[0])
                elif isinstance(node, ast.Import):
                    names |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
                    names |= {str(name.value).partition(".")[0] for name in node.args if isinstance(name, ast.Constant)}
    return names


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_imported() -> None:
    used = imported()
    provided: dict[str, set[str]] = {}
    for package, distributions in importlib.metadata.packages_distributions().items():
        for distribution in distributions:
            provided.setdefault(canonical(distribution), set()).add(package)
    wanted = [*PROJECT["project"]["dependencies"], *EXTRAS["language"], *EXTRAS["report"], *EXTRAS["zstd"]]
    names = {canonical(Requirement(text).name) for text in wanted}
    assert {name for name in names if not provided[name] & used} == set()


def test_producers_may_use_every_codec_of_kafka() -> None:
    (aiokafka,) = (Requirement(text) for text in LOCKS["requirements.lock"] if text.startswith("aiokafka"))
    assert aiokafka.extras == {"lz4", "snappy", "zstd"}
    assert "cramjam" in lock("requirements.lock")


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_holds_what_the_project_asks_for(name: str) -> None:
    held = lock(name)
    for text in LOCKS[name]:
        wanted = Requirement(text)
        if wanted.name == "turnsignal":
            continue
        versions = held.get(canonical(wanted.name), set())
        assert versions, f"{name} lacks {text}: run `make lock`"
        assert all(wanted.specifier.contains(version) for version in versions), f"{name} against {text}: `make lock`"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_names_every_package_by_hash_and_no_place_to_get_it_from(name: str) -> None:
    text = (ROOT / "deploy" / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not [line for line in text.splitlines() if line.startswith("-")]
    entries = re.split(r"\n(?=[a-z])", text.strip())
    assert all(" \\\n    --hash=sha256:" in entry for entry in entries)


def test_the_lock_files_agree_with_each_other() -> None:
    runtime, report, tests = (lock(name) for name in LOCKS)
    for smaller, larger in ((runtime, report), (report, tests)):
        assert {name: larger[name] for name in smaller if name in larger and larger[name] != smaller[name]} == {}
