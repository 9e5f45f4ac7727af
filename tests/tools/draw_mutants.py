"""Draws mutants of a cosmic-ray session and drops the others: python draw_mutants.py SESSION NUMBER SEED."""

import random
import sys

from cosmic_ray.work_db import use_db


def _place(item):
    mutation = item.mutations[0]
    return str(mutation.module_path), mutation.operator_name, mutation.occurrence


if __name__ == "__main__":
    session, number, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with use_db(session) as db:
        found = sorted(db.pending_work_items, key=_place)  # their ids are new in each session
        db.clear()
        db.add_work_items(random.Random(seed).sample(found, len(found))[:number])
    print(f"{number} of {len(found)} mutants")
