"""The Model Context Protocol: tools and the window, for any client that speaks it (P15).

Needs the extra ``mcp``. Only ``connection`` can be imported where the SDK is not installed.
"""
