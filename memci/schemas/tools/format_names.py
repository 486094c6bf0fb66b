"""The formats of tools for providers and protocols (P15). Imports nothing slow: for the help."""

from enum import StrEnum


class ToolFormat(StrEnum):
    """The provider or protocol of a tool's format."""

    OPENAI = "openai"  # Chat Completions; most servers and LiteLLM take it
    RESPONSES = "responses"  # OpenAI's Responses
    ANTHROPIC = "anthropic"
    MCP = "mcp"
