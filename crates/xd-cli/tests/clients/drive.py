"""Drives `xd mcp` with the official Python client, through the whole of it.

Usage: drive.py XD. Prints one line a step and exits with 0 only if all went well.
"""

import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile

import anyio
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

PROGRAM = sys.argv[1]


def site():
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "a.rs").write_text("fn main() {\n    old(1);\n}\n")
    (folder / "b.txt").write_text("three\n")
    return folder


def client(folder, *options, **more):
    server = stdio_client(StdioServerParameters(command=PROGRAM, args=["mcp", "-C", str(folder), *options]))
    return Client(server, read_timeout_seconds=30, **more)


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def edits(path, old, new):
    return {"edits": [{"path": path, "old_text": old, "new_text": new}]}


REWRITE = {"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": ["."]}


async def whole(mode):
    folder = site()
    async with client(folder, mode=mode) as one:
        tools = (await one.list_tools()).tools
        assert [tool.name for tool in tools] == ["read", "write", "edit", "ast_edit"], tools
        staged = await one.call_tool("ast_edit", REWRITE)
        assert staged.structured_content["staged"]["number"] == 1, staged
        assert text(staged).startswith("Staged as a proposal"), text(staged)
        looked = await one.call_tool("read", {"path": "xd://resolve@1"})
        assert "+    new(1);" in text(looked), text(looked)
        held = await one.call_tool("write", {"path": "c.txt", "content": "x"})
        assert held.is_error and "Not executed" in text(held), held
        # Two clients on one stack.
        async with client(folder, mode=mode) as two:
            seen = await two.call_tool("read", {"path": "xd://resolve@1"})
            assert "(pending)" in text(seen), text(seen)
        applied = await one.call_tool("write", {"path": "xd://resolve", "content": "Clearer."})
        assert not applied.is_error, text(applied)
        assert "new(1)" in (folder / "a.rs").read_text()
        await one.call_tool("edit", edits("b.txt", "three", "3"))
        rejected = await one.call_tool("write", {"path": "xd://reject", "content": "No."})
        assert rejected.structured_content["outcome"] == "discarded", rejected
        # Stale.
        await one.call_tool("edit", edits("b.txt", "three", "3"))
        (folder / "b.txt").write_text("other\n")
        stale = await one.call_tool("write", {"path": "xd://resolve@3", "content": "Yes."})
        assert stale.is_error and (folder / "b.txt").read_text() == "other\n", text(stale)
        # A call that is cancelled ends, and the connection goes on.
        with anyio.move_on_after(0):
            await one.call_tool("read", {"path": "."})
        listed = await one.call_tool("read", {"path": "."})
        assert "b.txt" in text(listed), text(listed)
        resources = (await one.list_resources()).resources
        assert any(str(resource.uri) == "xd://resolve@3" for resource in resources), resources
        log = await one.read_resource("xd-state:///log")
        assert "Clearer." in log.contents[0].text
        prompts = (await one.list_prompts()).prompts
        assert {prompt.name for prompt in prompts} == {"staged_edits", "review_staged"}
        version = one.protocol_version
    # A restart keeps it.
    async with client(folder, mode=mode) as again:
        kept = await again.call_tool("read", {"path": "xd://resolve@3"})
        assert "(pending)" in text(kept), text(kept)
        done = await again.call_tool("write", {"path": "xd://reject@3", "content": "Stale."})
        assert not done.is_error
    print(f"whole {mode}: {version}")


async def person(mode):
    for action, outcome in [("accept", "applied"), ("decline", "discarded"), ("cancel", "staged")]:
        folder = site()
        asked = []

        async def answer(context, params, action=action, asked=asked):
            asked.append(params.message)
            return types.ElicitResult(action=action, content={"reason": "By hand."} if action == "accept" else None)

        async with client(folder, "--ask", "person", mode=mode, elicitation_callback=answer) as one:
            result = await one.call_tool("ast_edit", REWRITE)
            assert result.structured_content["outcome"] == outcome, (action, result)
            assert len(asked) == 1 and "+    new(1);" in asked[0], asked
            changed = "new(1)" in (folder / "a.rs").read_text()
            assert changed == (action == "accept"), action
            state = {"accept": "applied", "decline": "discarded", "cancel": "pending"}[action]
            shown = await one.call_tool("read", {"path": "xd://resolve@1"})
            assert f"({state})" in text(shown), text(shown)
    print(f"person {mode}")


async def plan(mode):
    folder = site()
    asked = []

    async def answer(context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={})

    async with client(folder, "--plan", mode=mode, elicitation_callback=answer) as one:
        held = await one.call_tool("write", {"path": "c.txt", "content": "x"})
        assert held.is_error and not (folder / "c.txt").exists(), text(held)
        await one.call_tool("write", {"path": "local://c-plan.md", "content": "# Write c.txt"})
        approved = await one.call_tool("write", {"path": "xd://propose", "content": "c"})
        assert not approved.is_error and "# Write c.txt" in text(approved), text(approved)
        assert len(asked) == 1 and "# Write c.txt" in asked[0], asked
        done = await one.call_tool("write", {"path": "c.txt", "content": "x"})
        assert not done.is_error and (folder / "c.txt").read_text() == "x", text(done)
    print(f"plan {mode}")


async def over_http():
    folder = site()
    server = subprocess.Popen(
        [PROGRAM, "mcp", "-C", str(folder), "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    )
    try:
        url, token = server.stdout.readline().split()
        for mode in ("auto", "legacy"):
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
                async with Client(streamable_http_client(url, http_client=http), mode=mode) as one:
                    staged = await one.call_tool("edit", edits("b.txt", "three", "3"))
                    number = staged.structured_content["staged"]["number"]
                    where = f"xd://reject@{number}"
                    done = await one.call_tool("write", {"path": where, "content": "Enough."})
                    assert done.structured_content["outcome"] == "discarded", done
                    print(f"http {mode}: {one.protocol_version}")
        async with httpx2.AsyncClient(timeout=30) as http:
            refused = await http.post(url, json={})
            assert refused.status_code == 401, refused
        print("http without the token: refused")
    finally:
        server.terminate()
        server.wait()


async def main():
    for mode in ("auto", "legacy"):
        await whole(mode)
        await person(mode)
        await plan(mode)
    await over_http()
    print(json.dumps({"ok": True}))


asyncio.run(main())
