"""Every address of the app."""

from __future__ import annotations

from starlette.routing import BaseRoute, Mount, Route

from epivote.web.interface.api import interface
from epivote.web.site import Site
from epivote.web.views import leaving, media, organiser, participant, personal_link, question
from epivote.web.views.visit import either, form, page


def routes_of(site: Site) -> list[BaseRoute]:
    """The table of addresses."""
    return [
        Route("/", page(participant.home)),
        Route("/join", form(participant.join), methods=["POST"]),
        Route("/question", page(question.go_on)),
        Route("/question/{position}", either(page(question.show), form(question.answer)), methods=["GET", "POST"]),
        Route("/end", page(participant.end)),
        Route("/finish", form(participant.finish), methods=["POST"]),
        Route("/forget", either(page(leaving.ask_forget), form(leaving.forget)), methods=["GET", "POST"]),
        Route("/leave", either(page(leaving.ask_leave), form(leaving.leave)), methods=["GET", "POST"]),
        Route("/link", form(personal_link.make), methods=["POST"]),
        Route("/resume", form(personal_link.resume), methods=["POST"]),
        Route("/resume/{token}", page(personal_link.ask)),
        Route("/privacy", page(participant.privacy)),
        Route("/language/{code}", page(participant.set_language)),
        Route("/picture/{key}", page(media.picture)),
        Route("/health", page(media.health)),
        Route("/organiser", either(page(organiser.board), form(organiser.enter)), methods=["GET", "POST"]),
        Route("/organiser/live", page(organiser.live)),
        Route("/organiser/export/{name}", page(organiser.export)),
        Route("/organiser/report", organiser.report),
        Route("/organiser/qr.svg", page(organiser.qr)),
        Route("/organiser/close", either(page(organiser.ask_close), form(organiser.close)), methods=["GET", "POST"]),
        Route("/organiser/leave", form(organiser.leave), methods=["POST"]),
        Route("/organiser/open", form(organiser.reopen), methods=["POST"]),
        Mount("/api/v1", interface(site)),
        Route("/theme.css", page(media.theme)),
        Route("/static/{name}", page(media.static)),
    ]
