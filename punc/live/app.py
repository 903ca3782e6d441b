"""The HTTP and WebSocket interface of `punc serve`, built with Starlette and described in openapi.json.

Texts and files are punctuated in a few threads, and small requests do not wait for large ones. Live words are labelled
in the event loop.
"""

import asyncio
import contextlib
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from punc.base.errors import InputError
from punc.live.served import Models, check_parameters, punctuated_file, punctuated_json, punctuated_text, status_of
from punc.live.session import LiveOptions, ServerOptions
from punc.live.sockets import ENDING, LiveSockets

PAGE = Path(__file__).parent / "page"
POLICY = {"content-security-policy": "default-src 'self'; img-src data:"}
SMALL, LARGEST = 1 << 16, 1 << 22  # bytes; requests of up to SMALL do not wait for larger ones; LARGEST is the maximum
UPLOAD = 60.0  # s; a request must arrive within this time
UPLOADS = 16  # requests larger than SMALL that are in memory; others wait
SWITCH = 0.001  # s; after this time, a computing thread yields to the event loop
TYPES = {"srt": "application/x-subrip", "vtt": "text/vtt", "json": "application/json"}
Result = TypeVar("Result")


class Json(JSONResponse):
    """A JSON response. Lone surrogates, which a request may contain, become question marks."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


class App:
    """The handlers of all requests."""

    def __init__(self, models: Models, live: LiveOptions, options: ServerOptions):
        self._models, self._options = models, options
        self._sockets = LiveSockets(models, live, options)
        self._begin, self._jobs = time.monotonic(), 0

    async def punctuate(self, request: Request) -> Response:
        name = _query(request, "model").get("model", "")
        if "json" in request.headers.get("content-type", ""):
            return Json(await self._work(request, lambda raw: punctuated_json(self._models, raw, name)))
        model = self._models.find(name)
        return PlainTextResponse(await self._work(request, lambda raw: punctuated_text(model, raw)))

    async def transcript(self, request: Request) -> Response:
        query = _query(request, "model", "name", "to")
        model = self._models.find(query.get("model", ""))
        name, to = Path(query.get("name") or "request").name, query.get("to", "")
        content, form, messages = await self._work(request, lambda raw: punctuated_file(model, raw, name, to))
        kind = TYPES.get(form, TYPES["json"] if content[:1] in b"{[" else "text/plain")
        headers = {"punc-warnings": json.dumps(messages)} if messages else {}
        return Response(content, media_type=f"{kind}; charset=utf-8", headers=headers)

    async def models(self, request: Request) -> Response:
        return Json({"models": [model.facts() for model in self._models.all.values()]})

    async def health(self, request: Request) -> Response:
        seconds = round(time.monotonic() - self._begin)
        return Json({"status": "ok", "requests": self._jobs, **self._sockets.health(), "seconds": seconds})

    async def _work(self, request: Request, job: Callable[[bytes], Result]) -> Result:
        if self._jobs >= self._options.max_connections:
            raise HTTPException(503, "too many requests; try again later")
        self._jobs += 1
        try:
            async with contextlib.AsyncExitStack() as large:
                body = bytearray()
                with anyio.fail_after(UPLOAD):
                    async for chunk in request.stream():
                        if len(body) <= SMALL < len(body) + len(chunk):
                            await large.enter_async_context(self._large)
                        body += chunk
                        if len(body) > LARGEST:
                            raise HTTPException(413, f"more than {LARGEST:,d} bytes; cut it, or use punc transcript")
                threads = self._large_threads if len(body) > SMALL else self._small_threads
                return await anyio.to_thread.run_sync(job, bytes(body), limiter=threads)
        except ClientDisconnect:
            raise HTTPException(400, "the request broke off; send it again") from None
        except TimeoutError:
            raise HTTPException(408, f"the request did not arrive within {UPLOAD:.0f} s; try again later") from None
        finally:
            self._jobs -= 1

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[dict[str, Any]]:
        """Create the limiters and events that belong to this process's event loop."""
        sys.setswitchinterval(SWITCH)
        gc.freeze()  # otherwise garbage collection scans the vocabularies and blocks all connections for 0.25 s
        self._large = anyio.Semaphore(UPLOADS)
        self._large_threads = anyio.CapacityLimiter(1)
        self._small_threads = anyio.CapacityLimiter(2)
        yield {ENDING: asyncio.Event()}

    def routes(self) -> list[Any]:
        return [
            Route("/", lambda request: FileResponse(PAGE / "index.html", headers=POLICY)),
            Mount("/page", StaticFiles(directory=PAGE)),
            Route("/openapi.json", lambda request: FileResponse(PAGE / "openapi.json")),
            Route("/health", self.health), Route("/v1/models", self.models),
            Route("/v1/punctuate", self.punctuate, methods=["POST"]),
            Route("/v1/transcript", self.transcript, methods=["POST"]),
            WebSocketRoute("/v1/live", self._sockets.serve), WebSocketRoute("/", self._sockets.serve)]


def _query(request: Request, *known: str) -> QueryParams:
    check_parameters(request.query_params, known)
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise HTTPException(415, "a form with files; send the file alone: curl --data-binary @FILE")
    return request.query_params


async def input_error(request: Any, error: Any) -> Response:
    """Answer an invalid request with the error, the remedy and, if known, the line number of the error."""
    line = {} if error.line is None else {"line": error.line}
    return Json({"error": error.what, "remedy": error.remedy, **line}, status_of(error))


async def http_error(request: Any, error: Any) -> Response:
    what, _, remedy = error.detail.partition("; ")
    return Json({"error": what, "remedy": remedy or "see /openapi.json"}, error.status_code, error.headers)


def make_app(names: Sequence[str], scale: str, live: LiveOptions, options: ServerOptions) -> Starlette:
    app = App(Models(names, scale), live, options)
    return Starlette(routes=app.routes(), lifespan=app.lifespan,
                     exception_handlers={InputError: input_error, HTTPException: http_error})
