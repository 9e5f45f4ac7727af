"""Prints the oldest versions that `pyproject.toml` allows, as constraints for pip: `make test-oldest` installs them."""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("play", "train", "render", "web", "data")

for requirement in (*PROJECT["dependencies"], *(one for extra in EXTRAS for one in PROJECT["optional-dependencies"][extra])):
    if oldest := re.match(r"([\w-]+)>=([\d.]+)", requirement):
        print(f"{oldest[1]}=={oldest[2]}")
