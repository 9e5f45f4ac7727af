"""Compiles the parts of the engine with numba: to LLVM's code and no further, since only entry points become machine code.

On its own numba would link each function with all that it calls, optimise that and turn it into machine code, again for
each of its callers.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _Code(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part; an entry point that calls it takes it over, with all that it calls."""

    def finalize(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            module = self._final_module.clone()
            for code in self._called():
                module.link_in(code._final_module if isinstance(code, _Code) else code._get_module_for_linking(), preserve=True)
            for function in module.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"  # may be there twice, and dropped when it is inlined
            self._shared_module = module
        return self._shared_module

    def _called(self) -> list[JITCodeLibrary]:
        """The code of all that it calls, and of all that those parts call."""
        found: dict[JITCodeLibrary, None] = {}
        left = [self]
        while left:
            new = [code for code in left.pop()._linking_libraries if code not in found]
            found |= dict.fromkeys(new)
            left += [code for code in new if isinstance(code, _Code)]
        return list(found)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]
    """Numba's own; then makes the part known to those who call it."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        key = object()  # where numba has the function to call from Python
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """The stages of numba without machine code and wrappers."""

    def define_pipelines(self) -> list[Any]:
        """See numba."""
        state = self.state
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        state.library = _Code(state.targetctx.codegen(), state.func_id.func_qualname)
        stages = DefaultPassBuilder.define_nopython_pipeline(state)
        stages.passes = [(_Lowering if stage is NativeLowering else stage, text) for stage, text in stages.passes]
        stages.finalize()
        return [stages]
