"""The configuration of Sphinx, which makes a site of these pages (`make site`); it reads nothing from the network."""

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

# Pages: Markdown as on the code host, with its anchors of headings; the notebook runs when the site is made.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "html_image"]
nb_execution_mode = "cache"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_output_stderr = "remove"
os.environ.pop("MPLBACKEND", None)  # its plots are to be seen

# The reference: the docstrings. Backticks in them become links where they name something that is on these pages.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"Player": "euphoria_env.agent_protocol.Player"}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", ".*"),  # backticks around anything else
    ("py:class", "Outcome"),  # a short name for a tuple
    ("py:exc", r"\w+"),  # of another module, or of a library
    ("py:.*", r"(collections|gymnasium|np|numpy|pathlib|pettingzoo|stable_baselines3|types)\..*"),
]

html_theme = "furo"
html_title = f"{project} {version}"
html_static_path = html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_use_index = html_domain_indices = False
html_show_search_summary = False  # would fetch the pages, which a browser refuses in a folder
smartquotes_action = "D"  # dashes alone: quotes are often code

# ------------------------------------------------------------------------------------------- from the code host to the site

# Files of the root, and the pages that include them.
_AT_HOME = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}


def links_of_the_root(app: Any, file: Path, page: str, content: list[str]) -> None:
    """A file of the root, included by a page: its links lead on from here."""

    def moved(link: re.Match[str]) -> str:
        path, rest = link[2], link[3]
        inside = path.removeprefix("docs/") if path.startswith("docs/") else _AT_HOME.get(path, f"../{path}")
        return f"{link[1]}{inside}{rest}"

    content[0] = re.sub(r'(\]\(|src=")(?![a-z]+:|#)([\w./-]+)([)#"])', moved, content[0])


def as_on_the_code_host(app: Any, page: str, content: list[str]) -> None:
    """The anchors of a page become targets; links to a file of the root lead to the page that includes it."""
    content[0] = re.sub(r'<a id="([\w-]+)"></a>', r"[]{#\1}", content[0])
    for file, here in _AT_HOME.items():
        content[0] = re.sub(rf"\]\((\.\./)*\.\./{file}", f"]({os.path.relpath(here, os.path.dirname(page) or '.')}", content[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("include-read", links_of_the_root)
    app.connect("source-read", as_on_the_code_host)
