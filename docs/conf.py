"""Configures Sphinx, which builds the site from these pages (`make site`) without the network."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

project = "euphoria-env"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
author = copyright = "the euphoria-env contributors"

extensions = ["myst_nb"]

# The pages are Markdown with GitHub's anchors for headings; the notebook runs when the site is built.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline", "html_image"]
nb_execution_mode = "cache"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_output_stderr = "remove"
os.environ.pop("MPLBACKEND", None)  # so that the notebook shows its plots

html_theme = "furo"
html_title = f"{project} {version}"
html_logo = html_favicon = "icon.svg"
html_static_path = ["site.css", "site.js"]
html_css_files, html_js_files = html_static_path[:1], html_static_path[1:]
html_copy_source = html_show_sourcelink = html_use_index = html_domain_indices = False
smartquotes_action = "D"  # only dashes, because quotes are often code

# --------------------------------------------------------------------------------------------------- links and anchors

# Files of the root, and the pages that include them.
_INCLUDED_BY = {"README.md": "overview.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}


def fix_links_of_included_file(app: Any, file: Path, page: str, content: list[str]) -> None:
    """Makes the links of a file of the root relative to the page that includes it."""

    def relative(link: re.Match[str]) -> str:
        path, rest = link[2], link[3]
        inside = path.removeprefix("docs/") if path.startswith("docs/") else _INCLUDED_BY.get(path, f"../{path}")
        return f"{link[1]}{inside}{rest}"

    content[0] = re.sub(r'(\]\(|src=")(?![a-z]+:|#)([\w./-]+)([)#"])', relative, content[0])
    show_pictures_in_both_themes(app, page, content)


def fix_anchors_and_links(app: Any, page: str, content: list[str]) -> None:
    """Turns HTML anchors into targets, and links to a file of the root into links to the page that includes it."""
    content[0] = re.sub(r'<a id="([\w-]+)"></a>', r"[]{#\1}", content[0])
    for file, here in _INCLUDED_BY.items():
        content[0] = re.sub(rf"\]\((\.\./)*\.\./{file}", f"]({os.path.relpath(here, os.path.dirname(page) or '.')}", content[0])


def show_pictures_in_both_themes(app: Any, page: str, content: list[str]) -> None:
    """Puts beside each picture that has a dark one, such as `play-dark.webp`, the dark one; the site shows one of them."""

    def pair(found: re.Match[str]) -> str:
        dark = f"{found[2]}-dark{found[3]}"
        if not (Path(app.srcdir, page).parent / dark).exists():
            return found[0]
        return f"![{found[1]}]({found[2]}{found[3]}){{.only-light}}\n![{found[1]}]({dark}){{.only-dark}}"

    content[0] = re.sub(r"!\[([^]]+)\]\(([\w./-]+)(\.\w+)\)", pair, content[0])


def load_pictures_late(app: Any, page: str, template: str, context: dict[str, Any], _: Any) -> None:
    """Loads pictures only when they come into sight, and those of the other theme never."""
    context["body"] = context.get("body", "").replace("<img ", '<img loading="lazy" ')


def setup(app: Any) -> None:
    """Connects the functions above to the events of Sphinx."""
    app.connect("include-read", fix_links_of_included_file)
    app.connect("source-read", fix_anchors_and_links)
    app.connect("source-read", show_pictures_in_both_themes)
    app.connect("html-page-context", load_pictures_late)
