"""Write the pictures of the example quiz: its report on a desktop, on a phone and at an instance, and two plots.

They are shown in README.md, docs/index.md, docs/how-to/report.md and docs/how-to/explain.md; the report on the tickets
of the tutorial is there too. Run with `python docs/make_report_pictures.py`; it needs matplotlib, playwright and a
browser (apt-get install chromium-headless-shell).
"""

import shutil
import tempfile
from pathlib import Path

from matplotlib import pyplot
from playwright.sync_api import Browser, sync_playwright

from epivote import EM, Auto, read_ballots, read_export, read_truths, write_report
from epivote.report.plots import plot_voter_map, plot_waterfall

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
EXAMPLES = DOCS.parent / "examples"
TUTORIAL, COPY = DOCS / "tutorial", "jo@example.org"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """All pictures."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit("no browser found: apt-get install chromium-headless-shell")
    draw_plots()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = make_page(Path(folder))
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        take(browser, page, PICTURES / "report-wide.png", width=1440, height=900, scheme="light")
        take(browser, page, PICTURES / "report-narrow.png", width=390, height=844, scheme="dark")
        opened = "#instance=picture%206"
        take(browser, page, PICTURES / "report-instance.png", width=1440, height=1100, scheme="light", address=opened)
        tickets = make_tickets_page(Path(folder))
        take(browser, tickets, PICTURES / "tutorial-report.png", width=1440, height=900, scheme="light")
        browser.close()


def draw_plots() -> None:
    """The voters of the quiz, and why the sparrow is not in the set of its most doubtful picture."""
    fitted = EM(bounds=(1, 2)).fit(read_ballots(EXAMPLES / "birds.csv"))
    (account,) = (each for each in fitted.explain("picture 6").accounts if each.alternative == "sparrow")
    for name, plot, shown in (("voter-map", plot_voter_map, fitted), ("waterfall", plot_waterfall, account)):
        pyplot.rcParams["svg.hashsalt"] = "epivote"
        figure, ax = pyplot.subplots(figsize=(6, 4.5), layout="constrained")
        plot(shown, ax)
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
        pyplot.close(figure)


def make_page(folder: Path) -> Path:
    """The report on the quiz, with gold that was not used for fitting."""
    fitted = EM(bounds=(1, 2)).fit(read_ballots(EXAMPLES / "birds.csv"))
    gold = read_truths(EXAMPLES / "birds-gold.csv")
    return write_report(fitted, folder / "birds.html", title="Which birds are on the picture?", gold=gold)


def make_tickets_page(folder: Path) -> Path:
    """The report of the tutorial, as its last command makes it."""
    expert = read_truths(TUTORIAL / "expert.csv")
    ballots = read_export(TUTORIAL / "tickets.json").ballots
    ballots = ballots.select(voters=[voter for voter in ballots.voters if voter != COPY])
    gold = {name: expert[name] for name in EM(bounds=(1, 2)).fit(ballots).pick_gold(20)}
    fitted = Auto(bounds=(1, 2)).fit(ballots, gold=gold)
    return write_report(fitted, folder / "tickets.html", title="Topics of 120 tickets")


def take(
    browser: Browser, path: Path, picture: Path, *, width: int, height: int, scheme: str, address: str = ""
) -> None:
    """One screen of the page, at its top or at an address within it."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce")
    page.goto(path.as_uri() + address)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=picture)


if __name__ == "__main__":
    main()
