"""The stage behind the page, without a page."""

from __future__ import annotations

from threading import Thread

import pytest
from running_studio import until

from pliant.errors import RefusedError
from pliant.studio.stage import Stage


def test_a_stop_while_a_task_starts_reaches_the_robot() -> None:
    stage = Stage()
    starts = Thread(target=stage.start, args=("hand_guiding",))
    starts.start()
    try:
        until(lambda: stage._starting)
        stage.halt()
        starts.join()
        until(lambda: int(stage.running.state.goal.stop) != 0)
    finally:
        starts.join()
        stage.close()


def test_without_a_loop_a_stop_is_refused() -> None:
    with pytest.raises(RefusedError, match="No loop is running"):
        Stage().halt()
