"""Puts the compiled engine into wheels, so that nothing is compiled where they are installed."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The processors that the wheel is for, in LLVM's names; `library.shipped_processor` knows which of them can run it.
PROCESSORS = {"x86_64": "x86-64-v3", "AMD64": "x86-64-v3"}


class CompiledEngine(BuildHookInterface):
    """Compiles both packages while a wheel is built; an editable installation compiles at its first use."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the libraries to the wheel, which then is for one version of Python and one kind of processor."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        environment = os.environ | {
            "NUMBA_CPU_NAME": PROCESSORS.get(platform.machine(), "generic"),
            "NUMBA_CPU_FEATURES": "",
            "PYTHONPATH": os.pathsep.join([self.root, str(Path(self.root, "agents")), *filter(None, sys.path)]),
        }
        program = "import sys; from euphoria_env.engine import library; library.ship(sys.argv[1])"
        subprocess.run([sys.executable, "-P", "-c", program, self._folder.name], env=environment, check=True)
        build_data["force_include"][self._folder.name] = "euphoria_env/compiled"
        build_data["pure_python"], build_data["infer_tag"] = False, True
