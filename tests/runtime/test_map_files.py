"""Maps from files: what each kind of pixel means, and one sentence for every file that is no map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pliant.errors import InputError
from pliant.mobile.planning.grid import FREE, OCCUPIED, UNKNOWN, OccupancyGrid, grid_of
from pliant.mobile.planning.map_files import load_map

# Top row: black, grey, white. Bottom row: white, a dark grey, black.
PIXELS = np.array([[0, 128, 255], [255, 100, 0]], np.uint8)
YAML = (
    "image: m.pgm\nresolution: 0.1\norigin: [-1.0, 2.0, 0.0]\nnegate: {negate}\n"
    "occupied_thresh: 0.65\nfree_thresh: 0.196\n"
)


def saved(folder: Path, more: str = "", negate: int = 0, pixels: np.ndarray = PIXELS) -> Path:
    Image.fromarray(pixels).save(folder / "m.pgm")
    (folder / "m.yaml").write_text(YAML.format(negate=negate) + more)
    return folder / "m.yaml"


def test_the_top_row_of_an_image_is_the_top_of_the_map(tmp_path: Path) -> None:
    grid = load_map(saved(tmp_path))
    assert grid.occupancy.tolist() == [[FREE, UNKNOWN, OCCUPIED], [OCCUPIED, UNKNOWN, FREE]]
    assert grid.extent == pytest.approx((-1.0, -0.7, 2.0, 2.2))


def test_negate_turns_black_into_white(tmp_path: Path) -> None:
    grid = load_map(saved(tmp_path, negate=1))
    assert grid.occupancy[0].tolist() == [OCCUPIED, UNKNOWN, FREE]


def test_scale_keeps_what_lies_between(tmp_path: Path) -> None:
    grid = load_map(saved(tmp_path, "mode: scale\n"))
    p = (255 - 100) / 255
    assert grid.occupancy[0, 1] == round(99 * (p - 0.196) / (0.65 - 0.196))


def test_raw_takes_the_pixel_for_the_occupancy(tmp_path: Path) -> None:
    pixels = np.array([[0, 50, 100, 101, 255]], np.uint8)
    assert load_map(saved(tmp_path, "mode: raw\n", pixels=pixels)).occupancy.tolist() == [[0, 50, 100, -1, -1]]


def test_what_an_alpha_channel_hides_is_unknown_in_scale_mode(tmp_path: Path) -> None:
    rgba = np.zeros((1, 2, 4), np.uint8)
    rgba[..., :3], rgba[0, :, 3] = 128, (255, 0)
    Image.fromarray(rgba).save(tmp_path / "m.png")
    (tmp_path / "m.yaml").write_text(YAML.format(negate=0).replace("m.pgm", "m.png") + "mode: scale\n")
    cells = load_map(tmp_path / "m.yaml").occupancy[0]
    assert cells[0] > 0
    assert cells[1] == UNKNOWN


def test_what_shines_through_is_not_free(tmp_path: Path) -> None:
    white = np.full((2, 2, 4), 255, np.uint8)
    white[0, 0, 3], white[1, 1, :3], white[1, 1, 3] = 0, 0, 0
    Image.fromarray(white).save(tmp_path / "map.png")
    assert load_map(tmp_path / "map.png").occupancy.tolist() == [[FREE, OCCUPIED], [UNKNOWN, FREE]]


def test_a_plain_text_pgm_is_read(tmp_path: Path) -> None:
    (tmp_path / "m.pgm").write_text("P2\n# by hand\n3 1\n255\n0 255 0\n")
    assert load_map(tmp_path / "m.pgm").occupancy.tolist() == [[OCCUPIED, FREE, OCCUPIED]]


@pytest.mark.parametrize(
    ("array", "cells"),
    [
        (np.array([[True, False]]), [[OCCUPIED, FREE]]),
        (np.array([[-1, 0, 70]]), [[UNKNOWN, FREE, 70]]),
        (np.array([[0.0, 1.0, np.nan]]), [[FREE, OCCUPIED, UNKNOWN]]),
    ],
)
def test_arrays_are_flags_percent_or_probabilities(tmp_path: Path, array: np.ndarray, cells: list) -> None:
    np.save(tmp_path / "m.npy", array)
    grid = load_map(tmp_path / "m.npy", resolution_m=0.2, origin=(1.0, 2.0))
    assert grid.occupancy.tolist() == cells
    assert grid.resolution_m == 0.2


def test_unknown_cells_block_unless_they_are_said_to_be_free() -> None:
    grid = OccupancyGrid(np.array([[UNKNOWN, FREE, 64, 65]], np.int8), 0.1)
    assert grid.blocked().tolist() == [[True, False, False, True]]
    assert grid.blocked(unknown_is_free=True).tolist() == [[False, False, False, True]]


BAD = {
    "no file": (None, "an existing file"),
    "resolution": ("resolution: 0\n", "greater than 0"),
    "origin": ("origin: [0, 0]\n", r"m\.yaml: origin is \[0, 0\], but it must be 3 numbers\."),
    "turned": ("origin: [0, 0, 1.57]\n", "rotated maps are not supported"),
    "nan": ("origin: [.nan, 0, 0]\n", "finite"),
    "thresholds": ("free_thresh: 0.9\n", "less than occupied_thresh"),
    "mode": ("mode: maybe\n", "trinary"),
    "name": ("imagee: m.pgm\n", "Did you mean 'image'"),
    "image": ("image: other.pgm\n", "relative to the YAML file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_that_is_no_map_gets_one_sentence(tmp_path: Path, case: str) -> None:
    line, words = BAD[case]
    path = saved(tmp_path)
    if line is None:
        path = tmp_path / "none.yaml"
    else:
        kept = [old for old in path.read_text().splitlines() if old.split(":")[0] != line.split(":")[0]]
        path.write_text("\n".join(kept) + "\n" + line)
    with pytest.raises(InputError, match=words):
        load_map(path)


@pytest.mark.parametrize("name", ["m.png", "m.pgm", "m.npy", "m.yaml"])
def test_rubbish_in_a_file_gets_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x00\x01 no map \xff: [")
    with pytest.raises(InputError, match=r"m\.\w+ is not a (complete|NumPy|text)"):
        load_map(tmp_path / name)


def test_another_kind_of_file_and_an_empty_map_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("no map")
    with pytest.raises(InputError, match="map_server"):
        load_map(tmp_path / "m.txt")
    with pytest.raises(InputError, match="rows and columns"):
        grid_of(np.zeros((0, 3)), 0.1)
    with pytest.raises(InputError, match="resolution"):
        grid_of(np.zeros((3, 3)), float("nan"))


def test_a_yaml_file_has_its_own_resolution_and_takes_no_other(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with pytest.raises(InputError, match=r"sets resolution and origin\. Leave out map_"):
        load_map(path, resolution_m=0.2)
    with pytest.raises(InputError, match=r"sets resolution and origin\. Leave out map_"):
        load_map(path, origin=(0.0, 0.0))


def test_a_resolution_of_nothing_is_refused_and_not_the_usual_one(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.zeros((3, 3), bool))
    with pytest.raises(InputError, match="resolution is 0"):
        load_map(tmp_path / "m.npy", resolution_m=0.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("image: m.pgm\nimage: n.pgm\n", r"m\.yaml:2: image is given twice"),
        ("image: [m.pgm\n", r"m\.yaml:2 is not valid YAML"),
        ("image: m.pgm\nresolution: 0.1\norigin: [0, 0, 1]\n", "must be three numbers with 0 as the last"),
        (
            "image: m.pgm\nresolution: 0.1\norigin: [0, 0, 0]\noccupied_thresh: 0.5\nfree_thresh: 0.6\n",
            "must be less than occupied_thresh",
        ),
    ],
)
def test_what_is_wrong_with_a_yaml_file_is_said_where_it_is(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(InputError, match=words):
        load_map(tmp_path / "m.yaml")
