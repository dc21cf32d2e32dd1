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
