"""The page of `turnsignal report` on narrow screens, as Chromium draws it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.agents.report.test_page import made
from turnsignal.agents.report.page import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: writes how wide the narrowest cell with words is, and whether the page is wider than the screen
MEASURE = """<script>addEventListener("load", () => {
  const cells = [...document.querySelectorAll("th:not(.number), td:not(.number)")].filter((cell) => cell.innerText);
  const narrowest = Math.min(...cells.map((cell) => cell.getBoundingClientRect().width));
  document.body.dataset.widths = `${Math.round(narrowest)} ${document.documentElement.scrollWidth - innerWidth}`;
});</script>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [1280, 800, 500])
def test_no_column_of_words_is_one_letter_wide(tmp_path: Path, width: int) -> None:
    text = re.sub(r"<meta http-equiv[^>]*>", "", page(made(("v1", "v2")).as_json()))
    file = tmp_path / "page.html"
    file.write_text(text.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}",
        f"--window-size={width},900",
    ]
    drawn = subprocess.run(
        [CHROMIUM, *options, "--dump-dom", file.as_uri()], capture_output=True, timeout=60, check=True
    )
    measured = re.search(rb'data-widths="(\d+) (-?\d+)"', drawn.stdout)
    assert measured is not None
    assert int(measured[1]) >= 75, "pixels"
    assert int(measured[2]) <= 0, "pixels to the side of the screen"
