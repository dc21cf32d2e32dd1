"""`pliant check` ends with 0 for a contact that will settle, with 1 and the figure at fault for one that will not."""

from __future__ import annotations

import json

from words import say


def test_a_task_that_will_settle_meets_every_bar() -> None:
    done = say("check", "dome", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["passed"]) == (0, True)
    margins = [figure for figure in found["figures"] if figure["name"].endswith("gain margin")]
    assert margins
    assert all(figure["value"] >= 1.5 for figure in margins)


def test_a_declared_lag_that_is_too_short_ends_with_exit_code_one() -> None:
    done = say("check", "dome", "--json", "--set", "contact.lag_s=0.005")
    found = json.loads(done.stdout)
    assert (done.returncode, found["passed"]) == (1, False)
    assert not found["figures"][0]["met"]
    assert found["figures"][0]["name"] == "declared lag relative to the model"


def test_a_surface_stiffer_than_declared_is_named_with_its_value_and_remedy() -> None:
    done = say("check", "dome", "--set", "contact.stiffness_max_n_m=1e3", "--set", "contact.stiffness_min_n_m=500")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "On a surface of 2e+04 N/m, the gain margin is" in said
    stiffer = "This surface is stiffer than contact.stiffness_max_n_m (1e+03 N/m). Raise contact.stiffness_max_n_m."
    assert stiffer in said
    assert "contact.margin" not in said


def test_a_response_that_is_too_slow_is_not_blamed_on_the_margins() -> None:
    done = say("check", "dome", "--set", "contact.stiffness_max_n_m=1e6")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "The force does not settle to ±5 % within contact.settle_s (10 s) on 1e+03, 5.62e+03" in said
    assert "Lower contact.stiffness_max_n_m or raise contact.settle_s." in said


def test_a_task_without_a_surface_and_a_mission_are_rejected_with_what_to_do() -> None:
    push = say("check", "push")
    assert push.returncode == 2
    assert "push has no surface to check against. Declare one with surface_n_m or under sim.surfaces" in push.stderr
    fetch = say("check", "fetch")
    assert fetch.returncode == 2
    assert "`pliant check` does not support missions, and fetch is one. Run it with `pliant run fetch`." in fetch.stderr
