"""Joins the modules of a page into one script, so that a browser asks once."""

from __future__ import annotations

import re

from euphoria_agents.play.web.board_data import STATIC

_FROM = re.compile(r'^(import|export) ([^;]+?) from "\./([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


def bundle(name: str) -> str:
    """Returns a module of the pages and all that it imports as one script, which exports them all as `modules`."""
    return "\n".join(["export const modules = {};", *(_wrapped(*one) for one in _in_order(name, {}).items())])


def _in_order(name: str, found: dict[str, str]) -> dict[str, str]:
    """Adds a module to those that were found, by name, after the modules that it imports."""
    text = (STATIC / name).read_text(encoding="utf-8")
    for _, _, other in _FROM.findall(text):
        if other not in found:
            _in_order(other, found)
    found[name] = text
    return found


def _wrapped(name: str, text: str) -> str:
    """Wraps a module in a function that returns what it exports."""
    exports = _EXPORT.findall(text)
    for kind, names, other in _FROM.findall(text):
        if kind == "export":
            exports.append(f'...modules["{other}"]' if names == "*" else names.strip("{ }"))

    def bound(found: re.Match[str]) -> str:
        names = found[2].removeprefix("* as ").replace(" as ", ": ")
        return "" if names == "*" else f'const {names} = modules["{found[3]}"];'

    body = _EXPORT.sub("", _FROM.sub(bound, text))
    return f'modules["{name}"] = await (async () => {{\n{body}return {{ {", ".join(exports)} }};\n}})();'
