"""Arguments that stay the same for many calls of a compiled function: unpacking them once can take longer than a call."""

from __future__ import annotations

from typing import Any

from euphoria_env.engine.jit import native, type_of, types

WORDS = 256  # room for them, in int64; compilation fails if they need more


def _store(typing_context: Any, packed: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[1].type
        assert context.get_abi_sizeof(kind) <= 8 * WORDS
        room = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store(arguments[1], builder.bitcast(room, kind.as_pointer()))
        return context.get_dummy_value()

    return types.none(packed, value), generate


@native(_store)
def store(packed: Any, value: Any) -> None:
    """Writes a tuple of borrowed arrays into int64 (WORDS,); whoever reads them there must keep the arrays alive."""


def loader(kind: Any) -> Any:
    """Returns a function that reads what `store` wrote, of this kind; in plain Python the tuple itself is passed instead."""

    def load(typing_context: Any, packed: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            room = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.load(builder.bitcast(room, context.get_value_type(found).as_pointer()))

        found = type_of(kind)
        return found(packed), generate

    return native(load)(lambda packed: packed)
