"""TACCL's topology JSON: alpha in us, and betas in us for a chunk of the size that the file is made for.

Source: microsoft/taccl, taccl/topologies/generic.py. Files without link matrices are of two machines that
TACCL knows: NDv2, with double and single NVLinks as in a DGX-1, or all GPUs of a machine alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from topologies.errors import TopologyError
from topologies.formats.json_text import JsonFile, parse_json
from topologies.formats.reading import Beside, check_link, decode
from topologies.text import printable
from topologies.wiring import Wire, Wiring

if TYPE_CHECKING:
    from topologies.topology import Topology

NDV2: Final = ("02112000", "20120100", "11020020", "12200001", "20000211", "01002012", "00201102", "00011220")
"""NVLinks from GPU to GPU."""

MOST_GPUS: Final = 1024
US: Final = 1e-6

_CHUNK: Final = re.compile(r"([0-9]{1,6})([KMG]?)B", re.IGNORECASE)
_SCALES: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def read_taccl(data: bytes, file: str, beside: Beside) -> Topology:
    """Read one machine; how several are joined stands in TACCL's sketches, not here.

    Raises
    ------
    FormatError
    """
    found = parse_json(decode(data, file), file)
    if not isinstance(found.value, dict) or "gpus_per_node" not in found.value:
        raise found.error('expected a mapping with "gpus_per_node", "alpha" and betas')
    if beside != Beside():
        raise found.error("bandwidths and latencies are in the file; none is left open")
    gpus = found.get(("gpus_per_node",), int, "a whole number")
    if not 1 <= gpus <= MOST_GPUS:
        raise found.error(f"found {gpus}, expected 1 to {MOST_GPUS} GPUs", "gpus_per_node")
    name = found.get(("name",), str, "a name", default=file)
    chunk = _CHUNK.search(name)
    if chunk is None:
        what = 'a size as in "NDv2_1MB": betas are times of a chunk of that size'
        raise found.error(f'the name "{printable(name)}" has no chunk size; expected {what}', "name")
    size = int(chunk[1]) * _SCALES[chunk[2].upper()]
    alpha = found.get(("alpha",), float, "us") * US
    wiring = Wiring(gpus)
    try:
        for src, dst, beta, path in _betas(found, gpus):
            if not beta > 0:
                raise found.error(f"found {beta:g}, expected us of a chunk", *path)
            rate = size / beta / US
            check_link(rate, alpha, 0.0)
            wiring.add(src, dst, Wire(rate, alpha, 0.0, "nvlink"))
        built = wiring.topology("taccl", (gpus,), ("nvlink",))
    except TopologyError as error:
        raise found.error(error.message) from None
    notes = [f"betas are read as us of a chunk of {chunk[0]} (decimal), which its name says"]
    if "remote_alpha" in found.value:
        notes.append("links between machines are left out: which GPUs they join stands in a sketch")
    return replace(built, notes=tuple(notes))


def _betas(found: JsonFile, gpus: int) -> Sequence[tuple[int, int, float, tuple[str | int, ...]]]:
    """(from, to, us of a chunk, place in the file) of every link."""
    pairs = [(src, dst) for src in range(gpus) for dst in range(gpus) if src != dst]
    if "links" in found.value:
        rows = len(found.get(("links",), list, "a matrix"))
        if rows != gpus:
            raise found.error(f"found {rows} rows, expected {gpus}", "links")
        # both are by destination first
        joined = [(src, dst) for src, dst in pairs if _cell(found, "links", dst, src, gpus) > 0]
        return [(src, dst, _cell(found, "betas", dst, src, gpus), ("betas", dst, src)) for src, dst in joined]
    listed = found.get(("node_betas_list",), list, "a list of us")
    betas = [found.get(("node_betas_list", i), float, "us") for i in range(len(listed))]
    if len(betas) == 1:
        return [(src, dst, betas[0], ("node_betas_list", 0)) for src, dst in pairs]
    if len(betas) != 2 or gpus != len(NDV2):
        raise found.error(
            f"found {len(betas)} betas for {gpus} GPUs; expected one, or NDv2's two for 8", "node_betas_list"
        )
    links = [(src, dst, 2 - int(NDV2[src][dst])) for src, dst in pairs if NDV2[src][dst] != "0"]
    return [(src, dst, betas[i], ("node_betas_list", i)) for src, dst, i in links]


def _cell(found: JsonFile, name: str, row: int, column: int, gpus: int) -> float:
    rows = found.get((name,), list, "a matrix")
    if len(rows) != gpus or not isinstance(rows[row], list) or len(rows[row]) != gpus:
        raise found.error(f"expected a matrix of {gpus} x {gpus}", name)
    value: float = found.get((name, row, column), float, "a number")
    return value
