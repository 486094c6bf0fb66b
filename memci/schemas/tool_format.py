"""The formats in which providers and protocols want tools (P15).

This module imports nothing, so that the help of the command line comes at once.
"""

from __future__ import annotations

from enum import StrEnum


class ToolFormat(StrEnum):
    """Whose way of writing."""

    OPENAI = "openai"  # Chat Completions; most servers and LiteLLM take it
    RESPONSES = "responses"  # OpenAI's Responses
    ANTHROPIC = "anthropic"
    MCP = "mcp"
