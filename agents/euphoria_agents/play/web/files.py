"""The pages and the files that they load, made once when the server starts.

The address of a file contains a hash of all files, so browsers may keep a file and never show an old one. A page names everything
that its script will ask for, so that a browser asks for it at once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from euphoria_agents.play.web.board_data import STATIC, colours, page_icon, symbol_sprite
from euphoria_agents.play.web.endpoints import Query, language_of, read_query
from euphoria_agents.play.web.permissions import COOKIE_AGE
from euphoria_agents.play.web.scripts import bundle
from euphoria_agents.play.web.wire import COOKIE
from euphoria_env.json_reader import Json
from euphoria_env.phrases import LANGUAGES
from euphoria_env.render.lettering import FONT_FILE

TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".ttf": "font/ttf",
}
PAGES = {  # by path, the file and the first request of its script
    "/": ("home.html", "/api/games"),
    "/play/{game}": ("play.html", "/api/games/{game}/view?own=true"),
    "/study/{study}": ("study.html", "/api/studies/{study}"),
    "/learn": ("learn.html", ""),
    "/help": ("help.html", "/api/pictures"),
}
DATA = ("symbols.svg", "facts.{language}.json")  # files that every script loads
KEPT = "public, max-age=31536000, immutable"
_SCRIPT = re.compile(r'<script type="module" src="/static/([^"]+)"')


class PageAddress(Query):
    """The query of a page; `lang`: its language."""

    lang: str | None = None


def routes(facts: Mapping[str, Json]) -> list[Route]:
    """Returns the routes of the pages and of their files; `facts`: the public data for the pages by language."""
    files = {path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.suffix in TYPES}
    made = {"symbols.svg": symbol_sprite(), "icon.svg": page_icon(), "colours.css": colours()}
    files |= {f"facts.{language}.json": msgspec.json.encode(found) for language, found in facts.items()}
    files |= {FONT_FILE.name: FONT_FILE.read_bytes()}
    made |= {found[1]: bundle(found[1]) for page, _ in PAGES.values() for found in _SCRIPT.finditer(files[page].decode())}
    files |= {name: text.encode() for name, text in made.items()}
    place = f"/static/{hashlib.sha256(b''.join(files.values())).hexdigest()[:12]}"
    pages = [_page(path, files, place, *named) for path, named in PAGES.items()]
    return [*pages, *(_file(f"{place}/{name}", content) for name, content in files.items() if not name.endswith(".html"))]


def _file(path: str, content: bytes) -> Route:
    async def answer(_: Request) -> Response:
        return Response(content, headers={"Cache-Control": KEPT}, media_type=TYPES[Path(path).suffix])

    return Route(path, answer)


def _page(path: str, files: Mapping[str, bytes], place: str, name: str, first: str) -> Route:
    html = _SCRIPT.sub(lambda found: _links(first) + found[0], files[name].decode())
    html = html.replace("/static/", f"{place}/")

    async def answer(request: Request) -> Response:
        asked = read_query(request, PageAddress).lang
        language = asked if asked in LANGUAGES else language_of(request)
        text = html.replace('<html lang="en">', f'<html lang="{language}">')
        for key, value in {**request.path_params, "language": language}.items():
            text = text.replace(f"{{{key}}}", quote(value, safe=""))
        answer = Response(text, headers={"Vary": "Cookie, Accept-Language"}, media_type="text/html")
        if asked == language:
            answer.set_cookie(COOKIE, language, max_age=COOKIE_AGE, samesite="strict")
        return answer

    return Route(path, answer)


def _links(first: str) -> str:
    """Returns the links to what a script asks for: its first request, and files."""
    data = [*([first] if first else []), *(f"/static/{name}" for name in DATA)]
    return "".join(f'<link rel="preload" as="fetch" crossorigin href="{path}">\n' for path in data)
