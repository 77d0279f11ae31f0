"""The addresses of the JSON interface; every one needs the key."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from fastapi import Body, Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from epivote.web.interface.models import (
    AlternativeOut,
    BallotIn,
    BallotOut,
    EstimateOut,
    InstanceOut,
    Problem,
    SetOut,
    TaskOut,
)
from epivote.web.languages import language
from epivote.web.security.headers import address_of
from epivote.web.security.signing import same_secret
from epivote.web.site import Site
from epivote.web.store import NameTakenError, NotOpenError, TroubleError, Voter
from epivote.web.store.credentials import whose_secret
from epivote.web.store.names import LONGEST_NAME, clean_name, name_key
from epivote.web.task import Instance, Task
from epivote.web.views.errors import INTERFACE, problem

DESCRIPTION = "Vote by program, beside people. Send the key as `Authorization: Bearer KEY`; `collect serve` prints it."
BEARER = HTTPBearer(auto_error=False, description="The key that `epivote collect serve` prints.")
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "The request cannot be read.",
        401: "The key is missing or wrong.",
        403: "The key is for another voter.",
        404: "There is no such voter, instance or ballot.",
        405: "This method is not allowed here.",
        408: "The body took too long to arrive.",
        409: "The task is closed (for sets: not yet), or the name belongs to a participant.",
        413: "The body is too large.",
        422: "The content of the request is not valid.",
        429: "Too many requests; Retry-After says how long to wait.",
        503: "The database does not answer.",
    }.items()
}
NOT_YET = (
    "sets are available once the task is closed, so that no program copies them; the organiser's page shows them now"
)
VoterName = Annotated[
    str, Path(min_length=1, max_length=LONGEST_NAME, description="A name of your choice.", examples=["classifier-1"])
]


class RefusedError(Exception):
    """Something that cannot be done: status and sentence."""

    def __init__(self, status: int, sentence: str, wait: float = 0.0) -> None:
        super().__init__(sentence)
        self.status = status
        self.wait = wait


def interface(site: Site) -> FastAPI:
    """The JSON interface of a site."""

    def with_key(request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]) -> None:
        limits, address = site.settings.limits, address_of(request.scope)
        wait = site.limiter.take("interface", address, limits.interface)
        if not wait and given is not None and _passes(site, given.credentials, request.path_params.get("voter")):
            return
        # A right key always passes; wrong ones from one address are counted.
        if not wait and given is not None:
            wait = site.limiter.take("interface keys", address, limits.wrong_secrets)
        if wait:
            raise RefusedError(429, "there were too many requests from your address; wait as Retry-After says", wait)
        raise RefusedError(401, "the key is missing or wrong; send the header Authorization: Bearer KEY")

    api = _described(site, with_key, Examples.of(site.task))
    for kind, handler in _handlers(api, site).items():
        api.add_exception_handler(kind, handler)
    for_strangers = _described(site, with_key, Examples())

    @api.get("/openapi.json", include_in_schema=False)
    def get_description(
        request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
    ) -> dict[str, Any]:
        if given is None:
            return for_strangers.openapi()
        with_key(request, given)
        return api.openapi()

    return api


class Examples(NamedTuple):
    """What the description shows as examples; names of the task are only for those who have the key."""

    instances: tuple[str, ...] = ("instance-1",)
    ticks: tuple[str, ...] = ("alternative-1",)

    @classmethod
    def of(cls, task: Task) -> "Examples":
        """From the first instances of a task."""
        first = task.instances[0]
        return cls(tuple(each.name for each in task.instances[:3]), first.menu[: first.size.lower])


def _described(site: Site, with_key: Callable[..., None], examples: Examples) -> FastAPI:
    """All addresses, with these examples in their description."""
    api = FastAPI(
        title="epivote collect",
        version="1",
        description=DESCRIPTION,
        servers=[{"url": f"{site.root}{INTERFACE}"}],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=REFUSALS,
    )
    _add_task(api, site, with_key)
    _add_ballots(api, site, with_key, examples)
    return api


def _passes(site: Site, secret: str, voter: str | None) -> bool:
    """Whether a key is right; that of a single program is, but only for voting under its own name."""
    if same_secret(secret, site.interface_key):
        return True
    found = whose_secret(site.store.database, "program", secret)
    if found is None:
        return False
    if voter is not None and name_key(voter) != name_key(found[0]):
        raise RefusedError(403, f"this key is for the voter {found[0]!r}; vote under that name, or ask for another key")
    return True


def _add_task(api: FastAPI, site: Site, with_key: Callable[..., None]) -> None:
    task, needs = site.task, [Depends(with_key)]

    @api.get("/task", dependencies=needs, tags=["task"])
    def get_task() -> TaskOut:
        """What is asked in general."""
        return TaskOut(
            title=task.title,
            instructions=task.instructions,
            alternatives=[
                AlternativeOut(name=each.name, help=each.help, picture=_picture(site, each.picture))
                for each in task.alternatives
            ],
            size=str(task.size) if task.show_size else None,
            instances=len(task.instances),
            open=site.gate(is_closed=site.store.is_closed()) == "open",
        )

    @api.get("/instances", dependencies=needs, tags=["task"])
    def get_instances() -> list[InstanceOut]:
        """All questions, with what can be ticked on each."""
        enough = site.settled_alike()
        return [_instance(site, each, wanted=each.name not in enough) for each in task.instances]

    @api.get("/estimate", dependencies=needs, tags=["task"])
    def get_estimate() -> EstimateOut:
        """What the crowd says: a set per instance that has ballots, once the task is closed.

        Before that nobody is told, or programs could copy the sets.
        """
        if site.gate(is_closed=site.store.is_closed()) in ("early", "open"):
            raise RefusedError(409, NOT_YET)
        live = site.estimation.live
        return EstimateOut(
            method=live.method,
            ballots=live.stamp[0],
            sets=[
                SetOut(
                    instance=name,
                    alternatives=list(found.answer),
                    confidence=found.confidence,
                    ballots=found.ballots,
                    more_ballots=found.more,
                )
                for name, found in live.sets.items()
            ],
        )


def _add_ballots(api: FastAPI, site: Site, with_key: Callable[..., None], examples: Examples) -> None:
    needs = [Depends(with_key)]
    names = list(examples.instances)
    InstanceName = Annotated[str, Path(min_length=1, max_length=200, description="An instance.", examples=names)]  # noqa: N806
    Given = Annotated[BallotIn, Body(examples=[{"ticks": list(examples.ticks)}, {"ticks": []}])]  # noqa: N806

    @api.get("/voters/{voter}/ballots", dependencies=needs, tags=["ballots"])
    def get_ballots(voter: VoterName) -> list[BallotOut]:
        """All ballots of one voter."""
        known = _known(site, voter)
        kept = site.store.program_ballots(known.id)
        return [BallotOut(voter=known.name, instance=name, ticks=list(ticks)) for name, ticks in sorted(kept.items())]

    @api.get("/voters/{voter}/ballots/{instance:path}", dependencies=needs, tags=["ballots"])
    def get_ballot(voter: VoterName, instance: InstanceName) -> BallotOut:
        """One ballot."""
        known = _known(site, voter)
        kept = site.store.program_ballots(known.id)
        if instance not in kept:
            raise RefusedError(404, f"{known.name!r} has no ballot on {instance!r}; put one")
        return BallotOut(voter=known.name, instance=instance, ticks=list(kept[instance]))

    @api.put("/voters/{voter}/ballots/{instance:path}", dependencies=needs, tags=["ballots"])
    def put_ballot(voter: VoterName, instance: InstanceName, ballot: Given) -> BallotOut:
        """Cast a ballot, or change it; the same one again changes nothing. A new name is a new voter."""
        asked = site.task.by_name.get(instance)
        if asked is None:
            raise RefusedError(404, f"there is no instance {instance!r}; GET /instances lists them")
        strangers = [name for name in ballot.ticks if name not in asked.menu]
        if strangers:
            raise RefusedError(422, f"{strangers[0]!r} is not offered on {instance!r}; tick from {list(asked.menu)}")
        if site.gate(is_closed=site.store.is_closed()) != "open":
            raise NotOpenError("closed")
        ticks = [name for name in asked.menu if name in ballot.ticks]
        site.store.answer_as_program(_name(voter), instance, ticks)
        return BallotOut(voter=_name(voter), instance=instance, ticks=ticks)

    @api.delete("/voters/{voter}/ballots/{instance:path}", dependencies=needs, status_code=204, tags=["ballots"])
    def delete_ballot(voter: VoterName, instance: InstanceName) -> None:
        """Withdraw a ballot: it is missing then, not empty."""
        known = _known(site, voter)
        if not site.store.withdraw(known.id, instance):
            raise RefusedError(404, f"{known.name!r} has no ballot on {instance!r}, so there is nothing to withdraw")

    @api.delete("/voters/{voter}", dependencies=needs, status_code=204, tags=["ballots"])
    def delete_voter(voter: VoterName) -> None:
        """Delete a voter with all ballots."""
        site.store.forget(_known(site, voter).id)


def _known(site: Site, name: str) -> Voter:
    found = site.store.program(_name(name))
    if found is None:
        raise RefusedError(404, f"there is no voter {name!r}; put a ballot under this name first")
    return found


def _name(text: str) -> str:
    name = clean_name(text)
    if name is None:
        raise RefusedError(
            422, f"{text!r} cannot be a name; use 1 to {LONGEST_NAME} printable characters, the first not = + - or @"
        )
    return name


def _instance(site: Site, instance: Instance, *, wanted: bool) -> InstanceOut:
    return InstanceOut(
        name=instance.name,
        text=instance.text,
        picture=_picture(site, instance.picture),
        picture_text=instance.picture_text,
        audio=_picture(site, instance.audio),
        video=_picture(site, instance.video),
        link=instance.link or None,
        alternatives=list(instance.menu),
        wanted=wanted,
    )


def _picture(site: Site, path: str) -> str | None:
    return site.picture(path) if path else None


def _handlers(api: FastAPI, site: Site) -> dict[Any, Any]:
    say = language("en")

    def of_http(request: Request, error: HTTPException) -> Response:
        response = problem(error.status_code, say(f"error.{error.status_code}"))
        if error.status_code == 405:
            response.headers["Allow"] = ", ".join(sorted(_methods(api, request.url.path.removeprefix(INTERFACE))))
        return response

    def of_trouble(_: Request, error: TroubleError) -> Response:
        site.health.note(error)
        return problem(503, say("error.503"), 5.0)

    return {
        RefusedError: lambda _, error: problem(error.status, str(error), error.wait),
        RequestValidationError: lambda _, error: problem(422, _in_words(error)),
        NotOpenError: lambda _, __: problem(409, "the task is closed, so no ballots are accepted; ask its organiser"),
        NameTakenError: lambda _, error: problem(
            409, f"{str(error)!r} is the name of a participant; choose another one"
        ),
        HTTPException: of_http,
        TroubleError: of_trouble,
        DBAPIError: lambda _, __: problem(503, say("error.503"), 5.0),
        PoolTimeout: lambda _, __: problem(503, say("error.503"), 5.0),
    }


def _methods(api: FastAPI, path: str) -> set[str]:
    """All that can be done at an address; every single one has a route of its own."""
    return {
        method
        for route in api.routes
        if isinstance(route, Route) and route.path_regex.match(path)
        for method in route.methods or ()
    }


def _in_words(error: RequestValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}; see openapi.json"
