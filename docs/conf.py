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

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# The pages are Markdown with GitHub's anchors for headings; the notebook runs when the site is built.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "html_image"]
nb_execution_mode = "cache"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_output_stderr = "remove"
os.environ.pop("MPLBACKEND", None)  # so that the notebook shows its plots

# Backticks in docstrings become links if they name something that the site documents.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["pyspiel"]
autodoc_type_aliases = {"Player": "euphoria_env.agent_protocol.Player"}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", ".*"),  # backticks around other things
    ("py:class", "Outcome"),  # a short name for a tuple
    ("py:exc", r"\w+"),  # of another module, or of a library
    ("py:.*", r"(collections|gymnasium|np|numpy|pathlib|pettingzoo|pyspiel|stable_baselines3|types)\..*"),
]

html_theme = "furo"
html_title = f"{project} {version}"
html_static_path = html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_use_index = html_domain_indices = False
html_show_search_summary = False  # it would fetch pages, which browsers refuse for local files
smartquotes_action = "D"  # only dashes, because quotes are often code

# --------------------------------------------------------------------------------------------------- links and anchors

# Files of the root, and the pages that include them.
_INCLUDED_BY = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}


def fix_links_of_included_file(app: Any, file: Path, page: str, content: list[str]) -> None:
    """Makes the links of a file of the root relative to the page that includes it."""

    def relative(link: re.Match[str]) -> str:
        path, rest = link[2], link[3]
        inside = path.removeprefix("docs/") if path.startswith("docs/") else _INCLUDED_BY.get(path, f"../{path}")
        return f"{link[1]}{inside}{rest}"

    content[0] = re.sub(r'(\]\(|src=")(?![a-z]+:|#)([\w./-]+)([)#"])', relative, content[0])


def fix_anchors_and_links(app: Any, page: str, content: list[str]) -> None:
    """Turns HTML anchors into targets, and links to a file of the root into links to the page that includes it."""
    content[0] = re.sub(r'<a id="([\w-]+)"></a>', r"[]{#\1}", content[0])
    for file, here in _INCLUDED_BY.items():
        content[0] = re.sub(rf"\]\((\.\./)*\.\./{file}", f"]({os.path.relpath(here, os.path.dirname(page) or '.')}", content[0])


def setup(app: Any) -> None:
    """Connects the functions above to the events of Sphinx."""
    app.connect("include-read", fix_links_of_included_file)
    app.connect("source-read", fix_anchors_and_links)
