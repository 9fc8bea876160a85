"""A hook that is an endpoint: what is posted where, and what is refused."""

from __future__ import annotations

import json

import pytest

from lockgate.hooks.declared.http import HttpHook
from lockgate.hooks.declared.plan import HttpHandler
from lockgate.hooks.declared.template import parse_template
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.testing.listening import free_port
from lockgate.testing.site import Site, answer, redirect

TOLD = HookInput(
    HookEvent.PRE_TOOL, tool_name="Write", tool_input={"path": "a", "n": 3, "text": "{{env.T}}"}
)
DENIES = answer(200, '{"decision": "deny", "reason": "no"}')


async def test_the_event_is_posted_as_json_with_the_headers() -> None:
    """Without a body of its own; the address may be one of this machine."""
    async with Site() as site:
        site.on("/hook", DENIES)
        hook = HttpHook(HttpHandler(f"{site.address}/hook?a=1", {"X-Key": "k"}), {}, timeout=10)
        assert await hook(TOLD) == HookResult(HookDecision.DENY, "no")
    [request] = site.requests
    assert (request.method, request.target) == ("POST", "/hook?a=1")
    assert request.headers["x-key"] == "k"
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.body) == TOLD.data()


async def test_a_body_of_its_own_has_templates() -> None:
    """Values keep their types, and are not read again."""
    body = parse_template({"who": "{{env.T}}", "n": "{{tool_input.n}}", "all": "{{tool_input}}"})
    async with Site() as site:
        site.on("/hook", answer(204))
        hook = HttpHook(HttpHandler(f"{site.address}/hook", {}, body), {"T": "me"}, timeout=10)
        assert await hook(TOLD) == HookResult()
    assert json.loads(site.requests[0].body) == {"who": "me", "n": 3, "all": TOLD.tool_input}


async def test_a_template_that_leads_to_nothing_posts_nothing() -> None:
    """It is a failure of the hook."""
    async with Site() as site:
        body = parse_template({"x": "{{tool_input.y}}"})
        hook = HttpHook(HttpHandler(f"{site.address}/hook", {}, body), {}, timeout=10)
        with pytest.raises(HookFailure, match="leads to nothing"):
            await hook(TOLD)
    assert site.connections == 0


@pytest.mark.parametrize("status", [300, 401, 404, 500, 503])
async def test_another_status_than_2xx_is_a_failure(status: int) -> None:
    """Whatever the body says."""
    async with Site() as site:
        site.on("/hook", answer(status, '{"decision": "allow"}'))
        hook = HttpHook(HttpHandler(f"{site.address}/hook"), {}, timeout=10)
        with pytest.raises(HookFailure, match=f"status {status}"):
            await hook(TOLD)


async def test_a_redirect_is_not_followed() -> None:
    """What was to go to one place, with its headers, goes nowhere else."""
    async with Site() as site:
        site.on("/hook", redirect("/other", 307)).on("/other", DENIES)
        hook = HttpHook(HttpHandler(f"{site.address}/hook"), {}, timeout=10)
        with pytest.raises(HookFailure, match="status 307"):
            await hook(TOLD)
    assert len(site.requests) == 1


async def test_nobody_there_is_a_failure_without_the_address() -> None:
    """Its path may be a secret: host and port are told."""
    url = f"http://127.0.0.1:{free_port()}/hunter2?key=hunter2"
    with pytest.raises(HookFailure, match="can not be reached") as caught:
        await HttpHook(HttpHandler(url, {"X": "hunter2"}), {}, timeout=10)(TOLD)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(HttpHandler(url, {"X": "hunter2"}))


async def test_metadata_services_are_never_reached() -> None:
    """Nor anything else that is link-local."""
    hook = HttpHook(HttpHandler("http://169.254.169.254/latest"), {}, timeout=10)
    with pytest.raises(HookFailure, match="link-local"):
        await hook(TOLD)


@pytest.mark.parametrize("body", ["ok", "<html>sign in</html>", "[]", '"deny"'])
async def test_a_body_that_is_no_object_is_a_failure(body: str) -> None:
    """A page that asks to sign in is no consent."""
    async with Site() as site:
        site.on("/hook", answer(200, body))
        with pytest.raises(HookFailure):
            await HttpHook(HttpHandler(f"{site.address}/hook"), {}, timeout=10)(TOLD)
