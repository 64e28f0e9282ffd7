"""A property worked out once, when it is first asked for."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """As `functools.cached_property` without its lock, which before Python 3.12 costs more than the work.

    Two threads may both work a value out; they get the same.
    """

    def __init__(self, work: Callable[[Any], Value]) -> None:
        self._work = work
        self.__doc__ = work.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "Lazy[Value]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> "Value | Lazy[Value]":
        if instance is None:
            return self
        value = self._work(instance)
        instance.__dict__[self._name] = value
        return value
