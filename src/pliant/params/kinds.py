"""Kinds: a section whose `kind` decides which parameters it has, such as a surface or a force sensor.

    surfaces:
      - {kind: dome, radius_m: 0.05, position_m: [0.5, 0, 0.1]}         a kind of Pliant, or of an installed package
      - {kind: my_surface.py, position_m: [0.5, 0, 0.1]}                a kind of your own, in one file

A kind of Pliant is one module of a package folder; it is found there, so adding one takes one file.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from pydantic import SerializeAsAny, create_model, model_validator
from pydantic_core import core_schema

from pliant.errors import InputError, PliantError, RejectedError
from pliant.params.declare import Section, param
from pliant.params.plugin_files import entry_names, found_file, is_file, load_object
from pliant.records import Field, Layout


class Source(NamedTuple):
    """A kind, and the file that it is from."""

    kind: Any
    file: str = ""
    digest: str = ""


class Kinds:
    """All kinds of one thing: those of a package folder, those that packages bring, and those in files.

    `word` names the thing in messages, `object_name` the object that a module or file defines, `group` the entry-point
    group, and `form` the class of a kind, which has a `name` and `params`.
    """

    def __init__(self, word: str, object_name: str, group: str, package: str, form: type, maker: str) -> None:
        self.word, self.group = word, group
        self._object, self._package, self._form, self._maker = object_name, package, form, maker

    @cached_property
    def builtin(self) -> dict[str, Any]:
        """The kinds of Pliant, by name."""
        package = importlib.import_module(self._package)
        names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
        modules = (importlib.import_module(f"{self._package}.{name}") for name in names)
        return {kind.name: kind for kind in (getattr(module, self._object) for module in modules)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all kinds that are installed."""
        return (*self.builtin, *entry_names(self.group))

    def find(self, reference: str, digest: str = "") -> Source:
        """The kind with this name, or in this file; raises if it is unknown or its file has changed since `digest`."""
        if reference in self.builtin:
            return Source(self.builtin[reference])
        found, file, now, where = load_object(
            reference, None, self._object, self.group, self.word, digest=digest, known=self.builtin
        )
        if not isinstance(found, self._form):
            sentence = f"{where} contains no {self.word}: it must define {self._object} = pliant.{self._maker}(...)."
            raise RejectedError(sentence, field=self.word, value=where)
        if found.name in self.builtin:
            allowed = f"another one than {', '.join(self.builtin)}"
            raise InputError(f"the name of the {self.word} in {where}", found.name, allowed)
        return Source(found, file, now)


class OfKind(Section):
    """A section whose further parameters are those of its kind."""

    kinds: ClassVar[Kinds]
    """The kinds there are."""
    its_kind: ClassVar[Any] = None
    """The kind that this class is for; None for the class of all kinds."""

    derived = ("file", "digest")
    if TYPE_CHECKING:  # which parameters there are is known when the kind is

        def __getattr__(self, name: str) -> Any: ...

    kind: str = param(..., min_length=1, help="Kind.")
    file: str = param("", help="File of a kind of your own; follows from `kind`.")
    digest: str = param("", help="SHA-256 of that file; a file that has changed since is rejected.")

    def __new__(cls, *args: Any, **data: Any) -> Self:
        """The section of a kind has the parameters of that kind, so it is of a class of its own."""
        return super().__new__(cls.class_for(data))

    def __reduce__(self) -> Any:
        """Copies for other processes are made from the content: the class of a kind has no name of its own."""
        base = next(one for one in type(self).__mro__ if "kinds" in vars(one))
        return _restored, (base, self.model_dump())

    @classmethod
    def class_for(cls, data: Any) -> Any:
        """The class of the section with this content; raises if its kind is unknown."""
        if cls.its_kind is not None or not isinstance(data, dict):
            return cls
        return _class_of(cls, cls._source(data).kind)

    @classmethod
    def model_validate(cls, obj: Any, **more: Any) -> Self:
        """The section with this content; raises if it is not valid."""
        kind: type[Self] = cls.class_for(obj)
        return super(OfKind, kind).model_validate(obj, **more)

    @classmethod
    def _source(cls, data: dict[str, Any]) -> Source:
        given = data.get("file") or data.get("kind", cls.model_fields["kind"].default)
        if not isinstance(given, str):
            raise InputError("kind", given, f"one of {', '.join(cls.kinds.names)}, or a file")
        return cls.kinds.find(given, data.get("digest", ""))

    @model_validator(mode="before")
    @classmethod
    def _name_kind(cls, data: Any) -> Any:
        if cls.its_kind is None or not isinstance(data, dict):
            return data
        kind, file, digest = cls._source(data)
        return {**data, "kind": kind.name, "file": file, "digest": digest}

    @property
    def own(self) -> Any:
        """The parameters of its kind alone."""
        params = type(self).its_kind.params
        return params(**{name: getattr(self, name) for name in params.model_fields})


def _restored(base: type[OfKind], data: dict[str, Any]) -> OfKind:
    return base.model_validate(data)


@lru_cache(maxsize=256)
def _class_of(base: type[OfKind], kind: Any) -> Any:
    if shared := sorted(base.model_fields.keys() & kind.params.model_fields.keys()):
        sentence = f"The {base.kinds.word} {kind.name} declares {', '.join(shared)}, which every {base.kinds.word} has."
        raise RejectedError(f"{sentence} Choose another name.", field=shared[0])
    made = create_model(base.__name__, __base__=(base, kind.params), __doc__=kind.params.__doc__)
    made.its_kind = kind
    return made


class _AnyKind:
    """Marks a field that holds a section of any kind."""

    metadata = ()
    """It has no bounds (see `validation_errors.number_bounds`)."""

    def __get_pydantic_core_schema__(self, section: type[OfKind], handler: Any) -> Any:
        marker: Any = SerializeAsAny  # type checkers see an annotation in it
        schema = marker().__get_pydantic_core_schema__(section, handler)
        return core_schema.no_info_before_validator_function(partial(_chosen, section), schema)


ANY_KIND = _AnyKind()
"""For the type of a field that holds a section of any kind: ``Annotated[Surface, ANY_KIND]``."""


def _chosen(section: type[OfKind], value: Any) -> Any:
    """A section of the kind that plain data name; its place is added to an error about an unknown kind."""
    if not isinstance(value, dict):
        return value
    try:
        kind = section.class_for(value)
    except PliantError as error:
        raise ValueError(str(error)) from None
    return kind.model_validate(value)


def with_full_paths(data: Any, folder: Path) -> Any:
    """The content of a task file in `folder` in which every kind that is a file has its full path."""
    if isinstance(data, dict):
        data = {name: with_full_paths(value, folder) for name, value in data.items()}
        if isinstance(kind := data.get("kind"), str) and is_file(kind):
            data["kind"] = str(found_file(kind, folder) or kind)
    elif isinstance(data, list | tuple):
        data = [with_full_paths(value, folder) for value in data]
    return data


def record_layout(layout: Layout) -> Layout:
    """A layout that kernels can use: one without fields gets one that is unused."""
    return layout if layout.fields else Layout(layout.name, (Field("unused", "", "nothing is declared"),))
