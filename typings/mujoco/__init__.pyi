# MuJoCo ships no type information: every name in it is of unknown type.
from typing import Any

def __getattr__(name: str) -> Any: ...
