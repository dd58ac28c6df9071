"""A server that speaks W&B's protocol as far as extrap uses it, on the loopback: it takes pages,
workspaces, reports and charts, and keeps them. It can refuse.

Read off what wandb 0.31 and wandb_workspaces 0.4.13 send (GraphQL, the file stream, uploads).
"""

import gzip
import json
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ENTITY, KEY = "me", "a" * 40
REPOSITORY = Path(__file__).parents[2]


@dataclass
class Kept:
    """What a server took. pages: by id, what W&B knows of a run; views: workspaces and reports, as
    sent; charts: specifications by name; files: uploads by path.
    """

    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    views: list[dict[str, Any]] = field(default_factory=list)
    charts: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def table(self, page: str, name: str) -> dict[str, Any]:
        """The last table of a name on a page, as uploaded: its columns and data."""
        said = self.pages[page]["summary"][name]
        content = json.loads(self.files[f"/put/{page}/{said['path']}"])
        return {name: content[name] for name in ("columns", "data")}

    def page(self, name: str) -> dict[str, Any]:
        new = {"history": [], "summary": {}, "config": {}, "files": {}}
        return self.pages.setdefault(name, new)


class Server(ThreadingHTTPServer):
    """`fails`: {word: status}: a request whose operation or path holds the word is answered with
    that status, as often as it comes.
    """

    daemon_threads = True

    def handle_error(self, *_: Any) -> None: ...  # a client that ends closes its connections

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kept = Kept()
        self.fails: dict[str, int] = {}
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables under which wandb sends here."""
        return {"WANDB_BASE_URL": self.url, "WANDB_API_KEY": KEY}


@contextmanager
def serving() -> Iterator[Server]:
    """A server while the context lasts."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        self._reply(200, {})

    def do_PUT(self) -> None:
        with self.server.lock:
            self.server.kept.files[self.path] = self._body()
        self._reply(200, {})

    def do_POST(self) -> None:
        body = self._body()
        said = json.loads(body) if body[:1] == b"{" else {}
        what = said.get("operationName") or _operation(said.get("query", "")) or self.path
        for word, status in self.server.fails.items():
            if word in what:
                self._reply(status, {"errors": [{"message": f"refused with {status}"}]})
                return
        with self.server.lock:
            if "query" in said:
                given = said.get("variables") or {}
                reply = {"data": answer(what, given, self.server)}
            else:
                reply = stream(self.path, said, self.server.kept)
        self._reply(200, reply)

    def _body(self) -> bytes:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _reply(self, status: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        with suppress(OSError):  # the client has gone
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)


def _operation(query: str) -> str:
    """The name of the first operation of a query."""
    words = query.replace("(", " ").replace("{", " ").split()
    return words[1] if len(words) > 1 else ""


def stream(path: str, said: dict[str, Any], kept: Kept) -> dict[str, Any]:
    """Keeps lines of history and the summary of a page."""
    parts = path.strip("/").split("/")
    if parts[0] == "files" and parts[-1] == "file_stream":
        page = kept.page(parts[-2])
        for name, chunk in said.get("files", {}).items():
            if name == "wandb-history.jsonl":
                page["history"] += map(json.loads, chunk["content"])
            if name == "wandb-summary.json":
                page["summary"] = json.loads(chunk["content"][-1])
        if said.get("complete"):
            page["exitcode"] = said.get("exitcode")
    return {}


def answer(what: str, given: dict[str, Any], server: Server) -> dict[str, Any]:
    """The data of a reply to an operation by name."""
    kept = server.kept
    project = PROJECT | {"name": given.get("project") or given.get("projectName")}
    match what:
        case "UpsertBucket":
            return {"upsertBucket": {"bucket": bucket(given, project, kept), "inserted": True}}
        case "CreateRunFiles":
            urls = [{"name": name, "uploadUrl": f"{server.url}/put/{given['run']}/{name}"}
                    for name in given["files"]]  # fmt: skip
            return {"createRunFiles": {"runID": given["run"], "uploadHeaders": [], "files": urls}}
        case "CreateCustomChart":
            kept.charts[given["chartName"]] = json.loads(given["spec"])
            return {"createCustomChart": {"chart": {"id": f"{ENTITY}/{given['chartName']}"}}}
        case "ProjectInternalId":
            return {"project": project}
        case "UpsertView2" | "upsertView":
            kept.views.append(dict(given) | {"spec": json.loads(given["spec"])})
            back = given | {"id": f"view-{len(kept.views)}", "project": project}
            return {"upsertView": {"view": back, "inserted": True}}
    return FIXED.get(what, {})


def bucket(given: dict[str, Any], project: dict[str, Any], kept: Kept) -> dict[str, Any]:
    """Keeps a page; what W&B replies about it."""
    page = kept.page(given["name"])
    known = {name: value for name, value in given.items() if value is not None}
    config = json.loads(known.pop("config", "{}"))
    page["config"] |= {name: value["value"] for name, value in config.items()}
    page |= known
    return {"id": given["name"], "name": given["name"], "project": project,
            "displayName": page.get("displayName"), "description": None, "config": "{}",
            "sweepName": None, "historyLineCount": 0}  # fmt: skip


PROJECT = {"id": "p", "internalId": "1", "entityName": ENTITY,
           "entity": {"id": "e", "name": ENTITY}}  # fmt: skip
VIEWER = {"viewer": {"id": "v", "entity": ENTITY, "username": ENTITY, "email": "me@x",
                     "flags": "{}", "teams": {"edges": []}, "admin": False}}  # fmt: skip
LISTED = {"__typename": "Project", "id": "p", "name": "extrap", "entityName": ENTITY,
          "createdAt": "2026-01-01T00:00:00", "isBenchmark": False, "user": None}  # fmt: skip
LAST = {"__typename": "PageInfo", "endCursor": None, "hasNextPage": False}
UPLOADED = {"id": "a", "state": "COMMITTED", "artifactSequence": {"latestArtifact": None}}
FIXED: dict[str, dict[str, Any]] = {
    "Viewer": VIEWER,
    "GetDefaultEntity": VIEWER,
    "RunResumeStatus": {"model": None},
    "ArtifactType": {"project": {"artifact": None}},
    "CreateArtifact": {"createArtifact": {"artifact": UPLOADED}},
    "ServerFeaturesQuery": {"serverInfo": {"features": []}},
    "ViewAccessTokens": {"view": {"accessTokens": []}},
    "createAccessToken": {"createAccessToken": {"accessToken": {"token": "t0", "type": "PUBLIC"}}},
    "GetProjects": {"models": {"pageInfo": LAST, "edges": [{"node": LISTED}]}},
}
"""Replies that do not depend on the question."""


def started(
    words: list[str], environment: Mapping[str, str | None], folder: Path, **more: Any
) -> subprocess.CompletedProcess:
    """A program in a folder that is its home, too, without W&B's settings of this machine.
    environment: variables that it has besides; None: it has none of this name.
    """
    out = ("WANDB_", "NETRC", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(out)}
    kept |= {"PYTHONPATH": str(REPOSITORY), "HOME": str(folder)} | dict(environment)
    env = {name: value for name, value in kept.items() if value is not None}
    return subprocess.run(
        words, env=env, cwd=folder, capture_output=True, text=True, timeout=400, check=False, **more
    )
