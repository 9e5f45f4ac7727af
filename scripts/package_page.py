"""Makes of README.md the page of the package: where its links lead if the repository is not beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class PackagePage(MetadataHookInterface):
    """Adds README.md and the addresses of the repository, which is known where the code host builds; elsewhere links stay."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Sets `readme` and `urls`."""
        text, host = Path(self.root, "README.md").read_text(encoding="utf-8"), os.environ
        if "GITHUB_REPOSITORY" in host:
            address = f"{host['GITHUB_SERVER_URL']}/{host['GITHUB_REPOSITORY']}"
            pages = f"{address}/blob/v{metadata['version']}"
            text = with_addresses(text, pages)
            metadata["urls"] = {
                "Repository": address,
                "Documentation": f"{pages}/docs/start.md",
                "Changelog": f"{pages}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_addresses(text: str, pages: str) -> str:
    """Completes the relative links of a text of Markdown; `pages` is the address of the folder. Pictures are asked for raw."""
    text = re.sub(r"(!\[[^]]*\]\()(?![a-z]+:)", rf"\g<1>{pages.replace('/blob/', '/raw/')}/", text)
    return re.sub(r"(?<!!)(\[[^]]*\]\()(?![a-z]+:|#)", rf"\g<1>{pages}/", text)
