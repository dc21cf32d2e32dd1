"""Pictures and reports of any run: complete, readable, self-contained and the same every time."""

import dataclasses
import re
import warnings
from html.parser import HTMLParser
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from pliant.analysis.pictures import html_report, run_picture, style
from pliant.control.laws.contact.contact_states import DWELL, FAULT, SEEK
from pliant.control.laws.registry import LAWS
from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError
from pliant.records import LIMIT_SPEED, MAX_JOINTS
from support.law_numbers import CONTACT

VOID = {"meta", "img", "source", "br", "link"}


@pytest.fixture(autouse=True)
def no_warnings():
    """A warning of NumPy or Matplotlib is a picture that somebody will not understand."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def no_picture(monkeypatch):
    """For claims about the words of a report, which need no picture."""
    monkeypatch.setattr(html_report, "_picture", lambda recording, names: "")


def noise(records: Any) -> None:
    records["observed"]["limits"][50:90] = LIMIT_SPEED | 1 << 50
    records["state"]["fault"][-20:] = 1


def nothing_is_a_number(records: Any) -> None:
    for part in ("reading", "observed", "command", "state", "goal", "timing"):
        for name in TELEMETRY.dtype[part].names or ():
            if records[part][name].dtype.kind == "f":
                records[part][name] = np.nan


def infinite(records: Any) -> None:
    records["observed"]["wrench"][3] = np.inf
    records["observed"]["twist"][3] = -np.inf


@pytest.mark.parametrize("change", [noise, nothing_is_a_number, infinite])
def test_a_run_with_any_values_can_be_drawn(make, tmp_path, change):
    path = run_picture.plot_recording(make(change), tmp_path / "run.png")
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_run_of_any_length_can_be_drawn(make, pace, tmp_path, n):
    path = run_picture.plot_recording(make(pace, n=n), tmp_path / "run.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_paced_run_shows_its_timing_and_another_the_singular_value(make, pace):
    assert run_picture.draw(make(pace)).axes[-1].get_title("left") == "Loop timing"
    assert "singular value" in run_picture.draw(make()).axes[-1].get_title("left")


def test_every_axis_has_a_title_and_a_unit(make, pace):
    for recording in (make(noise), make(pace)):
        fig = run_picture.draw(recording)
        assert len(fig.axes) == 8
        for ax in fig.axes:
            assert ax.get_title("left")
            assert re.search(r"\[.+\]", ax.get_ylabel()), ax.get_title("left")
        assert [ax.get_xlabel() for ax in fig.axes[-2:]] == ["time [s]", "time [s]"]


def test_titles_and_legends_do_not_overlap(make, pace):
    many = dataclasses.replace(make(noise), joint_names=[f"joint_{i}" for i in range(MAX_JOINTS)])
    for recording in (many, make(pace)):
        fig = run_picture.draw(recording)
        canvas: Any = fig.canvas
        canvas.draw()
        for ax in fig.axes:
            legend = ax.get_legend()
            words = [text for text in (ax.title, ax._left_title) if text.get_text()]  # pyright: ignore[reportAttributeAccessIssue]
            if legend is not None:
                assert not any(legend.get_window_extent().overlaps(word.get_window_extent()) for word in words)


def test_the_title_names_robot_law_rate_and_duration(make):
    recording = make()
    assert run_picture.title(recording) == "sim:two & <more> · admittance"
    assert run_picture.extent(recording) == "100 Hz · 3.99 s · 400 records"
    assert run_picture.title(make(meta={})) == "run.mcap"


def test_the_title_names_the_laws_in_the_order_in_which_they_ran(make):
    def two_laws(records):
        records["goal"]["law"] = np.where(records["time_s"] < 1, LAWS["hold"].number, LAWS["admittance"].number)

    assert run_picture.title(make(two_laws, meta={"robot": "sim:ur5e", "law": "hold"})) == "sim:ur5e · hold, admittance"


def test_new_parameters_and_a_failing_sensor_are_marked_where_they_happen(make):
    def happenings(records):
        records["revision"] = records["time_s"] >= 1.5
        records["state"]["trouble"] = (records["time_s"] >= 2.0) & (records["time_s"] < 2.1)

    words: dict[str, Any] = {word.get_text(): word for word in run_picture.draw(make(happenings)).axes[0].texts}
    assert words["parameters"].xy[0] == pytest.approx(1.5)
    assert words["sensor fault"].xy[0] == pytest.approx(2.1)
    assert not run_picture.draw(make()).axes[0].texts


def pressing(records: Any) -> None:
    contact, n = records["contact"], len(records)
    records["state"]["law"] = CONTACT
    contact["state"][:], contact["target_n"][:], contact["force_n"][:] = SEEK, 5.0, 0.0
    contact["state"][n // 3 :], contact["force_n"][n // 3 :] = DWELL, 4.9
    contact["state"][2 * n // 3 :] = FAULT


def test_a_contact_shows_its_force_its_target_and_its_states(make):
    panel = run_picture.draw(make(pressing)).axes[2]
    assert "Normal force" in panel.get_title(loc="left") + panel.get_title()
    assert [text.get_text() for text in panel.texts] == ["seek", "dwell", "fault"]
    target = np.asarray(panel.get_lines()[1].get_ydata(), float)
    n = len(target)
    assert np.isnan(target[: n // 3]).all()
    assert (target[n // 3 : 2 * n // 3] == 5.0).all()
    assert np.isnan(target[2 * n // 3 :]).all()


def test_long_joint_names_become_numbers():
    assert run_picture.short_names(["elbow_joint", "wrist_1_joint"]) == ["elbow", "wrist_1"]
    assert run_picture.short_names([f"shoulder_number_{i}_joint" for i in range(6)]) == ["1", "2", "3", "4", "5", "6"]


def test_drawing_leaves_matplotlib_as_it_was(make, tmp_path):
    before = dict(mpl.rcParams)
    run_picture.plot_recording(make(), tmp_path / "run.png", theme=style.DARK)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("ending", [pytest.param(it, marks=[pytest.mark.slow] * (it != "svg")) for it in style.FORMATS])
def test_the_same_run_gives_the_same_picture(make, tmp_path, ending):
    one = run_picture.plot_recording(make(n=50), tmp_path / f"one.{ending}").read_bytes()
    assert run_picture.plot_recording(make(n=50), tmp_path / f"two.{ending}").read_bytes() == one


def test_a_picture_that_cannot_be_written_is_refused_by_name(tmp_path):
    fig, _ = style.figure(1, 1, "empty")
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf"):
        style.save(fig, tmp_path / "run.txt")
    with pytest.raises(InputError, match=r"Cannot write .*: the folder does not exist\. Choose another file"):
        style.save(fig, tmp_path / "nowhere" / "run.png")


@pytest.mark.usefixtures("no_picture")
def test_a_report_that_cannot_be_written_is_refused_by_name(make, tmp_path):
    with pytest.raises(InputError, match=r"Cannot write .*: the folder does not exist\. Choose another file"):
        html_report.write_report(make(n=2), tmp_path / "nowhere" / "run.html")


class Page(HTMLParser):
    """Checks that tags are balanced, and collects text and addresses."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words = ""
        self.addresses: list[str] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "srcset", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words += data + "\n"


@pytest.mark.parametrize("n", [0, pytest.param(400, marks=pytest.mark.slow)])
def test_a_report_is_one_well_formed_page_that_asks_for_nothing_else(make, tmp_path, n):
    page = html_report.write_report(make(n=n), tmp_path / "run.html").read_text()
    found = Page(page)
    assert len(found.addresses) == 2
    assert all(address.startswith("data:image/png;base64,") for address in found.addresses)
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)
    assert "url(" not in page
    assert "@import" not in page


@pytest.mark.usefixtures("no_picture")
def test_text_of_the_run_is_text_on_the_page(make):
    page = html_report.html(make(noise), {"limits": {LIMIT_SPEED: "<script>alert(1)</script>"}, "faults": {1: "<i>x"}})
    assert "<script" not in page
    assert "<i>" not in page
    words = Page(page).words
    assert "sim:two & <more>" in words
    assert "Limit that acted: <script>alert(1)</script>" in words
    assert "spring <of the virtual mass>" in words


@pytest.mark.usefixtures("no_picture")
def test_a_report_has_the_task_as_a_file_would_say_it_and_in_its_title(make):
    task = {
        "name": "grind",
        "robot": "sim:ur5e",
        "start_q": [0.0, 1.5],
        "events": [],
        "params": {"sense": {"hold_s": 1}},
    }
    recording = make(meta={"name": "grind", "robot": "sim:ur5e", "task": task, "arm": {"v_max": [1.0]}})
    page = html_report.html(recording)
    assert "<h1>grind · sim:ur5e" in page
    assert "name: grind\nrobot: sim:ur5e\nstart_q: [0.0, 1.5]\n" in page
    assert "v_max" not in page


def test_a_report_tells_faults_and_missing_ticks_first(make):
    def lossy(records: Any) -> None:
        noise(records)
        records["tick"][100:] += 3

    words = Page(html_report.html(make(lossy))).words
    assert words.index("Fault at 3.8 s:") < words.index("3 ticks are missing:") < words.index("Peak force")


@pytest.mark.usefixtures("no_picture")
def test_parameters_are_told_with_unit_and_the_time_of_their_change(make):
    recording = make()
    assert [(c.time_s, c.name, c.unit, c.before, c.after) for c in html_report.changes(recording)] == [
        (1.25, "limits.speed_m_s", "m/s", 0.25, 0.5)
    ]
    words = Page(html_report.html(recording)).words.split("\n")
    assert {"stiffness", "N/m", "diag(250, 250, 250)", "limits.speed_m_s", "1.25 s"} <= set(words)


@pytest.mark.usefixtures("no_picture")
def test_a_thousand_changes_do_not_make_a_thousand_lines(make):
    recording = make()
    steps = [p._replace(revision=i, time_s=i / 100) for i in range(500) for p in recording.parameters]
    recording.parameters[:] = steps
    words = Page(html_report.html(recording)).words
    assert f"{999 - html_report.MOST_CHANGES} more changes are in the recording." in words


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.float64(0.25), "0.25"),
        (np.int64(3), "3"),
        (np.array([1.0, 2.5]), "[1, 2.5]"),
        (np.diag([1.0, 2.0]), "diag(1, 2)"),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), "[[1, 2], [3, 4]]"),
        (np.array([[1.0, 2.0, 3.0]]), "[[1, 2, 3]]"),
    ],
)
def test_values_are_written_as_a_reader_would(value: Any, shown: str):
    assert html_report.value_text(value) == shown
