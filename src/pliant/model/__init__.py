"""Arms: the Universal Robots e-Series, the textbook two-link arm, and any MJCF or URDF file."""

from pliant.model.arm import Arm
from pliant.model.catalogue import available_models, design
from pliant.model.design import FLANGE, Design
from pliant.model.handle import HANDLE
from pliant.model.tool import Tool, attach

__all__ = ["FLANGE", "HANDLE", "Arm", "Design", "Tool", "attach", "available_models", "design"]
