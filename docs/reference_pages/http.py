"""The page of HTTP: its operations, and the shapes of what they take and answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docs.reference_pages.markdown import items, literal, paragraph, sentence
from docs.reference_pages.source import runtime
from memci.http.app import create_app

_UNBOUNDED = 1e15  # larger limits are those of the integer type


def blocks() -> Iterator[str]:
    """Yield the blocks of http.md."""
    app = create_app(runtime())
    described = app.openapi()
    scopes = {
        (method, route.path): route.scope.name.lower()
        for route in app.router.routes
        for method in getattr(route, "methods", None) or ()
        if hasattr(route, "scope")
    }
    yield paragraph(
        "A running API shows the same at `/docs`, and as OpenAPI at `/openapi.json`. A server with keys asks for"
        " `Authorization: Bearer KEY`; the word in brackets is the scope that a key needs. Bodies are JSON. Unknown"
        " fields are refused. What is refused is a problem (RFC 9457): `type`, `title`, `status`, `detail` and, where"
        " one field is wrong, `field`."
    )
    yield "Every operation may answer with these problems:"
    yield items(f"`{status}`: {sentence(text)}" for status, text in _problems(described).items())
    by_tag: dict[str, list[str]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            scope = scopes.get((method.upper(), path))
            entry = _operation(method, path, operation, scope)
            by_tag.setdefault(operation["tags"][0], []).append(entry)
    for tag, entries in by_tag.items():
        yield f"## {tag.capitalize()}"
        yield from entries
    yield "## Shapes"
    for name, schema in sorted(described["components"]["schemas"].items()):
        yield from _shape(name, schema)


def _problems(described: Mapping[str, Any]) -> dict[str, str]:
    """Return what refusals mean, by status."""
    return dict(
        sorted(
            (status, answer["description"])
            for operations in described["paths"].values()
            for operation in operations.values()
            for status, answer in operation["responses"].items()
            if status >= "400"
        )
    )


def _operation(method: str, path: str, operation: Mapping[str, Any], scope: str | None) -> str:
    told = [f"### `{method.upper()} {path}`"]
    about = f"{sentence(operation.get('summary'))} {sentence(operation.get('description'))}"
    told.append(paragraph(about + (f" [{scope}]" if scope else "")))
    lines = []
    for each in operation.get("parameters", ()):
        if each["in"] != "path":
            where = "" if each["in"] == "query" else f", {each['in']}"
            described = sentence(each.get("description"))
            lines.append(f"`{each['name']}` ({_type(each['schema'])}{where}) {described}")
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        kind = "" if media == "application/json" else f" as `{media}`"
        lines.append(f"Body{kind}: {_type(content.get('schema', {}))}.")
    for status, answer in operation["responses"].items():
        if status < "400":
            types = [_type(each.get("schema", {})) for each in answer.get("content", {}).values()]
            lines.append(f"Answer {status}: {' or '.join(filter(None, types)) or 'no body'}.")
    told.append(items(lines))
    return "\n\n".join(told)


def _shape(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {name}"
    if schema.get("description"):
        yield paragraph(sentence(schema["description"]))
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    if properties:
        yield items(
            f"`{field}` ({_type(each)}{_given(each, required=field in required)})"
            f" {sentence(each.get('description'))}"
            for field, each in properties.items()
        )
    elif "enum" in schema:
        yield paragraph("One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + ".")


def _given(schema: Mapping[str, Any], *, required: bool) -> str:
    if required:
        return ", required"
    default = schema.get("default")
    return "" if default in (None, [], {}) else f", default {_json(default)}"


def _json(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_json(each) for each in value)
    return literal(value)


def _type(schema: Mapping[str, Any]) -> str:
    """Return a JSON type in a few words, with a link to a shape."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[several]))
    kind = str(schema.get("format") or schema.get("type") or "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    limits = [
        f"{sign} {schema[key]:g}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if key in schema and abs(schema[key]) < _UNBOUNDED
    ]
    limits += [f"at most {schema['maxLength']} characters"] if "maxLength" in schema else []
    return f"{kind} {', '.join(limits)}".strip()
