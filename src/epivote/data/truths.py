"""One set of right alternatives per instance, estimated or known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from epivote.data.build import check_known
from epivote.data.names import IntArray, as_names, frozen, row_ranges, starts_of
from epivote.errors import InputError


class Truths(Mapping[str, frozenset[str]]):
    """A set per instance, stored sparsely; reads like a dictionary from instance to set.

    `members[start[z] : start[z + 1]]` are the alternatives in the set of instance z, ascending.

    Examples
    --------
    >>> gold = Truths.from_mapping({"q1": {"a", "b"}, "q2": set()})
    >>> sorted(gold["q1"]), len(gold["q2"])
    (['a', 'b'], 0)
    """

    def __init__(
        self, instances: tuple[str, ...], alternatives: tuple[str, ...], start: IntArray, members: IntArray
    ) -> None:
        self.instances = instances
        self.alternatives = alternatives
        self.start = frozen(start)
        self.members = frozen(members)

    @classmethod
    def from_mapping(cls, sets: Mapping[str, Iterable[str]], *, alternatives: Iterable[str] | None = None) -> Truths:
        """Truths from `{instance: {alternatives}}`."""
        for instance, names in sets.items():
            if isinstance(names, str):
                raise InputError(f"the set of {instance!r} is the text {names!r}; write {{{names!r}}}")
        as_names(sets, "instance")
        named = {str(instance): {str(name) for name in names} for instance, names in sets.items()}
        if alternatives is None:
            alternatives = sorted(set().union(*named.values()))
        known = as_names(alternatives, "alternative")
        numbers = {name: number for number, name in enumerate(known)}
        for instance, names in named.items():
            check_known(sorted(names), numbers, f"set of instance {instance!r}")
        rows = [sorted(numbers[name] for name in names) for names in named.values()]
        return cls(
            tuple(named),
            known,
            np.cumsum([0] + [len(row) for row in rows]),
            np.array([number for row in rows for number in row], np.int64),
        )

    @classmethod
    def joined(cls, parts: Iterable[Truths]) -> Truths:
        """The sets of several parts, which list the same alternatives, as one."""
        every = list(parts)
        if len(every) == 1:
            return every[0]
        return cls(
            tuple(name for part in every for name in part.instances),
            every[0].alternatives,
            starts_of(np.concatenate([part.sizes for part in every])),
            np.concatenate([part.members for part in every]),
        )

    def rows(self, places: IntArray) -> Truths:
        """The sets of the instances with these numbers, in that order."""
        names = tuple(self.instances[z] for z in places.tolist())
        return Truths(
            names, self.alternatives, starts_of(self.sizes[places]), self.members[row_ranges(self.start, places)]
        )

    @cached_property
    def instance_index(self) -> dict[str, int]:
        """The number of every instance by its name."""
        return {name: z for z, name in enumerate(self.instances)}

    @property
    def sizes(self) -> IntArray:
        """Number of alternatives in every set."""
        return np.diff(self.start)

    def __getitem__(self, instance: str) -> frozenset[str]:
        """The set of one instance."""
        return frozenset(self.listed(instance))

    def __contains__(self, instance: object) -> bool:
        """Whether this instance has a set."""
        return instance in self.instance_index

    def __iter__(self) -> Iterator[str]:
        """The names of the instances."""
        return iter(self.instances)

    def __len__(self) -> int:
        """The number of instances."""
        return len(self.instances)

    def listed(self, instance: str) -> list[str]:
        """The set of one instance as a list in the order of the alternatives."""
        z = self.instance_index[instance]
        return [self.alternatives[j] for j in self.members[self.start[z] : self.start[z + 1]]]

    def __repr__(self) -> str:
        """The first few sets."""
        shown = ", ".join(f"{name}: {{{', '.join(self.listed(name))}}}" for name in self.instances[:3])
        more = f", ... {len(self) - 3:,} more" if len(self) > 3 else ""
        return f"Truths({shown}{more})"
