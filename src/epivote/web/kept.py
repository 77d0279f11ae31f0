"""A property that is worked out once for each object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class kept(Generic[T]):  # noqa: N801 - reads like `property`
    """Like `functools.cached_property`, without its lock.

    Python 3.11 has one lock for all objects of a class: while one request waits for the database, all others would wait
    for that request. Use it on objects that belong to one thread.
    """

    def __init__(self, work_out: Callable[[Any], T]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        """Remember under which name the value is to be found."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Work the value out; from then on it is found in the object itself."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._work_out(instance)
        return value
