"""Small files of every format, written for the tests."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NVSWITCH = b"""<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="106">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="80" rank="1"><nvlink target="0000:c0:00.0" count="12" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="200000" port="1"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:21:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0000:c1:00.0" count="18" tclass="0x068000"/></gpu>
    </pci>
    <nic><net name="eth0" dev="1" speed="-1" port="0"/></nic>
  </cpu>
</system>
"""
XGMI = b"""<!-- of two cards -->
<system version="2">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="0000:C1:00.0" class="0x038000" link_speed="16 GT/s" link_width="16">
      <gpu dev="0" gcn="gfx942" rank="0"><xgmi target="0000:c2:00.0" count="1" tclass="0x038000"/></gpu>
    </pci>
    <pci busid="0000:c2:00.0" class="0x038000" link_speed="32 GT/s" link_width="16">
      <gpu dev="1" gcn="910" rank="1"><xgmi target="0000:c1:00.0" count="2" tclass="0x038000"/></gpu>
    </pci>
  </cpu>
</system>
"""
PARTIAL = b"""<system version="1">
  <cpu numaid="0" affinity="0fff" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0003:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
      <pci busid="0103:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="f000" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="0001:00:00.0" class="0x030200" link_speed="8 GT/s" link_width="8"/>
  </cpu>
</system>
"""
GRAPHML = b"""<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="bandwidth" attr.type="double"/>
  <key id="d1" for="edge" attr.name="latency" attr.type="double"/>
  <key id="d2" for="node" attr.name="kind" attr.type="string"/>
  <key id="d3" for="edge" attr.name="colour" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="a"/><node id="b"/>
    <node id="hub"><data key="d2">switch</data></node>
    <edge source="a" target="hub"><data key="d0">64e9</data><data key="d1">1e-6</data></edge>
    <edge source="hub" target="b" directed="true"><data key="d0">32e9</data><data key="d3">red</data></edge>
    <edge source="b" target="hub" directed="true"/>
  </graph>
</graphml>
"""
NODE_LINK = b"""{"directed": true, "multigraph": true, "graph": {},
 "nodes": [{"id": 1}, {"id": 0}, {"id": "s", "kind": "switch", "reduces": true}],
 "links": [
  {"source": 0, "target": "s", "key": 0, "bandwidth": 64e9, "latency": 1e-6, "level": "up"},
  {"source": 0, "target": "s", "key": 1, "bandwidth": 64e9, "level": "up"},
  {"source": "s", "target": 1, "key": 0, "bandwidth": 64e9, "level": "down"}]}
"""
TACCL_NDV2 = b"""{"name": "NDv2_1MB", "gpus_per_node": 8, "nics_per_node": 1, "alpha": 0.5,
 "node_betas_list": [20, 40], "node_invbws_list": [20, 40],
 "remote_invbw": 107, "remote_alpha": 2.6, "remote_beta": 105}
"""
TACCL_CUSTOM = b"""{"name": "pair 1KB", "gpus_per_node": 2, "alpha": 1,
 "links": [[0, 1], [0, 0]], "betas": [[0, 2], [0, 0]], "invbws": [[0, 2], [0, 0]]}
"""
ASTRA = b"""topology: [ Ring, Switch ]
npus_count: [ 3, 2 ]
bandwidth: [ 50.0, 25 ]  # GB/s
latency: [ 500, 936.25 ]  # ns
"""

FILES: Mapping[str, bytes] = MappingProxyType(
    {
        "nvswitch.xml": NVSWITCH,
        "xgmi.xml": XGMI,
        "partial.xml": PARTIAL,
        "hub.graphml": GRAPHML,
        "hub.json": NODE_LINK,
        "ndv2.json": TACCL_NDV2,
        "pair.json": TACCL_CUSTOM,
        "astra.yml": ASTRA,
    }
)
