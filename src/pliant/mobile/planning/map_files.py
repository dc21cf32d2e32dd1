"""Maps from files: YAML with an image (the format of ROS's map_server), an image alone, or a NumPy array.

    trinary   p > occupied_thresh: occupied, p < free_thresh: free, unless it is transparent; the rest is unknown
    scale     the same, with values in between in proportion to p; transparent pixels are unknown
    raw       the pixel value is the occupancy in percent; above 100: unknown

p = (255 - value)/255, or value/255 with `negate`. The first row of an image is the top of the map. The first row of a
NumPy array is its bottom (smallest y), as in a ROS message.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image, UnidentifiedImageError
from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from pliant.errors import InputError, RejectedError
from pliant.mobile.planning.grid import FREE, OCCUPIED, UNKNOWN, OccupancyGrid
from pliant.params.declare import Section, Three, validated
from pliant.params.outside_files import is_regular
from pliant.task.bundled_files import find_file, read_yaml

Array = np.ndarray[Any, Any]

IMAGES = (".pgm", ".png")
DEFAULT_RESOLUTION_M = 0.05


class MapFile(Section):
    """The YAML file of a map, in the format of ROS's map_server."""

    image: str
    resolution: float = Field(gt=0)
    origin: Three
    negate: int = Field(0, ge=0, le=1)
    occupied_thresh: float = Field(0.65, ge=0, le=1)
    free_thresh: float = Field(0.196, ge=0, le=1)
    mode: Literal["trinary", "scale", "raw"] = "trinary"

    @field_validator("origin")
    @classmethod
    def _is_not_turned(cls, value: Three) -> Three:
        if abs(value[2]) > 1e-9:
            raise PydanticCustomError("turned", "three numbers with 0 as the last: rotated maps are not supported")
        return value

    @field_validator("free_thresh")
    @classmethod
    def _lies_below(cls, value: float, info: ValidationInfo) -> float:
        if value >= info.data.get("occupied_thresh", 1.0):
            raise PydanticCustomError("order", "less than occupied_thresh")
        return value


_PLAIN = MapFile.model_validate({"image": "", "resolution": 1.0, "origin": (0.0, 0.0, 0.0)})
"""The rules for an image without a YAML file: the usual ones."""


def load_map(
    name: Path | str,
    *,
    resolution_m: float | None = None,
    origin: tuple[float, float] | None = None,
    options: tuple[str, str] = ("map_resolution_m", "map_origin_m"),
) -> OccupancyGrid:
    """Load the map file `name`, or the map of this name that comes with Pliant.

    A YAML file contains resolution and origin; for the other kinds they can be given. `options` is how messages name
    them.
    """
    path = find_file("map", name)
    kind = path.suffix.lower()
    if kind not in (".yaml", ".yml", *IMAGES, ".npy"):
        raise _unusable(path, "is not a map. Known kinds: .yaml (map_server), .pgm, .png, .npy")
    if kind in (".yaml", ".yml"):
        if resolution_m is not None or origin is not None:
            given = zip(options, (resolution_m, origin), strict=True)
            named = " and ".join(name for name, value in given if value is not None)
            raise RejectedError(f"The map file {path} sets resolution and origin. Leave out {named}.")
        return _from_yaml(path)
    cells = _array(path) if kind == ".npy" else occupancy(_pixels(path), _PLAIN)
    side = DEFAULT_RESOLUTION_M if resolution_m is None else resolution_m
    return OccupancyGrid(cells, side, origin or (0.0, 0.0), path.stem)


def check_map(path: Path) -> Path:
    """The file of a map, if its YAML is that of a map; images are not looked at."""
    if path.suffix.lower() in (".yaml", ".yml"):
        validated(MapFile, _entries(path), path.name)
    return path


def files_of(path: Path) -> list[Path]:
    """The files of a map: the file itself, and the image that it names."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return [path]
    return [path, path.parent / str(_entries(path).get("image", ""))]


def _entries(path: Path) -> dict[str, Any]:
    """The content of the YAML file of a map."""
    data = read_yaml("map", path)
    if not isinstance(data, dict) or not data.keys() & MapFile.model_fields.keys():
        why = (
            "the entry image is missing"
            if isinstance(data, dict)
            else "it is empty"
            if data is None
            else "not a mapping"
        )
        entries = "A map file has the entries image, resolution and origin (the format of ROS's map_server)."
        raise RejectedError(f"{path} is not a map: {why}. {entries}", field="the map", value=str(path))
    return data


def _from_yaml(path: Path) -> OccupancyGrid:
    about = validated(MapFile, _entries(path), path.name)
    image = path.parent / about.image
    if not is_regular(image) or image.suffix.lower() not in IMAGES:
        allowed = "an existing .pgm or .png file, relative to the YAML file"
        raise InputError("image", about.image, allowed).at(path.name)
    return OccupancyGrid(occupancy(_pixels(image), about), about.resolution, about.origin[:2], path.stem)


def _pixels(path: Path) -> Array:
    """Grey values 0 to 255 and opacity 0 to 1 of an image: (rows, columns, 2), the bottom row first."""
    try:
        with Image.open(path) as image:
            grey = image.mode in ("1", "L", "I", "I;16")
            deep = image.mode.startswith("I")
            data = np.asarray(image if grey else image.convert("RGBA"), float)
            if image.mode == "1":
                data = data * 255.0
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise _unusable(path, "is not a complete PGM or PNG image") from None
    if deep:  # 16 bits to 8
        data = data / 257.0
    value, alpha = (data, np.ones_like(data)) if grey else (data[..., :3].mean(-1), data[..., 3] / 255.0)
    return np.stack([value, alpha], -1)[::-1]


def occupancy(pixels: Array, about: MapFile) -> Array:
    """Occupancy in percent of pixels (rows, columns, 2), by the rules of the map file."""
    value, alpha = pixels[..., 0], pixels[..., 1]
    if about.mode == "raw":
        return np.where(value <= 100, np.round(value), UNKNOWN).astype(np.int8)
    p = value / 255.0 if about.negate else (255.0 - value) / 255.0
    low, high = about.free_thresh, about.occupied_thresh
    between = np.full(p.shape, float(UNKNOWN))
    if about.mode == "scale":
        between = np.where(alpha < 1.0, UNKNOWN, np.round(99.0 * (p - low) / (high - low)))
    free = (p < low) & ((alpha == 1.0) | (about.mode == "scale"))
    return np.where(p > high, OCCUPIED, np.where(free, FREE, between)).astype(np.int8)


def _unusable(path: Path, why: str) -> RejectedError:
    """The error for a file that is no map."""
    return RejectedError(f"{path} {why}.", field="the map", value=str(path))


def _array(path: Path) -> Array:
    """Flags (true is occupied), whole numbers (percent, -1 unknown) or probabilities from 0 to 1."""
    try:
        cells = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        raise _unusable(path, "is not a NumPy file (.npy)") from None
    if not isinstance(cells, np.ndarray) or cells.ndim != 2 or cells.dtype.kind not in "biuf":
        shape = f"an array of {getattr(cells, 'dtype', '?')} with the shape {getattr(cells, 'shape', '?')}"
        raise _unusable(path, f"contains {shape}. A map is a two-dimensional array of booleans or numbers")
    if cells.dtype.kind == "b":
        return np.where(cells, OCCUPIED, FREE).astype(np.int8)
    if cells.dtype.kind == "f":
        if (wrong := cells[(cells < 0.0) | (cells > 1.0)]).size:
            raise _unusable(path, f"contains {wrong[0]:g}. Allowed are probabilities from 0 to 1, or NaN for unknown")
        return np.where(np.isnan(cells), UNKNOWN, np.round(100 * np.nan_to_num(cells))).astype(np.int8)
    if (wrong := cells[(cells < -1) | (cells > 100)]).size:
        raise _unusable(path, f"contains {wrong[0]}. Allowed are occupancies from 0 to 100, or -1 for unknown")
    return cells.astype(np.int8)
