"""ATTP over HTTP (page-tree.md P15)."""

from __future__ import annotations

from fastapi import APIRouter

from memci.http.documentation import problems
from memci.http.request import AgentId, Call, SessionId
from memci.http.routing import WriteRoute
from memci.schemas.attp import AttpAnswer, AttpRequest

writing = APIRouter(
    prefix="/v1", tags=["pages"], route_class=WriteRoute, responses=problems(400, 404, 413, 415)
)


@writing.post("/agents/{agent}/pages/attp")
def attp(
    agent: AgentId, request: AttpRequest, call: Call, session_id: SessionId = None
) -> AttpAnswer:
    """Do what a model's answer in ATTP asks for, all of it or nothing, and answer in its TOML.

    What is wrong with the model's answer or its code is told in ours, for the model to read.
    """
    return call.runtime.attp.run(agent, request.text, session_id=session_id)
