"""An engine on the loopback: transformers behind the completions protocol, with planted faults."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

import torch

LOCK = Lock()
GREEDY = {"temperature": 0, "frequency_penalty": 0, "presence_penalty": 0}
PENALTIES = {"repetition_penalty": 1, "repeat_penalty": 1}
"""By option of a request: the value under which the most likely token is the answer."""


@dataclass
class Serving:
    """What a server answers with.

    net: a decoder of transformers; way: of scoring a prompt, prompt_logprobs, echo or None;
    unknown: status for another way; limit: of its context, said; change: of the ids that it reads;
    shift: of the position of the last token; strict: refuses options that OpenAI's protocol has
    not; honest: whether it says how many tokens it read; key: without which it answers 401; fails:
    how many requests it answers with 503 before it works; said, status, headers: of an answer in
    place of a completion; slow: seconds before each of its bytes.

    It answers the second token unless a request asks for the first, by every option: an engine may
    draw tokens and have penalties by default.
    """

    net: Any
    way: str | None = "prompt_logprobs"
    limit: int | None = None
    change: Callable[[list[int]], list[int]] = list
    shift: int = 0
    strict: bool = False
    unknown: int = 400
    honest: bool = False
    key: str | None = None
    fails: int = 0
    said: bytes | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    slow: float = 0.0
    asked: list[dict] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    now: int = 0
    most: int = 0

    def models(self) -> dict:
        own = {"max_model_len": self.limit} if self.limit else {}
        return {"object": "list", "data": [{"id": "tiny"} | own]}

    @torch.no_grad()
    def completion(self, body: dict) -> tuple[int, dict]:
        given = body["prompt"]
        if self.limit and len(given) + body["max_tokens"] > self.limit:
            return 400, {"error": {"message": f"maximum context length is {self.limit} tokens"}}
        if self.way is None and ("echo" in body or "prompt_logprobs" in body):
            return self.unknown, {"error": {"message": "only no echo is supported"}}
        if self.strict and "repeat_penalty" in body:
            return self.unknown, {"error": {"message": "no such option"}}
        ids, said, scores = list(self.change(given)), [], []
        prompt: list[float] = []
        greedy = GREEDY if self.strict else GREEDY | PENALTIES
        for _ in range(body["max_tokens"]):
            where = torch.arange(len(ids))
            where[-1] += self.shift
            tokens = torch.tensor([ids])
            with LOCK:
                logits = self.net(input_ids=tokens, position_ids=where[None], use_cache=False)
            log_p = logits.logits[0].double().log_softmax(-1)
            if not prompt:
                prompt = log_p[:-1].gather(1, tokens[0, 1:, None])[:, 0].tolist()
            score, token = log_p[-1].topk(2)
            rank = 0 if all(body.get(name) == one for name, one in greedy.items()) else 1
            said.append(int(token[rank]))
            scores.append(float(score[rank]))
            ids.append(said[-1])
        shown = prompt if self.honest else ([0.0] * len(given) + prompt)[-len(given) + 1 :]
        choice: dict[str, Any] = {"index": 0, "text": "", "token_ids": said}
        choice["logprobs"] = {"tokens": ["?"] * len(said), "token_logprobs": scores}
        if "prompt_logprobs" in body and self.way == "prompt_logprobs":
            at = zip(given[1:], shown, strict=not self.honest)
            choice["prompt_logprobs"] = [None, *({str(i): {"logprob": s}} for i, s in at)]
        if "echo" in body and self.way == "echo":
            choice["logprobs"]["token_logprobs"] = [None, *shown, *scores]
        read = len(ids) - len(said) if self.honest else len(given)
        return 200, {"choices": [choice], "usage": {"prompt_tokens": read}}


@contextmanager
def serving(this: Serving) -> Iterator[str]:
    """Yields the address of a server that ends with the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(200, this.models())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Authorization")
            this.asked.append(body)
            this.keys.add(key)
            this.now += 1
            this.most = max(this.most, this.now)
            try:
                self._answer(*self._found(body, key))
            finally:
                this.now -= 1

        def _found(self, body: dict, key: str | None) -> tuple[int, Any]:
            if this.key is not None and key != f"Bearer {this.key}":
                return 401, {"error": f"wrong key {key}"}
            if this.fails:
                this.fails -= 1
                return 503, {"error": "loading"}
            if this.said is not None:
                return this.status, this.said
            return this.completion(body)

        def _answer(self, status: int, found: Any) -> None:
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(status)
            for name, value in this.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if not this.slow:
                self.wfile.write(data)
            with suppress(ConnectionError):  # a client that does not wait
                for byte in data if this.slow else b"":
                    time.sleep(this.slow)
                    self.wfile.write(bytes([byte]))

        def log_message(self, *args: Any) -> None:
            """Prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()
