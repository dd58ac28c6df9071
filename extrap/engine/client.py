"""Requests to an engine: bounded in number, size and time, sent to one address alone.

A key of the engine comes from the environment (EXTRAP_ENGINE_KEY) and goes into the header of
requests; extrap writes it nowhere. A redirect is an error: the engine cannot hand prompts on.
"""

import json
import os
import time
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import httpx

from extrap.utils.errors import UserError, escaped, first_line

KEY = "EXTRAP_ENGINE_KEY"
MOST = 2**28
"""Bytes of an answer at most."""
BUSY = (408, 425, 429, 500, 502, 503, 504)
"""Answers of an engine that a later try may change."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PAUSE = 0.5
"""Seconds before the second try; twice as long before each further one."""
A = TypeVar("A")
B = TypeVar("B")


class Refused(Exception):
    """A request that the engine answers with an error of the request itself.

    Args:
        why: what it says
        status: its HTTP status
    """

    def __init__(self, why: str, status: int):
        super().__init__(why)
        self.status = status


class Client:
    """The address of an engine's API.

    Args:
        url: up to and with `/v1`, without user, password, query or fragment
        requests: how many are on their way at once
        timeout: seconds of one answer
        tries: of a request before the engine counts as gone
    """

    def __init__(self, url: str, requests: int = 4, timeout: float = 600, tries: int = 3):
        self.url, self.requests, self.tries = checked(url), requests, tries
        self._timeout, self._key = timeout, os.environ.get(KEY, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise UserError(KEY, problem="expected printable letters of ASCII")
        own = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            self._http = httpx.Client(
                headers={"Accept-Encoding": "identity"} | own,
                timeout=httpx.Timeout(timeout, connect=min(timeout, 10)),
                limits=httpx.Limits(max_connections=requests),
                follow_redirects=False,
                # a proxy of the environment does not reach this machine
                trust_env=httpx.URL(url).host not in LOOPBACK,
            )
        except (ImportError, ValueError, httpx.InvalidURL) as error:  # of a kind unknown to httpx
            problem = f"a proxy of the environment cannot be used ({first_line(error):.100})"
            remedy = "put the host of the engine into NO_PROXY, or unset the proxy"
            raise UserError("ALL_PROXY", problem=problem, remedy=remedy) from None
        weakref.finalize(self, self._http.close)

    def get(self, path: str) -> Any:
        return self._asked("GET", path, None)

    def post(self, path: str, body: dict[str, Any], trial: bool = False) -> Any:
        """Returns the answer to a request. Raises Refused for a request that the engine rejects,
        UserError for an engine that is gone, redirects, or answers no JSON.

        trial: the engine may not know these options, and 500 rejects them, too (llama.cpp)
        """
        return self._asked("POST", path, body, trial)

    def each(self, ask: Callable[[A], B], given: Iterable[A]) -> list[B]:
        """Returns ask(one) for each of them, `requests` at once."""
        given = list(given)
        if len(given) == 1:
            return [ask(given[0])]
        with ThreadPoolExecutor(self.requests) as pool:
            return list(pool.map(ask, given))

    def error(self, problem: str, remedy: str = "") -> UserError:
        """Returns an error about this engine, in one line without the key."""
        return UserError("model.url", self.url, self._shown(problem), remedy)

    def _asked(
        self, method: str, path: str, body: dict[str, Any] | None, trial: bool = False
    ) -> Any:
        why = ""
        for attempt in range(self.tries):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                status, found = self._once(method, f"{self.url}/{path}", body)
            except httpx.TransportError as error:
                why = f"{type(error).__name__}: {first_line(error)}"
                continue
            if status == 200:
                return self._parsed(found)
            why = f"{status}: {_message(found)}"
            if 300 <= status < 400:
                remedy = "give the address that it leads to, if you trust it"
                raise self.error("redirects, which extrap does not follow", remedy)
            if status in (401, 403):
                raise self.error(f"asks for a key ({status})", f"put it into {KEY}")
            if status not in BUSY or (trial and status == 500):
                raise Refused(self._shown(why), status)
        remedy = "start the engine, or raise model.timeout or model.tries"
        raise self.error(f"does not answer after {self.tries} tries ({why:.160})", remedy)

    def _once(self, method: str, url: str, body: dict[str, Any] | None) -> tuple[int, bytes]:
        found, end = bytearray(), time.monotonic() + self._timeout
        with self._http.stream(method, url, json=body) as answer:
            for part in answer.iter_raw():
                found += part
                if len(found) > MOST:
                    problem = f"answers with more than {MOST // 2**20} MiB"
                    raise self.error(problem, "give shorter lengths")
                if time.monotonic() > end:
                    raise httpx.ReadTimeout(f"no whole answer in {self._timeout:g} s")
        return answer.status_code, bytes(found)

    def _parsed(self, answer: bytes) -> Any:
        try:
            return json.loads(answer)
        except (ValueError, RecursionError):
            problem = "answers something else than JSON"
            raise self.error(problem, "give the address of its API, as in .../v1") from None

    def _shown(self, said: str) -> str:
        said = said.replace(self._key, "***") if self._key else said
        return escaped(said)[:300]


def checked(url: str) -> str:
    """Returns an address without a slash at its end. Raises UserError for another scheme than
    http, and for user, password, query or fragment, which rows would keep.
    """
    remedy = "give an address such as http://127.0.0.1:8000/v1"
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        raise UserError("model.url", problem="no address", remedy=remedy) from None
    if parts.userinfo or parts.query or parts.fragment:
        problem = "holds a user, a password, a query or a fragment"
        raise UserError("model.url", problem=problem, remedy=f"{remedy}, and a key in {KEY}")
    if parts.scheme not in ("http", "https") or not parts.host:
        raise UserError("model.url", url, "expected http:// or https://", remedy)
    return url.rstrip("/")


def _message(answer: bytes) -> str:
    """Returns what an engine says of an error."""
    try:
        found = json.loads(answer)
        for name in ("error", "message", "detail"):
            if isinstance(found, dict) and name in found:
                found = found[name]
        return " ".join(str(found).split())[:200]
    except (ValueError, RecursionError):
        return answer[:100].decode("ascii", "replace")
