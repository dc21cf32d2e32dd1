"""A controller that is shown the same reading in every tick of a benchmark."""

from __future__ import annotations

import math

from pliant.control.controller import Controller


def accept_same_reading(controller: Controller) -> Controller:
    """No check of age or motion may stop it; all of them are computed."""
    sense, guard = controller.parameters[0].sense, controller.parameters[0].guard
    sense.frozen_s = 0.0
    guard.stale_s = guard.jump_rad = guard.disagreement_rad = guard.deviation_rad = math.inf
    return controller
