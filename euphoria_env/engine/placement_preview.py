"""What a placement would cost and which recruits would act on it, asked by who explains moves; it plays nothing."""

from __future__ import annotations

from euphoria_env.board import NUM_AREAS
from euphoria_env.cards.recruits import ROW_AT, ROW_CARD, ROW_EVENT, ROW_WHEN
from euphoria_env.cards.vocabulary import Event, When
from euphoria_env.engine.abilities import holds
from euphoria_env.engine.costs import asks_artifacts, cost_of, holdings, markers_due, payable
from euphoria_env.engine.jit import entry
from euphoria_env.engine.state import powers


@entry
def price(games, i, p, space, out):
    """Writes what a space costs a player now: units a, set a, units b, set b, morale, knowledge; whether it asks for cards."""
    g = games[i]
    bumping = space >= NUM_AREAS and g["occupant"][space] >= 0 and g["occupant"][space] != p
    out[0], out[1], out[2], out[3] = cost_of(g, p, space, bumping)
    out[4], out[5] = markers_due(g, p, space)
    return asks_artifacts(space)


@entry
def affordable(games, i, p):
    """Whether the cost of the placement under way can be paid now (R4.3)."""
    g = games[i]
    bumped_other = g["bumped"] >= 0 and g["bumped"] != p
    return payable(g, p, int(g["space"]), bumped_other, int(g["due_morale"]), holdings(g, p))


@entry
def acting(games, i, p, face, space, star, rows):
    """Marks the abilities of a player that would act after a placement, whatever their price and whatever is paid for the space.

    Game i is a copy that may be spoilt. `star`: whether the space would give a star (R13.6). What depends on the payment or on
    the gain that is chosen is marked too.
    """
    g = games[i]
    g["space"] = space
    g["placed_face"] = face
    g["star_placed"] = star
    g["paid"] = -1
    g["took_resource"] = 1
    g["bumped"] = -1
    if space < NUM_AREAS:
        g["area"][space, p, face - 1] += 1
    else:
        if g["occupant"][space] >= 0:
            g["bumped"] = g["occupant"][space]
            g["bumped_face"] = g["face"][space]
        g["occupant"][space] = p
        g["face"][space] = face
    bumps_other = g["bumped"] >= 0 and g["bumped"] != p
    cards = powers(g, p)
    for row in range(len(ROW_EVENT)):
        event, when = int(ROW_EVENT[row]), int(ROW_WHEN[row])
        rows[row] = (
            (cards >> int(ROW_CARD[row])) & 1
            and (event == Event.PLACED or ((event == Event.BUMPED or event == Event.BUMPING) and bumps_other))
            and (ROW_AT[row] >> space) & 1
            and (when == When.NO_ARTIFACT or when == When.TOOK_RESOURCE or holds(g, p, when))
        )
