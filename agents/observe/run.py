"""Running it: what is installed here is started over the workers, and ended with the command that started it."""

import contextlib
import shutil
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from turnsignal.agents.app_table import APPS, apps_of
from turnsignal.agents.environment import PREFIX
from turnsignal.agents.kafka.process import free_ports
from turnsignal.agents.observe import configuration
from turnsignal.agents.observe.programs import (
    NAMES,
    READY_SECONDS,
    Program,
    Running,
    engine_answers,
    find_programs,
    install_line,
)
from turnsignal.agents.process.interrupts import Interrupts
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError

DIRECTORY = Path("out/observe")
USUAL_PORTS = {"prometheus": 9090, "alertmanager": 9093, "grafana": 3000}

_HOMES = ("/usr/share/grafana", "/opt/homebrew/opt/grafana/share/grafana", "/usr/local/opt/grafana/share/grafana")
_PROBES = {"prometheus": "/-/ready", "alertmanager": "/-/ready", "grafana": "/api/health"}
_PULL_SECONDS = 300.0  #: for images to be fetched
_LOOK = 0.5  #: seconds between looks at what was started

Say = Callable[[str], None]


def worker_addresses(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return where the pages of this machine's workers are, of score and of watch, as host:port.

    Nobody knows where they are when any free port was taken. Raises ConfigError for a wrong setting.
    """
    settings = Settings.from_env({f"{PREFIX}BROKERS": "localhost:9092", **env})
    return tuple(address for app in apps_of(judged=False) if (address := settings.page_address(APPS[app].port)))


class StartedPrograms:
    """Prometheus, Alertmanager and Grafana over some workers.

    workers: host:port of their pages, a score worker first; directory: for configuration, data and logs; env: of what
    is started; say: takes a line for the person who waits.
    """

    def __init__(self, workers: Sequence[str], directory: Path, env: Mapping[str, str], say: Say) -> None:
        self._workers = workers
        self._directory = directory.resolve()
        self._env = {name: value for name, value in env.items() if not name.startswith(PREFIX)}  # secrets among them
        self._say = say
        self._running: list[Running] = []

    def launch(self) -> None:
        """Start what is installed here; with nothing installed, say how it would be."""
        installed = find_programs()
        if "prometheus" in installed:
            self._launch_programs(installed)
        elif engine_answers():
            self._launch_containers()
        else:
            self._say(f"Neither Prometheus nor a Docker engine is here. To install it: {install_line()}")
            return
        if "alertmanager" not in installed and "prometheus" in installed:
            self._say(f"Alertmanager is not on the PATH, so alerts stand on Prometheus' page alone: {install_line()}")
        if "grafana" not in installed and "prometheus" in installed:
            where = configuration.DASHBOARDS
            self._say(f"Grafana is not on the PATH. Dashboards to import into one: {where}")

    def await_ready(self) -> None:
        """Wait until all of it answers, and say where, the workers' own pages included."""
        for running in self._running:
            if running.await_ready():
                self._say(f"{running.program.name:13} {running.program.url}")
            else:
                self._say_failure(running)
        self._say_pages()

    def wait(self) -> None:
        """Wait as long as anything of it runs."""
        reported: set[str] = set()
        while any(running.ended is None for running in self._running):
            for running in self._running:
                if running.ended is not None and running.program.name not in reported:
                    reported.add(running.program.name)
                    self._say_failure(running)
            time.sleep(_LOOK)

    def stop(self) -> None:
        """End what was started, and nothing else."""
        for running in self._running:
            running.ask_to_end()
        for running in self._running:
            running.end()

    @property
    def started(self) -> bool:
        """Whether anything was started."""
        return bool(self._running)

    def _say_failure(self, running: Running) -> None:
        state = "does not answer" if running.ended is None else f"ended with {running.ended}"
        words = running.last_words()[:300]
        self._say(f"{running.program.name} {state}; the last line of {running.program.log}: {words}")

    def _say_pages(self) -> None:
        for worker in self._workers:
            self._say(f"{'worker':13} http://{worker}/")

    def _launch_programs(self, installed: Mapping[str, str]) -> None:
        ports, directory = choose_ports(), self._directory
        alertmanager = f"127.0.0.1:{ports['alertmanager']}" if "alertmanager" in installed else None
        configured = configuration.write_prometheus(directory / "prometheus", self._workers, alertmanager)
        self._launch(
            "prometheus",
            ports["prometheus"],
            [
                installed["prometheus"],
                f"--config.file={configured}",
                f"--storage.tsdb.path={directory / 'prometheus' / 'data'}",
                f"--web.listen-address=127.0.0.1:{ports['prometheus']}",
                f"--web.external-url=http://127.0.0.1:{ports['prometheus']}/",
                "--enable-feature=exemplar-storage",
            ],
        )
        if alertmanager is not None:
            configured = configuration.write_alertmanager(directory / "alertmanager")
            self._launch(
                "alertmanager",
                ports["alertmanager"],
                [
                    installed["alertmanager"],
                    f"--config.file={configured}",
                    f"--storage.path={directory / 'alertmanager' / 'data'}",
                    f"--web.listen-address={alertmanager}",
                    f"--web.external-url=http://{alertmanager}/",
                    "--cluster.listen-address=",
                ],
            )
        if "grafana" in installed:
            configuration.write_grafana(directory / "grafana" / "provisioning")
            command = [installed["grafana"], *(["server"] if Path(installed["grafana"]).name == "grafana" else [])]
            home = next((home for home in _HOMES if Path(home).is_dir()), None)
            self._launch(
                "grafana", ports["grafana"], [*command, *(["--homepath", home] if home else [])], self._variables(ports)
            )

    def _launch_containers(self) -> None:
        ports, directory = choose_ports(), self._directory
        configuration.write_prometheus(directory / "prometheus", self._workers, f"127.0.0.1:{ports['alertmanager']}")
        configuration.write_alertmanager(directory / "alertmanager")
        configuration.write_grafana(directory / "grafana" / "provisioning", "/etc/grafana/turnsignal")
        path = configuration.write_compose(directory, ports, self._variables(ports))
        docker = shutil.which("docker") or "docker"
        command = [docker, "compose", "--project-name", "turnsignal-observe", "--file", str(path), "up"]
        # One process for the three: `up` ends them when it is ended.
        self._launch("prometheus", ports["prometheus"], command, patience=_PULL_SECONDS)
        for name in ("alertmanager", "grafana"):
            self._say(f"{name:13} http://127.0.0.1:{ports[name]}/")

    def _variables(self, ports: Mapping[str, int]) -> dict[str, str]:
        prometheus, worker = f"http://127.0.0.1:{ports['prometheus']}", f"http://{next(iter(self._workers), '')}"
        return configuration.grafana_variables(self._directory / "grafana", ports["grafana"], prometheus, worker)

    def _launch(
        self,
        name: str,
        port: int,
        command: Sequence[str],
        variables: Mapping[str, str] | None = None,
        patience: float = READY_SECONDS,
    ) -> None:
        url, log = f"http://127.0.0.1:{port}", self._directory / f"{name}.log"
        program = Program(name, command, f"{url}/", f"{url}{_PROBES[name]}", log, variables or {}, patience)
        self._running.append(Running(program, self._env))


def choose_ports() -> dict[str, int]:
    """Choose a port for each program: its usual one where that is free."""
    others = iter(free_ports(len(NAMES)))
    return {name: port if _is_free(port) else next(others) for name, port in USUAL_PORTS.items()}


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the programs' own sockets have it
        probe.bind(("127.0.0.1", port))
        return True
    return False


def observe(workers: Sequence[str], directory: Path, env: Mapping[str, str], say: Say) -> int:
    """Observe workers until Ctrl-C or SIGTERM; return the exit code. Raises ConfigError where there are none."""
    if not workers:
        msg = f"{PREFIX}METRICS_PORT: expected the port of the workers' pages, got 0; name them by --worker HOST:PORT"
        raise ConfigError(msg)
    with Interrupts() as interrupts:
        programs = StartedPrograms(workers, directory, env, say)
        try:
            programs.launch()
            with interrupts.let():
                programs.await_ready()
                if not programs.started:
                    return 0
                say("Ctrl-C ends it; the workers go on.")
                programs.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            programs.stop()
    return 1
