"""A page of the report, opened in a browser and watched."""

from contextlib import contextmanager

INSTANCES, VOTERS = "#instance-table", "#voter-table"
FIND = "input[type=search]"


@contextmanager
def opened(browser, path, **options):
    """The page, watched: no error, no dialog, no request but for the file itself."""
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
    page = context.new_page()
    trouble = []
    page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: (trouble.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: request.url == path.as_uri() or trouble.append(request.url))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert trouble == []


def first_column(page, table) -> list[str]:
    return page.locator(f"{table} tbody th[scope=row][role=rowheader]").all_text_contents()


def open_instance(page, name) -> None:
    page.locator(f"{INSTANCES} {FIND}").fill(name)
    page.locator(f"{INSTANCES} button.open").get_by_text(name, exact=True).click()
