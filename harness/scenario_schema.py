"""The JSON Schemas of scenario and rubric files: every subject by its type, every criterion by its key."""

from typing import Any

from pydantic import BaseModel

from harness import plugins
from harness.criterion import CheckerOptions, Criterion
from harness.rubric import RubricFile, criterion_type
from harness.scenario import ScenarioDefinition
from harness.subject_reader import subject_type

Schema = dict[str, Any]


def scenario_file() -> Schema:
    """What a .json scenario file may hold; code has no place in it."""
    definitions: Schema = {}
    scenario = _schema(ScenarioDefinition, definitions)
    kinds = [*_subjects(definitions), {"type": "null"}]
    scenario["properties"]["subject"] = {"anyOf": kinds, "default": None}
    scenario["properties"]["rubric"]["items"] = {"$ref": "#/$defs/RubricItem"}
    definitions["RubricItem"] = _rubric_item(definitions)
    definitions["Scenario"] = scenario
    return {
        "title": "A file of scenarios",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "scenarios": {"type": "array", "items": {"$ref": "#/$defs/Scenario"}},
        },
        "required": ["scenarios"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def rubric_file() -> Schema:
    """What a rubric that scenarios include may hold."""
    definitions: Schema = {}
    schema = _schema(RubricFile, definitions)
    schema["title"] = "A rubric that scenarios include by its file name"
    schema["properties"]["rubric"]["items"] = {"$ref": "#/$defs/RubricItem"}
    definitions["RubricItem"] = _rubric_item(definitions)
    return {**schema, "$defs": dict(sorted(definitions.items()))}


def _subjects(definitions: Schema) -> list[Schema]:
    kinds = {name: subject_type(name) for name in plugins.own("subjects")}
    return [_subject(name, kind, definitions) for name, kind in kinds.items() if not kind.code]


def _subject(name: str, kind: type[BaseModel], definitions: Schema) -> Schema:
    schema = _schema(kind, definitions)
    schema["properties"] = {"type": {"const": name}, **schema["properties"]}
    schema["required"] = ["type", *schema.get("required", [])]
    definitions[f"subject-{name}"] = schema
    return _reference(f"subject-{name}")


def _rubric_item(definitions: Schema) -> Schema:
    """One scoring key each: what belongs to another criterion is an unknown key here."""
    include = {
        "type": "object",
        "properties": {"include": {"type": "string", "minLength": 1, "description": "a rubric's name"}},
        "required": ["include"],
        "additionalProperties": False,
    }
    for key in plugins.own("criteria"):
        schema = _schema(criterion_type(key), definitions)
        if key in schema["properties"]:
            definitions[f"criterion-{key}"] = _scoring(schema, key)
    for key in plugins.own("checkers"):
        schema = _schema(Criterion, definitions)
        definitions["CheckerOptions"] = _schema(CheckerOptions, definitions)
        schema["properties"][key] = {"anyOf": [{"type": "boolean"}, _reference("CheckerOptions")]}
        schema["description"] = "true: every turn passes the check; false: it fails it; or an object"
        definitions[f"criterion-{key}"] = _scoring(schema, key)
    found = sorted(name for name in definitions if name.startswith("criterion-"))
    return {"anyOf": [*map(_reference, found), include]}


def _scoring(schema: Schema, key: str) -> Schema:
    return {**schema, "title": key, "required": [key], "not": {"required": ["weight", "max_score"]}}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _schema(model: type[BaseModel], definitions: Schema) -> Schema:
    schema = model.model_json_schema(mode="validation", by_alias=True)
    definitions.update(schema.pop("$defs", {}))
    return schema
