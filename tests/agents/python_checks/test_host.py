"""Users' Python checks run apart: whatever one of them does, the others answer and scoring goes on."""

import ast
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.process.confining import landlock_version
from turnsignal.agents.python_checks import host as checking
from turnsignal.agents.python_checks.host import OLDEST, VARIABLES, CheckProcess, describe_cost, hosted
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.score import make_score_app
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.checks.protocol import PASSED, Check, CheckResult, Result
from turnsignal.stream.checks.python import Hosted
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.wire import SCORES
from turnsignal.stream.replay import Indexer
from turnsignal.stream.suite import Suite, parse_suite

FUNCTIONS = """
import os, sys, time, threading
print("hello from the import")

def polite(response):
    print("reading", response["text"])
    print("a warning", file=sys.stderr)
    return "please" in response["text"].lower()

def hang(response):
    while response["text"] == "hang":
        pass
    return True

def leave(response):
    if response["text"] == "leave":
        os._exit(7)
    return True

def crash(response):
    os.kill(os.getpid(), 11)

def memory(response):
    return bytearray(1 << 40)

def wrong(response):
    raise ValueError("no\\nway")

def stop(response):
    sys.exit("stop")

def odd(response):
    return object()

def long(response):
    return {"passed": False, "explanation": "x" * 1_000_000}

def documents(response):
    return {"passed": False, "explanation": " ".join(one["doc_id"] for one in response["documents"])}

def environment(response):
    return {"passed": False, "explanation": " ".join(sorted(os.environ))}

def ancestors():
    pid = os.getppid()
    while pid > 0:
        yield pid
        pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])

# Reads what others keep: the parent, the parent's parents, whoever else there is; or may end the parent.
def prying(response):
    what, whose = response["text"].split()
    if what == "kill":
        os.kill(os.getppid(), 0)
        return {"passed": False, "explanation": "may send signals to its parent"}
    others = [int(one) for one in os.listdir("/proc") if one.isdigit() and int(one) != os.getpid()]
    pids = {"parent": [os.getppid()], "ancestors": list(ancestors()), "others": others}[whose]
    got = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/{what}", "rb", 0) as file:
                if what == "mem":
                    file.seek(int(open(f"/proc/{pid}/maps").readline().split("-")[0], 16))
                if file.read(64):
                    got.append(pid)
        except OSError as error:
            pass
    return {"passed": not got, "explanation": f"read {what} of {got}"}

# What can be had by executing something.
def powers(response):
    import subprocess
    names = "Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs"
    said = subprocess.run(["grep", "-h", "-E", names, "/proc/self/status"], capture_output=True)
    return {"passed": False, "explanation": said.stdout.decode()}

def forge(response):
    for fd in range(3, 20):
        try:
            os.write(fd, b'{"returned": true}\\n' * 5)
        except OSError:
            pass
    return {"passed": False}

def forge_late(response):
    if response["text"] == "forge":
        def write():
            for fd in range(3, 20):
                try:
                    os.write(fd, b'["0123456789abcdef", {"returned": true}]\\n')
                except OSError:
                    pass
            open("forged", "w").close()  # a named pipe that the test waits at
        threading.Timer(0.02, write).start()
    return True

# Starts what would outlive it: in a session or a group of its own, as a child and as a grandchild.
def family(response):
    import subprocess
    tried = []
    for way in (os.setsid, lambda: os.setpgid(0, 0)):
        if os.fork() == 0:
            if os.fork() == 0:
                try:
                    way()
                except OSError:
                    pass
                os.open("alive", os.O_WRONLY)  # a named pipe that ends when the last of them has ended
                time.sleep(600)
            time.sleep(600)
    try:
        subprocess.Popen(["sleep", "600"], start_new_session=True)
    except OSError as error:
        tried.append(type(error).__name__)
    if response["text"] == "hang":
        time.sleep(600)
    if response["text"] == "leave":
        os._exit(3)
    return {"passed": False, "explanation": " ".join(tried)}

def flood(response):
    for fd in range(3, 20):
        try:
            for _ in range(100):
                os.write(fd, b"x" * 65536)
        except OSError:
            pass

def leave_late(response):
    threading.Timer(0.02, lambda: os._exit(3)).start()
    return True

def never(response):
    return False

def where(response):
    import sys
    return {"passed": False, "explanation": sys.prefix + " " + " ".join(sys.path)}

def near(response):
    time.sleep(0.6)
    return True

def asks(response):
    return input() == "yes"

def hashes(response):
    return {"passed": False, "explanation": str(hash(response["text"]))}

def open_files(response):
    return {"passed": False, "explanation": str(len(os.listdir("/proc/self/fd")))}

number = 5
"""


POLITE = '[[checks]]\ncheck = "python.function(call=acme_checks:polite)"'
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what Linux can do")


@pytest.fixture(autouse=True)
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_checks.py").write_text(FUNCTIONS)
    (tmp_path / "acme_broken.py").write_text("import nowhere_at_all")
    (tmp_path / "acme_gone.py").write_text("import os; os._exit(3)")
    monkeypatch.chdir(tmp_path)


def suite_of(*names: str, more: str = "") -> Suite:
    return parse_suite("".join(f'[[checks]]\ncheck = "python.function(call={name})"\n{more}\n' for name in names))


@pytest.fixture
def ready(request: pytest.FixtureRequest) -> Iterator[dict[str, Check]]:
    with hosted(suite_of(*(f"acme_checks:{name}" for name in request.param), more='timeout = "5s"')) as suite:
        yield {check.name.split(":")[1].rstrip(")"): check for _, check in suite.parsed_checks}


def answer(text: str) -> Response:
    return Response(text, [], citation_reader(), "web")


def with_root() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(checking.__file__).parents[2])}


def uses(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ready", [names], indirect=True)


@uses("polite")
def test_a_function_answers_and_what_it_prints_reaches_nobody(
    ready: dict[str, Check], capfd: pytest.CaptureFixture[str]
) -> None:
    assert ready["polite"].check(answer("Please wait.")) is PASSED
    assert ready["polite"].check(answer("Wait!")) == CheckResult(Result.FAIL, "the function says no")
    assert capfd.readouterr() == ("", "")


@uses("polite")
def test_any_text_passes_through_the_pipe(ready: dict[str, Check]) -> None:
    for text in ("", "\ud800 please", "please\n\x00\u2028", "please " * 60_000):
        assert (ready["polite"].check(answer(text)) is PASSED) == ("please" in text)


@uses("wrong", "stop", "odd", "long", "memory", "asks")
def test_a_function_that_fails_is_an_error_with_a_short_reason(ready: dict[str, Check]) -> None:
    said = {
        "wrong": "acme_checks:wrong raised ValueError: no way",
        "stop": "acme_checks:stop raised SystemExit: stop",
        "odd": "acme_checks:odd returned a object, where plain true, false or {…} is expected",
        "long": "acme_checks:long returned 1000050 bytes, where at most 16000 are expected",
        "memory": "acme_checks:memory raised MemoryError:",
        "asks": "acme_checks:asks raised EOFError: EOF when reading a line",
    }
    for name, check in ready.items():
        assert check.check(answer("x")) == CheckResult(Result.ERROR, said[name])


@uses("leave", "crash", "polite")
def test_a_process_that_ends_is_replaced_and_the_others_go_on(ready: dict[str, Check]) -> None:
    assert ready["leave"].check(answer("leave")) == CheckResult(
        Result.ERROR, "acme_checks:leave: ended its process with 7"
    )
    assert ready["polite"].check(answer("please")) is PASSED
    assert ready["crash"].check(answer("x")).explanation == "acme_checks:crash: ended its process by SIGSEGV"
    assert ready["polite"].check(answer("please")) is PASSED
    assert ready["leave"].check(answer("x")) is PASSED


def test_a_function_that_overruns_its_time_is_killed_and_the_next_response_is_judged() -> None:
    with hosted(suite_of("acme_checks:hang")) as suite:
        [(_, check)] = suite.parsed_checks
        assert check.check(answer("hang")) == CheckResult(
            Result.ERROR, "acme_checks:hang: overran its time of 100 ms and was killed"
        )
        assert check.check(answer("x")) is PASSED


class Clock:
    """A second passes whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def process(request: pytest.FixtureRequest) -> Iterator[CheckProcess]:
    checks = [check for _, check in suite_of(*request.param, more='timeout = "5s"').parsed_checks]
    process = CheckProcess([check for check in checks if isinstance(check, Hosted)], clock=Clock())
    process.load()
    yield process
    process.close()


def runs(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("process", [[f"acme_checks:{name}" for name in names]], indirect=True)


def ask(process: CheckProcess, name: str, text: str) -> CheckResult:
    [(_, check)] = suite_of(f"acme_checks:{name}", more='timeout = "5s"').parsed_checks
    return process(cast("Hosted", check), answer(text))


@runs("leave", "never")
def test_a_check_that_crashes_every_second_time_is_not_asked_beyond_its_share_and_recovers(
    process: CheckProcess,
) -> None:
    said = [str(ask(process, "leave", text).explanation) for text in ["leave", "x"] * 4]
    crash, refusal = "acme_checks:leave: ended its process with 7", "acme_checks:leave is not asked"
    assert [one.removeprefix(crash) for one in said[:6]] == ["", "None"] * 3
    assert [one[: len(refusal)] for one in said[6:]] == [refusal] * 2
    assert "10% of the last minute" in said[7]
    assert ask(process, "never", "x").result is Result.FAIL
    cast("Clock", process._clock).now += 60.0
    assert ask(process, "leave", "x") is PASSED


def test_a_check_that_keeps_near_its_limit_is_charged_too() -> None:
    # No clock of the test's: what is looked at is what the check itself makes of 0.6 s in 1 s.
    with hosted(suite_of("acme_checks:near", "acme_checks:polite", more='timeout = "1s"')) as suite:
        runner = cast("CheckProcess", cast("Hosted", suite.parsed_checks[0][1]).run)
        for _, check in suite.parsed_checks:
            check.check(answer("please"))
        spent = runner._quota.spent(suite.parsed_checks[0][1].name, runner._clock())
    assert spent >= 0.6


@uses("forge", "never")
def test_lines_that_a_check_writes_into_the_pipe_are_its_own_error_and_flip_no_other(ready: dict[str, Check]) -> None:
    for _ in range(3):
        assert ready["forge"].check(answer("x")) == CheckResult(
            Result.ERROR, "acme_checks:forge: wrote into a pipe that is not its own and was killed"
        )
        assert ready["never"].check(answer("x")) == CheckResult(Result.FAIL, "the function says no")


@runs("flood", "never")
def test_a_check_that_floods_the_pipe_costs_its_neighbour_no_answer_and_is_charged_alone(process: CheckProcess) -> None:
    flooded, refused = [], "acme_checks:flood is not asked"
    for _ in range(8):
        assert ask(process, "never", "x") == CheckResult(Result.FAIL, "the function says no")
        flooded.append(str(ask(process, "flood", "x").explanation).startswith(refused))
    assert flooded[0] is False
    assert flooded[-1] is True
    [never] = suite_of("acme_checks:never").parsed_checks
    assert process._quota.spent(never[1].name, process._clock()) == 0.0


@uses("forge_late", "never")
def test_a_line_written_after_the_answer_is_nobodys_answer(ready: dict[str, Check], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "forged")
    for _ in range(3):
        assert ready["forge_late"].check(answer("forge")) is PASSED
        (tmp_path / "forged").read_bytes()
        assert ready["never"].check(answer("x")) == CheckResult(Result.FAIL, "the function says no")


@runs("leave_late", "never")
def test_a_process_that_ends_between_two_calls_costs_no_check_its_answer(process: CheckProcess) -> None:
    assert ask(process, "leave_late", "x") is PASSED
    os.waitid(os.P_PID, process._process.pid, os.WEXITED | os.WNOWAIT)
    assert ask(process, "never", "x") == CheckResult(Result.FAIL, "the function says no")


@uses("environment")
def test_the_process_sees_the_variables_that_are_said_and_no_others(
    ready: dict[str, Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TURNSIGNAL_SASL_PASSWORD", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("TZ", "UTC")
    with hosted(suite_of("acme_checks:environment", more='timeout = "5s"')) as suite:
        names = set(str(suite.parsed_checks[0][1].check(answer("x")).explanation).split())
    assert "TZ" in names
    assert {name for name in names if not name.startswith("LC_")} <= VARIABLES | {"PYTHONHASHSEED", "PYTHONIOENCODING"}


@linux
@uses("prying")
@pytest.mark.parametrize("what", ["environ", "mem"])
def test_a_check_cannot_read_what_its_parent_keeps(ready: dict[str, Check], what: str) -> None:
    assert ready["prying"].check(answer(f"{what} parent")) is PASSED


@pytest.mark.skipif(landlock_version() < 1, reason="needs Landlock")
@uses("prying")
@pytest.mark.parametrize("what", ["environ ancestors", "mem ancestors", "environ others", "mem others"])
def test_a_check_cannot_read_what_any_other_process_keeps(ready: dict[str, Check], what: str) -> None:
    assert ready["prying"].check(answer(what)) is PASSED


@pytest.mark.skipif(landlock_version() < 6, reason="needs Landlock 6, of Linux 6.12")
@uses("prying")
def test_a_check_cannot_end_its_parent(ready: dict[str, Check]) -> None:
    assert "PermissionError" in str(ready["prying"].check(answer("kill parent")).explanation)


@linux
@uses("powers")
def test_a_check_has_no_capabilities_and_can_get_none_not_even_as_root(ready: dict[str, Check]) -> None:
    said = str(ready["powers"].check(answer("x")).explanation).split()
    names, values = said[::2], said[1::2]
    assert dict(zip(names, values, strict=True)) == {
        **dict.fromkeys(("CapPrm:", "CapEff:", "CapAmb:"), "0" * 16),
        "CapBnd:": "0" * 16 if os.geteuid() == 0 else dict(zip(names, values, strict=True))["CapBnd:"],
        "NoNewPrivs:": "1",
    }


@linux
def test_only_who_hosts_checks_keeps_others_from_looking_into_it() -> None:
    program = (
        "import ctypes; from turnsignal.agents.python_checks.host import hosted\n"
        "from turnsignal.stream.suite import Suite, parse_suite\n"
        "readable = lambda: ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)\n"
        "with hosted(Suite()): print(readable())\n"
        f"with hosted(parse_suite({POLITE!r})): print(readable())"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, env=with_root(), timeout=60)
    assert done.stdout.split() == [b"1", b"0"], done.stderr


@pytest.fixture
def other_python(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "other")], check=True, timeout=60)
    return tmp_path / "other" / "bin" / "python"


def test_a_suite_names_the_python_that_its_checks_run_in(other_python: Path, tmp_path: Path) -> None:
    [packages] = (tmp_path / "other").glob("lib/python*/site-packages")
    (packages / "acme_apart.py").write_text("from acme_checks import where")
    # What such a Python runs before anything else is a stranger's, too.
    (packages / "sitecustomize.py").write_text(
        "import os\ntry: open(f'/proc/{os.getppid()}/environ').read(); open('read', 'w')\nexcept OSError: pass"
    )
    check = '[[checks]]\ncheck = "python.function(call=acme_apart:where)"\ntimeout = "5s"'
    with pytest.raises(ConfigError, match="No module named 'acme_apart'"), hosted(parse_suite(check)):
        pass
    with hosted(parse_suite(f'python = "{other_python}"\n{check}')) as suite:
        said = str(suite.parsed_checks[0][1].check(answer("x")).explanation).split()
    assert said[:2] == [str(tmp_path / "other"), str(tmp_path)]
    assert not [path for path in said if path.endswith(("/agents", "agents/python_checks/process.py"))]
    assert sys.platform != "linux" or not (tmp_path / "read").exists()


def test_a_python_that_is_none_is_named_with_what_was_expected(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    for name, text in (("old", "#!/bin/sh\necho 3 8"), ("older", "#!/bin/sh\necho no such option >&2; exit 2")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    said = {
        "gone": "got nothing there",
        "": "got no file that can be executed",
        "plain": "got no file that can be executed",
        "old": "got Python 3.8",
        "older": "got a program that is none: no such option",
    }
    for name, got in said.items():
        path = str(tmp_path / name)
        with pytest.raises(ConfigError) as caught, hosted(parse_suite(f'python = "{path}"\n{POLITE}')):
            pass
        assert str(caught.value) == f"python: expected a Python of 3.9 or newer at {path}, {got}"


def test_the_script_is_written_for_the_oldest_python_and_hides_no_module_of_its_library() -> None:
    directory = Path(checking.__file__).parent
    ast.parse((directory / "process.py").read_text(), feature_version=OLDEST)
    assert not {path.stem for path in directory.glob("*.py")} & sys.stdlib_module_names


@uses("hashes", "environment", "open_files")
def test_the_process_has_a_fixed_hash_seed_and_nothing_of_ours(ready: dict[str, Check]) -> None:
    first = ready["hashes"].check(answer("a text")).explanation
    with hosted(suite_of("acme_checks:hashes")) as again:
        assert again.parsed_checks[0][1].check(answer("a text")).explanation == first
    assert "TURNSIGNAL" not in str(ready["environment"].check(answer("x")).explanation)
    assert int(str(ready["open_files"].check(answer("x")).explanation)) <= 7


def test_nothing_is_started_where_no_suite_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    suite = Suite()
    with hosted(suite) as same:
        assert same is suite


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere_at_all:polite", "No module named 'nowhere_at_all'"),
        ("acme_checks:rude", "has no attribute 'rude'"),
        ("acme_checks:number", "expected a function, got int"),
        ("acme_broken:polite", "No module named 'nowhere_at_all'"),
        ("acme_gone:polite", "loading acme_gone:polite ended its process with 3"),
    ],
)
def test_a_function_that_cannot_be_loaded_is_named_at_the_start(name: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught, hosted(suite_of(name)):
        pass
    assert said in str(caught.value)
    assert name in str(caught.value)


def test_an_entry_point_is_found_by_its_name(tmp_path: Path) -> None:
    offered = tmp_path / "acme-1.0.dist-info"
    offered.mkdir()
    (offered / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (offered / "entry_points.txt").write_text("[turnsignal.checks]\npolite = acme_checks:polite\n")
    with hosted(parse_suite('[[checks]]\ncheck = "python.entry_point(entry=polite)"\ntimeout = 5')) as suite:
        assert suite.parsed_checks[0][1].check(answer("please")) is PASSED
    with (
        pytest.raises(ConfigError, match="there are: polite"),
        hosted(parse_suite('[[checks]]\ncheck = "python.entry_point(entry=rude)"')),
    ):
        pass


def test_the_process_ends_with_whoever_asked() -> None:
    program = (
        "import os; from turnsignal.agents.python_checks.host import CheckProcess\n"
        "from turnsignal.stream.suite import parse_suite\n"
        "suite = parse_suite('[[checks]]\\ncheck = \"python.function(call=acme_checks:polite)\"')\n"
        "process = CheckProcess([check for _, check in suite.parsed_checks]); process.load()\n"
        "print(process._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        env=with_root(),
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid = int(done.stdout)
    # Its parent is gone, so nobody can wait for it; a pidfd becomes readable when it has ended.
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([handle], [], [], 30.0)[0]
    os.close(handle)


def _open_once(fifo: Path) -> None:
    """Have a writer been there: one that ended before it opened the pipe would never be told from none."""
    os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))


@pytest.mark.slow
@linux
@pytest.mark.parametrize("way", ["hang", "leave", "return"])
def test_whatever_a_check_has_started_ends_with_its_process(tmp_path: Path, way: str) -> None:
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with hosted(suite_of("acme_checks:family", more='timeout = "2s"')) as suite:
            found = suite.parsed_checks[0][1].check(answer(way))
        _open_once(tmp_path / "alive")
        assert select.select([alive], [], [], 30.0)[0], "somebody still has it open"
        assert os.read(alive, 1) == b""
    finally:
        os.close(alive)
    said = {"hang": "overran", "leave": "overran", "return": "PermissionError"}
    assert said[way] in found.explanation


@linux
def test_whatever_a_check_has_started_ends_when_its_worker_is_killed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    program = (
        "import os; from turnsignal.agents.python_checks.host import hosted\n"
        "from turnsignal.stream.citations.reader import citation_reader\n"
        "from turnsignal.stream.conversations.exchanges import Response\n"
        "from turnsignal.stream.suite import parse_suite\n"
        "suite = '[[checks]]\\ncheck = \"python.function(call=acme_checks:family)\"\\ntimeout = 5'\n"
        "with hosted(parse_suite(suite)) as suite:\n"
        "    suite.parsed_checks[0][1].check(Response('return', [], citation_reader(), 'web'))\n"
        "    os.kill(os.getpid(), 9)"
    )
    try:
        done = subprocess.run([sys.executable, "-c", program], check=False, env=with_root(), timeout=60)
        assert done.returncode == -signal.SIGKILL
        _open_once(tmp_path / "alive")
        assert select.select([alive], [], [], 30.0)[0]
    finally:
        os.close(alive)


@pytest.mark.slow
def test_a_replay_scores_with_them_and_counts_what_fails(tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "data" / "golden.jsonl"
    suite = suite_of("acme_checks:documents", "acme_checks:wrong", more='timeout = "5s"')
    runs = []
    for number in ("1", "2"):
        replay_files([golden], tmp_path / number, suite, 2e9, workers=int(number))
        runs.append((tmp_path / number / "scores.jsonl").read_bytes())
    assert runs[0] == runs[1]
    scores = [score for line in runs[0].splitlines() for score in orjson.loads(line)["scores"]]
    wrong = [score for score in scores if score["scorer"] == "python.function(call=acme_checks:wrong)"]
    assert wrong
    assert {score["unscored"] for score in wrong} == {"error"}
    assert {score["explanation"] for score in wrong} == {"acme_checks:wrong raised ValueError: no way"}
    listed = [score for score in scores if score["scorer"] == "python.function(call=acme_checks:documents)"]
    assert {score["label"] for score in listed} == {"fail"}


def test_a_worker_scores_with_them_as_a_replay_does(tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "data" / "golden.jsonl"
    suite = suite_of("acme_checks:documents", "acme_checks:polite", more='timeout = "5s"')
    replay_files([golden], tmp_path / "out", suite, 2e9, workers=1)
    lines = golden.read_bytes().splitlines()
    indexed = list(Indexer(2e9).index(lines))
    spec = cast("TaskManager", make_score_app(Settings(brokers="localhost:1"), suite).owner).spec
    processor = spec.make(0, {})
    batch = spec.work(processor, {"turnsignal.turns": indexed}, 2e9)
    live = [orjson.loads(output.value) for output in batch.outputs if output.topic == SCORES and output.value]
    replayed = [orjson.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_bytes().splitlines()]
    assert own_scores(live) == own_scores(replayed)
    assert len(own_scores(live)) > 5


def own_scores(rows: list[dict[str, Any]]) -> dict[tuple[str, str, str], tuple[Any, Any]]:
    return {
        (row["conversation_id"], row["turn_id"], score["scorer"]): (score.get("value"), score.get("explanation"))
        for row in rows
        for score in row["scores"]
        if score["scorer"].startswith("python.")
    }


def test_the_check_command_says_what_a_call_costs_and_what_goes_wrong(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(
        '[[checks]]\ncheck = "python.function(call=acme_checks:polite)"\n'
        '[[checks]]\ncheck = "python.function(call=acme_checks:wrong)"\n'
    )
    done = CliRunner().invoke(turnsignal, ["suite", "check", str(path)])
    told = done.output.splitlines()
    assert done.exit_code == 1
    assert told[0].startswith(f"{path}: 1 of its 2 Python checks fail on an example. Suite ")
    assert re.fullmatch(r"python\.function\(call=acme_checks:polite\): [\d,]+ µs a call on an example of .*", told[1])
    assert told[2].endswith("on an example: acme_checks:wrong raised ValueError: no way")


def test_a_call_that_is_too_near_its_limit_is_told_so_before_it_is_live() -> None:
    assert describe_cost(0.00009, 1075, 0.1) == "90 µs a call on an example of 1,075 characters"
    assert describe_cost(0.05, 1075, 0.1) == "50,000 µs a call on an example of 1,075 characters"
    assert describe_cost(0.06, 1075, 0.1) == (
        "60,000 µs a call on an example of 1,075 characters; more than half of its time of 100 ms,"
        " so that it is asked for 10% of a minute at most: raise timeout"
    )
