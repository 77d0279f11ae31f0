"""Pages of a served quiz in a browser, watched."""

from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


@contextmanager
def device(browser, served, *, expected=(), **options):
    """A page in a browser of its own, watched: no error, no dialog, no request to any other host."""
    context = browser.new_context(**(DESKTOP | {"base_url": served.address} | options))
    page = context.new_page()
    trouble = []
    page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: (trouble.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith(served.participants) or trouble.append(request.url))
    yield page
    context.close()
    surprises = [each for each in trouble if not any(known in each for known in expected)]
    assert surprises == [], surprises


def join(page, nickname="ann"):
    page.goto("/")
    page.locator("input[name=nickname]").fill(nickname)
    page.locator("form[action='/join'] button").click()
    page.wait_for_url("**/question/1")


def act(page, action):
    """Press a button of the question and wait for the page after it."""
    with page.expect_navigation():
        page.locator(f"button[name=action][value={action}]").click()


def ticked(page) -> list[int]:
    boxes = page.locator("input[name=tick]")
    return [k for k in range(boxes.count()) if boxes.nth(k).is_checked()]


def barriers(page) -> list[str]:
    """What keeps somebody from using a page, by axe: serious and critical findings, with the place."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']}: {each['help']} at {node['target']} ({node['html'][:160]})"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def overflow(page) -> int:
    """By how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
