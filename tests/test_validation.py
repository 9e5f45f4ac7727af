"""Errors of `euphoria_agents.validation` name the key and what is allowed."""

from typing import Annotated

import msgspec
import pytest

from euphoria_agents.validation import checked, decoded


class Seat(msgspec.Struct, forbid_unknown_fields=True):
    face: Annotated[int, msgspec.Meta(ge=1, le=6)]


class Table(msgspec.Struct, forbid_unknown_fields=True):
    seats: list[Seat]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"seats": [{"face": 7}]}, "table.seats[0].face: expected int <= 6"),
        ({"seats": [{"face": True}]}, "table.seats[0].face: expected int, got bool"),
        ({"seats": []} | {"more": 1}, "table: object contains unknown field more"),
        ({}, "table: object missing required field seats"),
        ([], "table: expected object, got array"),
    ],
)
def test_an_error_names_the_key(value: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        checked(value, Table, "table")
    assert str(caught.value) == message


def test_values_that_fit_are_converted() -> None:
    assert checked({"seats": [{"face": 6}]}, Table) == decoded('{"seats": [{"face": 6}]}', Table) == Table([Seat(6)])


@pytest.mark.parametrize("text", ["", "{", '{"seats": NaN}', b"\xff"])
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError, match="^table is not valid JSON: "):
        decoded(text, Table, "table")
