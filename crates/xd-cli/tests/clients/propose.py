"""A server of the official Python kit whose tool proposes: propose.py, over the standard streams.

The host stages what `shout` proposes; this server changes nothing.
"""

import hashlib
import pathlib
from typing import Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("propose")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def shout(path: str) -> dict[str, Any]:
    """Proposes a file in capitals."""
    before = pathlib.Path(path).read_bytes()
    change = {
        "change": "replace",
        "path": path,
        "expect": {"sha256": hashlib.sha256(before).hexdigest()},
        "content": before.decode().upper(),
    }
    return {"xd_proposal": {"version": 1, "label": "Shout: 1 file", "changes": [change]}}


server.run("stdio")
