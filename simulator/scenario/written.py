"""A scenario's tree as YAML text again: its values as they were written, without comments."""

from __future__ import annotations

from typing import Final

import yaml

from simulator.scenario.parse import resolve
from simulator.scenario.source import Block, Items, Node, Scalar

_TEXT: Final = "tag:yaml.org,2002:str"
_LIST: Final = "tag:yaml.org,2002:seq"
_MAPPING: Final = "tag:yaml.org,2002:map"
_WIDTH: Final = 100


class _Dumper(yaml.SafeDumper):
    """Emits what it is given; which words are numbers is decided here, by the YAML 1.2 core rules."""

    yaml_implicit_resolvers = {}  # noqa: RUF012


def to_yaml(root: Node) -> str:
    r"""Write a tree as YAML, the same text for the same tree.

    Lists and mappings of nothing but plain values go on one line.

    Examples
    --------
    >>> from simulator.scenario.parse import parse
    >>> source, _ = parse("name: 'no'\ncollective: {size: 1 GiB, sizes: [1e3, 0x10, '1e3']}", "a.yaml")
    >>> print(to_yaml(source.root), end="")
    name: no
    collective:
      size: 1 GiB
      sizes: [1e3, 0x10, "1e3"]
    """
    text: str = yaml.serialize(_node(root), Dumper=_Dumper, width=_WIDTH, allow_unicode=True)
    return text


def _node(node: Node) -> yaml.Node:
    match node:
        case Scalar():
            return _scalar(node)
        case Items():
            items = [_node(item) for item in node.items]
            return yaml.SequenceNode(_LIST, items, flow_style=_is_flat(items))
        case Block():
            pairs = [(_scalar(key), _node(value)) for key, value in node.entries.values()]
            return yaml.MappingNode(_MAPPING, pairs, flow_style=_is_flat([value for _, value in pairs]))


def _is_flat(values: list[yaml.Node]) -> bool:
    return all(isinstance(value, yaml.ScalarNode) for value in values)


def _scalar(node: Scalar) -> yaml.ScalarNode:
    """A number as it was written; a text in quotes where it would be read as something else."""
    if not isinstance(node.value, str):
        return yaml.ScalarNode(_TEXT, node.text or "null")
    return yaml.ScalarNode(_TEXT, node.value, style=None if _is_plain(node.value) else '"')


def _is_plain(text: str) -> bool:
    try:
        return resolve(text) == text
    except ValueError:
        return False
