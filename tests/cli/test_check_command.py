"""`pliant check` ends with 0 for a contact that will settle, with 1 and the figure at fault for one that will not."""

from __future__ import annotations

import json
import re

from support.words import say


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


def test_a_declared_lag_that_is_too_short_is_named_and_the_worst_touch_is_that_of_the_guard() -> None:
    settings = ("--set", "contact.lag_s=0.03", "--set", "contact.force_limit_n=10")
    done = say("check", "dome", *settings)
    said = " ".join(done.stdout.split())
    assert (
        "contact.lag_s = 30 ms is shorter than the lag of the model, 50.1 ms. Raise contact.lag_s to 0.0501 s." in said
    )
    assert "In the worst case, the first touch of 1e+05 N/m reaches 11.3 N" in said
    assert "targets missed: declared lag relative to the model;" in said
    rejected = say("run", "dome", "--fast", *settings).stderr
    assert "could reach 11 N, above contact.force_limit_n = 10 N." in rejected
    assert "set it to the actual total lag, 0.0501 s." in rejected


def test_a_gain_margin_beyond_the_search_is_shown_as_a_bound() -> None:
    done = say("check", "dome", "--set", "contact.margin=0.15")
    assert re.search(r" 1e\+03 N/m: gain margin\s+│\s+≥ 100 │", done.stdout)
    assert "All targets met." in done.stdout


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


def test_a_task_without_a_surface_is_checked_in_a_hand_and_one_without_contact_is_rejected() -> None:
    push = say("check", "push")
    assert push.returncode == 0
    assert "push declares no surface, so the check assumes 100 to 1000 N/m" in " ".join(push.stdout.split())
    hold = say("check", "hold")
    assert hold.returncode == 2
    assert "hold uses the law hold, but only admittance, contact and laws of your own" in hold.stderr
    fetch = say("check", "fetch")
    assert fetch.returncode == 2
    said = "fetch is a mission; pliant check does not support missions. To simulate it: pliant run fetch."
    assert said in fetch.stderr
