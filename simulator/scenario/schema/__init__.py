"""One JSON Schema of every file that collsim reads, for editors: derived from what reads the files."""

from simulator.scenario.schema.files import NAME, PARTS, PRESET_NAME, json_schema, schema_text

__all__ = ["NAME", "PARTS", "PRESET_NAME", "json_schema", "schema_text"]
