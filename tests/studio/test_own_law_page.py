"""A law from a user's file in the Studio: sliders, plots and words that follow from its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running_studio import Running, opened, part, start, until

EXAMPLE = Path(__file__).parents[2] / "examples" / "12_your_own_law.py"
DAMPING = "damper_wall.damping_n_s_m"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("own_law")
    (folder / "own.yaml").write_text(f"law: {EXAMPLE}\n")
    running = start(str(folder / "own.yaml"), folder)
    yield running
    running.end()


def test_every_live_number_of_your_own_law_has_a_slider_that_works(own: Running, browser: Any) -> None:
    with opened(browser, own.url) as page:
        for name in ("damping_n_s_m", "wall_z_m", "wall_n_m"):
            until(lambda name=name: part(page, f"slider-damper_wall.{name}").is_visible())
        assert part(page, "law").text_content() == "damper_wall"
        slider, before = part(page, f"slider-{DAMPING}"), own.loop.parameters.damper_wall.damping_n_s_m
        until(lambda: slider.get_attribute("data-zones") is not None)  # its bounds are checked like those of any law
        slider.press("PageUp")
        own.until(lambda: own.loop.parameters.damper_wall.damping_n_s_m > before)
        adopted = own.loop.parameters.damper_wall.damping_n_s_m
        until(lambda: float(part(page, f"number-{DAMPING}").input_value()) == pytest.approx(adopted))
        assert "rejected" not in (slider.locator("..").get_attribute("class") or "")


@pytest.mark.slow
def test_the_page_plots_the_state_of_a_law_of_your_own_while_it_runs(own: Running, browser: Any) -> None:
    with opened(browser, own.url) as page:
        until(lambda: part(page, "plot-Wall").is_visible())
        assert part(page, "force-x").is_visible()  # it feels a virtual push
        assert not part(page, "goal-x").is_visible()  # it does not use the goal
