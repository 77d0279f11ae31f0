"""Write the pictures of docs/how-to/quiz.md: a question on a phone, and the organiser's page while forty bots answer.

Run with `python docs/make_collect_pictures.py`; it needs the package playwright and a browser (apt-get install
chromium).
"""

import asyncio
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures" / "collect"
sys.path.insert(0, str(DOCS.parent))

from examples.crowd.served import Served, serving  # noqa: E402
from examples.shapes.answers import QUIZ  # noqa: E402
from examples.shapes.serve import fill_in  # noqa: E402

BOTS, PACE, WATCHED = 40, 1.0, 12_000


def main() -> None:
    """Both pictures."""
    found = next(
        filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))),
        None,
    )
    if found is None:
        raise SystemExit("no browser found: apt-get install chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        database = f"sqlite:///{folder / 'shapes.db'}"
        with serving(QUIZ, "--database", database, "--port", "0", log=folder / "log") as served:
            browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            PICTURES.mkdir(exist_ok=True)
            take_question(browser, served, PICTURES / "participant.png")
            take_organiser(browser, served, PICTURES / "organiser.png")
            browser.close()


def take_question(browser: Browser, served: Served, picture: Path) -> None:
    """A question on a phone, one shape ticked."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(served.participants)
    page.locator("input[name=nickname]").fill("Ada")
    page.locator("form[action='/join'] button").click()
    page.wait_for_url("**/question/1")
    page.locator("label:has(input[name=tick])").nth(4).click()
    page.screenshot(path=picture)


def take_organiser(browser: Browser, served: Served, picture: Path) -> None:
    """The organiser's page in the middle of it."""
    bots = threading.Thread(target=lambda: asyncio.run(fill_in(served, BOTS, PACE, np.random.default_rng(1))))
    bots.start()
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.goto(served.organiser)
    page.wait_for_timeout(WATCHED)
    page.screenshot(path=picture)
    bots.join()


if __name__ == "__main__":
    main()
