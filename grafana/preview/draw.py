"""Draw every dashboard with Grafana's own components in a browser: `make preview`, or `python -m grafana.preview.draw`.

Needs node_modules and site/host.js beside this (`make preview` sees to them), Chromium, and Prometheus with promtool.
Fails when a panel has no data or an error: a picture of an empty panel looks like a good one at a glance.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from PIL import Image

from grafana.build import DASHBOARDS
from grafana.preview.history import EVERY, TOLD, Pages, record
from grafana.preview.prometheus import import_history, prometheus
from grafana.preview.variables import chosen, durations

SITE = Path(__file__).parent / "site"
PICTURES = Path(__file__).parents[2] / "deploy" / "pictures"
WIDTH = 1600  #: pixels
ROW, HEAD = 38, 46  #: pixels of a row of the grid, and above them
WAIT = 120.0  #: seconds for a picture
COLOURS = 128
MODES = ("dark", "light")

_HOURS = {"now-6h": 6, "now-24h": 24}


class Site(SimpleHTTPRequestHandler):
    """The page that draws, the dashboards, and what the page reports."""

    def __init__(self, reports: SimpleQueue[Any], *args: Any) -> None:
        self._reports = reports
        super().__init__(*args, directory=str(SITE))

    def do_GET(self) -> None:
        """Answer with a file of the site, or a dashboard."""
        if self.path.startswith("/dashboards/"):
            body = (DASHBOARDS / Path(self.path).name).read_bytes()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        """Take a report."""
        self._reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def site() -> Iterator[tuple[str, SimpleQueue[Any]]]:
    """Serve the page on a free port, and give its address and what it reports."""
    reports: SimpleQueue[Any] = SimpleQueue()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Site, reports))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", reports
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def is_built() -> bool:
    """Say whether what draws is there: Chromium, and what `make preview` bundles."""
    return (SITE / "host.js").is_file() and shutil.which("chromium") is not None


def draw(page: str, reports: SimpleQueue[Any], asked: Mapping[str, Any], height: int, into: Path) -> list[str]:
    """Draw a dashboard into a file, and return what is wrong with it."""
    address = f"{page}/index.html?{urllib.parse.urlencode({'asked': json.dumps(asked)})}"
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                shutil.which("chromium") or "chromium",
                *(
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--hide-scrollbars",
                    "--force-device-scale-factor=1",
                ),
                f"--user-data-dir={profile}",
                f"--window-size={WIDTH},{height}",
                "--virtual-time-budget=20000",
                f"--screenshot={into}",
                address,
            ],
            check=True,
            timeout=WAIT,
            capture_output=True,
        )
    try:
        report = reports.get(timeout=1)
    except Empty:
        return [f"{asked['dashboard']}: nothing was drawn; does site/host.js stand beside site/index.html?"]
    with Image.open(into) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(into, optimize=True)
    return [
        f"{asked['dashboard']}: {panel['title']}: {panel.get('error', 'no data')}"
        for panel in report
        if "error" in panel or not panel["values"]
    ]


def pictures(address: str, page: str, reports: SimpleQueue[Any], options: argparse.Namespace) -> Iterator[str]:
    """Draw what is wanted, and give what is wrong."""
    for path in sorted(DASHBOARDS.glob("*.json")):
        if options.only not in (None, path.stem):
            continue
        board = json.loads(path.read_text(encoding="utf-8"))
        hours = options.hours or _HOURS[board["time"]["from"]]
        step = max(options.scraped, hours * 3600 / 200)
        end = options.end or TOLD.end
        begin = end - hours * 3600
        values = chosen(board, address, begin, end, job=options.job) | durations(begin, end, step, options.scraped)
        height = HEAD + ROW * max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"])
        for mode in options.modes:
            asked: dict[str, Any] = {"dashboard": f"/dashboards/{path.name}", "prometheus": address, "mode": mode}
            asked |= {"from": begin, "to": end, "step": step, "variables": values}
            yield from draw(page, reports, asked, height, options.into / f"{path.stem}-{mode}.png")


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Draw every dashboard, light and dark, with Grafana's own components.")
    parser.add_argument("--prometheus", help="its address; unless given, one is started on a simulated day")
    parser.add_argument("--end", type=float, help="where the pictures end, seconds since 1970; the simulated day's end")
    parser.add_argument("--hours", type=float, help="how much they show; what each dashboard shows when it is opened")
    parser.add_argument("--scraped", type=float, default=EVERY, help="seconds between scrapes (default: %(default)s)")
    parser.add_argument("--job", default=TOLD.job, help="which job's workers (default: %(default)s)")
    parser.add_argument("--only", help="one dashboard, such as overview")
    parser.add_argument("--into", type=Path, default=PICTURES, help="folder of the pictures (default: %(default)s)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES, help="light, dark (default: both)")
    return parser.parse_args(arguments)


def main() -> None:
    """Draw the dashboards, and end with 1 when something is wrong with one."""
    options = parse_options()
    options.into.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        address = options.prometheus
        if address is None:
            directory = Path(held.enter_context(tempfile.TemporaryDirectory()))
            pages = Pages()
            record(TOLD, pages)
            pages.write(directory / "history.om")
            import_history(directory / "history.om", directory)
            address = held.enter_context(prometheus(directory))
        page, reports = held.enter_context(site())
        faults = list(pictures(address, page, reports, options))
    print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
