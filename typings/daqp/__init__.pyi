# DAQP ships no type information.
from typing import Any

def solve(
    H: Any,
    f: Any,
    A: Any,
    bupper: Any,
    blower: Any = ...,
    sense: Any = ...,
    **settings: Any,
) -> tuple[Any, float, int, dict[str, Any]]: ...

class Model:
    settings: dict[str, Any]
    def setup(self, H: Any, f: Any, A: Any, bupper: Any, blower: Any = ..., sense: Any = ...) -> Any: ...
    def update(self, H: Any = ..., f: Any = ..., A: Any = ..., bupper: Any = ..., blower: Any = ...) -> Any: ...
    def solve(self) -> tuple[Any, float, int, dict[str, Any]]: ...
