"""Pictures and sounds of the task, and whether the server is well."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import PurePosixPath

from starlette.responses import FileResponse, PlainTextResponse, Response

from epivote.web.task.reading import is_inside
from epivote.web.views.errors import PageError
from epivote.web.views.pages import STATIC
from epivote.web.views.theme import style
from epivote.web.views.visit import Visit

KINDS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
    ".css": "text/css",
    ".js": "text/javascript",
}
LARGEST_AT_ONCE = 1 << 20
"""Larger files are sent in pieces, and parts of them on request."""
POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
ALONE = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "private, max-age=3600",
}


def picture(visit: Visit) -> Response:
    """A picture, sound or video that the task names; nothing else, and nothing before the task opens."""
    site = visit.site
    path, folder = site.pictures.get(visit.request.path_params["key"]), site.task.folder
    is_early = site.task.is_early(datetime.now(UTC)) and not visit.is_organiser and path != site.task.logo
    if path is None or is_early or not is_inside(folder, path) or not (folder / path).is_file():
        raise PageError(404, "error.404")
    kind = KINDS[PurePosixPath(path).suffix.lower()]
    known = (folder / path).stat()
    if known.st_size > LARGEST_AT_ONCE or kind.startswith("video/"):  # some browsers play only what comes in parts
        return FileResponse(folder / path, media_type=kind, headers=ALONE)
    tag = f'"{known.st_mtime_ns:x}-{known.st_size:x}"'
    if visit.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**ALONE, "ETag": tag})
    return Response((folder / path).read_bytes(), media_type=kind, headers={**ALONE, "ETag": tag})


def static(visit: Visit) -> Response:
    """The style sheet and the scripts; their addresses change with what is in them, so browsers keep them for good."""
    name = visit.request.path_params["name"]
    if name not in STATIC:
        raise PageError(404, "error.404")
    kind = KINDS[PurePosixPath(name).suffix]
    return Response(STATIC[name], media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


def theme(visit: Visit) -> Response:
    """The colour of this task; its address changes with it."""
    colour = visit.site.task.theme_colour
    if not colour:
        raise PageError(404, "error.404")
    return Response(style(colour), media_type="text/css", headers={"Cache-Control": "public, max-age=86400"})


def health(visit: Visit) -> Response:
    """`ok` when a ballot could be stored now, which is tried at most once a second; else what is wrong."""
    trouble = visit.site.health.check()
    if trouble is None:
        return PlainTextResponse("ok")
    return PlainTextResponse(trouble.reason, 503, headers={"Retry-After": "5"})
