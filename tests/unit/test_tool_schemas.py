"""Tool schemas for models and their providers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter, ValidationError

import memci
from memci.domain.pages.page import Lifecycle, PageKind
from memci.domain.pages.tree import PageState
from memci.errors import InvalidInputError
from memci.schemas.json_schema import schema_asked
from memci.schemas.pages import PageChange, PageOut
from memci.schemas.tools.format_names import ToolFormat
from memci.schemas.tools.pages import answer_for_model, schema_for_model
from memci.schemas.tools.table import TOOLS, Tool, tools, tools_of_agents
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

# The maximum for all tools in one request, as JSON in the format of OpenAI.
MOST_TOKENS = 2_400
OF_AGENTS = tools_of_agents()


def by_name(tool: Tool) -> str:
    return tool.name


def keywords(schema: Any) -> set[str]:
    """Return all keywords of a schema, without the names of its properties."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema))
    if not isinstance(schema, dict):
        return set()
    inner = [
        each
        for key, value in schema.items()
        for each in (value.values() if key == "properties" else [value])
    ]
    return set(schema).union(*map(keywords, inner))


@pytest.mark.parametrize("tool", OF_AGENTS, ids=by_name)
def test_a_tool_has_a_description_and_a_schema(tool):
    assert re.fullmatch(r"[a-z_]{2,64}", tool.name)
    assert tool.description.endswith(".")
    assert 20 < len(tool.description) < 200
    schema = tool.parameters
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert set(schema.get("required", ())) <= set(schema["properties"])
    assert set(schema["properties"]) == set(tool.request.model_fields)


@pytest.mark.parametrize("tool", TOOLS, ids=by_name)
def test_schemas_have_no_references_titles_or_lengths(tool):
    for schema in (tool.parameters, schema_for_model(tool.answer)):
        Draft202012Validator.check_schema(schema)
        assert keywords(schema) & {"$ref", "$defs", "title", "pattern", "maxLength"} == set()
    assert "description" not in schema_for_model(tool.answer)


@pytest.mark.parametrize("tool", OF_AGENTS, ids=by_name)
def test_a_schema_requires_the_same_fields_as_the_request(tool):
    fields = tool.request.model_fields
    required = {name for name, field in fields.items() if field.is_required()}
    assert set(tool.parameters.get("required", ())) == required


def test_a_schema_keeps_choices_and_numbers():
    find = schema_asked(next(each.request for each in OF_AGENTS if each.name == "find_pages"))
    assert find["properties"]["limit"] == {"type": "integer", "default": 20, "maximum": 100}
    listed = next(each for each in OF_AGENTS if each.name == "filter_memory").parameters[
        "properties"
    ]
    assert listed["type"]["enum"] == ["episodic", "semantic", "procedural"]
    assert listed["role"]["enum"] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("form", "shape"),
    [
        (ToolFormat.OPENAI, TypeAdapter(ChatCompletionFunctionToolParam)),
        (ToolFormat.RESPONSES, TypeAdapter(dict[str, Any])),
    ],
)
def test_the_tools_have_the_types_of_openai(form, shape):
    for each in tools(form):
        shape.validate_python(each, strict=True)
        assert set(each) <= {"type", "function"} | set(FunctionToolParam.__annotations__)


def test_all_formats_have_the_same_content():
    openai = [each["function"] for each in tools()]
    for form, key in (("anthropic", "input_schema"), ("mcp", "inputSchema")):
        assert [
            {"name": each["name"], "description": each["description"], "parameters": each[key]}
            for each in tools(form)
        ] == openai
    with pytest.raises(InvalidInputError, match="openai, responses, anthropic, mcp") as wrong:
        tools(format="yaml")
    assert wrong.value.field == "format"


def test_all_tools_together_fit_the_token_limit():
    text = json.dumps(tools(), ensure_ascii=False, separators=(",", ":"))
    assert OfflineTokenCounter("o200k_base").count(text) <= MOST_TOKENS


def test_changes_to_a_returned_schema_have_no_effect_on_others():
    changed = tools()
    changed[0]["function"]["parameters"]["properties"].clear()
    assert tools()[0]["function"]["parameters"]["properties"]
    assert memci.tools() == tools()


def test_mcp_hints_describe_the_effects_of_a_tool():
    hints = {each["name"]: each["annotations"] for each in tools("mcp")}
    assert hints["get_page"] == {
        "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True,
        "openWorldHint": False,
    }  # fmt: skip
    assert [name for name, each in hints.items() if each["destructiveHint"]] == ["forget", "erase"]
    assert not hints["create_detail_page"]["idempotentHint"]
    assert hints["hide_details"]["idempotentHint"]


def page(**more: Any) -> PageOut:
    fields = {
        "index": "usr-3", "kind": PageKind.DETAIL, "segment": "usr", "parent": "usr-0",
        "name": "Sorting", "description": "", "expanded": True, "lifecycle": Lifecycle.ACTIVE,
        "state": PageState.EXPANDED,
        "pinned": False, "children": 0, "session_id": "s1", "first_seq": 4, "last_seq": 9,
        "recalls": 0,
    }  # fmt: skip
    return PageOut.model_validate(fields | more)


@pytest.mark.parametrize("state", list(PageState))
def test_the_answer_about_a_page_change_is_short(state):
    removed = {"parent": None} if state is PageState.REMOVED else {}
    change = PageChange(
        page=page(state=state, **removed), changed=["usr-3", "usr-2"], tokens_before=10,
        tokens_after=20, over=0, collapsed=[],
    )  # fmt: skip
    answer = answer_for_model(change)
    assert answer == {
        "index": "usr-3", "state": state, **({"parent": "usr-0"} if state != "removed" else {}),
        "changed": ["usr-2"], "tokens_before": 10, "tokens_after": 20,
    }  # fmt: skip
    Draft202012Validator(schema_for_model(PageChange)).validate(answer)
    assert answer_for_model(change.model_copy(update={"over": 7}))["over"] == 7


def test_a_request_checks_more_than_its_schema():
    """Lengths and patterns are not in the schema; they are checked at the call."""
    (expand,) = (each for each in OF_AGENTS if each.name == "expand_details")
    Draft202012Validator(expand.parameters).validate({"index": "../etc"})
    with pytest.raises(ValidationError):
        expand.request.model_validate({"index": "../etc"})
