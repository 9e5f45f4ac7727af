"""Builds wheels, which carry the compiled engine: nothing is compiled where they are installed, nor twice for equal sources."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036 - before anything is installed for the build
    sys.exit(f"euphoria-env requires Python 3.11 or newer; this is Python {platform.python_version()}")
os.environ.pop("PIP_BUILD_TRACKER", None)  # where it is set, hatchling builds a whole wheel for pip to get the metadata

from hatchling.build import *  # noqa: E402, F403 - this file is the whole backend
from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # noqa: E402

# The processors that the wheel is for, in LLVM's names; `cache_files.processor` knows which of them can run it.
PROCESSORS = {"x86_64": "x86-64-v3", "AMD64": "x86-64-v3"}
PROGRAM = "import euphoria_agents; from euphoria_env.engine import library; library.ready_all()"


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Returns what an editable installation needs, which compiles at its first use."""
    return []


class CompiledEngine(BuildHookInterface):
    """Puts the libraries of both packages into a wheel; compiles those that were not kept."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        os.environ["NUMBA_CPU_NAME"] = PROCESSORS.get(platform.machine(), "generic")
        sys.path[:0] = self._roots = [self.root, str(Path(self.root, "agents"))]
        # By its file: the packages themselves need numpy.
        spec = spec_from_file_location("cache_files", Path(self.root, "euphoria_env", "engine", "cache_files.py"))
        assert spec is not None and spec.loader is not None
        self._files = module_from_spec(spec)
        spec.loader.exec_module(self._files)

    def dependencies(self) -> list[str]:
        """Returns what must be installed to build: nothing, if the libraries were kept."""
        return [] if all(map(self._files.kept, self._files.PACKAGES)) else self.metadata.core.dependencies

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the libraries to the wheel, which then is for one version of Python and one kind of processor."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        if not self._files.ship(Path(self._folder.name)):
            self._compile()
        build_data["force_include"][self._folder.name] = "euphoria_env/compiled"
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def _compile(self) -> None:
        """Compiles the libraries, and keeps them in the user's cache if that is possible."""
        print("compiling the engine, for a minute or two: once for these sources", file=sys.stderr, flush=True)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([*self._roots, *filter(None, sys.path)])}
        is_kept = self._files.cache_directory() is not None
        if not is_kept:
            environment["NUMBA_CACHE_DIR"] = self._folder.name
        done = subprocess.run([sys.executable, "-P", "-c", PROGRAM], env=environment)
        if done.returncode != 0 or (is_kept and not self._files.ship(Path(self._folder.name))):
            sys.exit("the engine could not be compiled, or not be written: see the lines above")
