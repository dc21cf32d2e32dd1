"""How the help of a command shows its options: a flag takes nothing, other options name the kind of their value."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

_KINDS = {bool: "", str: "TEXT", int: "INTEGER", float: "NUMBER"}


def value_kind(parameter: Any) -> str:
    """What a parameter takes: nothing for a flag, the choices, or a kind of value."""
    kind = parameter.type_descriptor.annotation
    if get_origin(kind) is list:
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    return _KINDS.get(kind, "PATH")


def argument_name(parameter: Any) -> str:
    """The name of an argument, as the help writes it."""
    return (parameter.metavar or parameter.name.upper()).removesuffix("...")


def argument_word(parameter: Any) -> str:
    """An argument in a usage line: its choices or its name, in brackets if it may be left out."""
    choices = value_kind(parameter)
    word = choices if "|" in choices else argument_name(parameter)
    word += "..." if parameter.nargs == -1 else ""
    return word if parameter.required else f"[{word}]"


def _named(parameters: list[Any]) -> list[Any]:
    """The same parameters, each with the word that the help shows for its value."""
    for parameter in parameters:
        if parameter.metavar is None:
            is_argument = parameter.param_type_name == "argument"
            repeated = "..." if parameter.nargs == -1 else ""
            parameter.metavar = argument_name(parameter) + repeated if is_argument else value_kind(parameter)
    return parameters


class Command(TyperCommand):
    """A command whose help shows a flag as a flag."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _named(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [each for each in self.get_params(ctx) if each.param_type_name == "argument"]
        return ["[OPTIONS]", *map(argument_word, arguments)]


class Group(TyperGroup):
    """The commands together, with the same style of help."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _named(super().get_params(ctx))
