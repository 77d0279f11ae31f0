"""Write the pictures of docs/report.md: the report on the carried quiz, wide and light, narrow and dark.

Run with `python docs/make_report_pictures.py`; it needs the package playwright and a browser (apt-get install
chromium).
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from epivote import EM, read_ballots, read_truths, write_report

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"


def main() -> None:
    """Both pictures."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise SystemExit("no browser found: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = make_page(Path(folder))
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        take(browser, page, DOCS / "report-wide.png", width=1120, height=1480, scheme="light", item=None)
        take(browser, page, DOCS / "report-narrow.png", width=390, height=1130, scheme="dark", item="picture 6")
        browser.close()


def make_page(folder: Path) -> Path:
    """The report on the quiz, with its gold answers kept aside."""
    fitted = EM(bounds=(1, 2)).fit(read_ballots(EXAMPLES / "birds.csv"))
    gold = read_truths(EXAMPLES / "birds-gold.csv")
    return write_report(fitted, folder / "birds.html", title="Which birds are on the picture?", gold=gold)


def take(
    browser: Browser, path: Path, picture: Path, *, width: int, height: int, scheme: str, item: str | None
) -> None:
    """One screen of the page, at its top or at an opened item."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(path.as_uri())
    if item is not None:
        page.locator("#item-table input[type=search]").fill(item)
        button = page.locator("#item-table button.open").first
        button.click()
        page.locator("#item-table").evaluate("table => window.scrollTo(0, table.offsetTop - 12)")
        button.evaluate("button => button.blur()")
    page.screenshot(path=picture)


if __name__ == "__main__":
    main()
