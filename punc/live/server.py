"""A server of live punctuation: one model for many connections by WebSocket (RFC 6455), each with a state of its own.

One thread decides for all. A connection that sends many words waits, and so does one that does not read its answers.
`GET /health` answers with a line of JSON. Ctrl-C and SIGTERM end the server: every client gets all its words first.

The extra `serve` brings the package `websockets`.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import numpy as np

from punc.base import stop
from punc.base.errors import InputError, check_at_least, check_choice
from punc.decoding.decode import AnyModel
from punc.live.connection import Connection
from punc.live.session import OUTPUTS, LiveOptions, Session
from punc.live.words import LiveWriter, open_stream
from punc.text.casing import Casing

try:
    from websockets.asyncio import client as ws_client
    from websockets.asyncio import server as ws_server
    from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
except ImportError:
    ws_server = None  # type: ignore[assignment, unused-ignore]

logger = logging.getLogger(__name__)

POLL = 0.1  # s between looks for a signal
FINISH = 1.0  # s for the last words of all connections; the program ends 1.5 s after a signal (`base.stop`)
HANDSHAKE = 5.0  # s
MESSAGE = 1 << 16  # bytes of a message
QUEUE = 4  # messages of a connection that are read ahead
SILENT = logging.getLogger("punc-websockets")  # clients that break the protocol are no news
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


@dataclass(frozen=True)
class ServerOptions:
    """Where a server listens, and what a client may do.

    host             address to listen on; the default can be reached only from this machine
    port             port to listen on; 0: any free one
    upstream         URL of a Vosk server: what clients send goes there, and its results come back with marks
    output           text, json or vosk; auto: as the first message of a connection
    max_connections  connections at a time
    max_rate         words and messages a second of a connection, over ten seconds; what comes faster waits

    Raises InputError if one of them is wrong.
    """

    host: str = "127.0.0.1"
    port: int = 2701
    upstream: str = ""
    output: str = "auto"
    max_connections: int = 256
    max_rate: float = 50.0

    def __post_init__(self) -> None:
        check_choice(("auto", *OUTPUTS), output=self.output)
        check_at_least(1, max_connections=self.max_connections, max_rate=self.max_rate)
        if not 0 <= self.port < 1 << 16:
            raise InputError(f"port={self.port}", "give one from 0 to 65535")


class Server:
    """A model that reads left to right, and its clients.

    casing   writes the words; each stream has a copy
    scale    (L,) factors of the posteriors before labels are chosen; None: all 1

    Raises InputError without `websockets`.
    """

    def __init__(self, model: AnyModel, casing: Casing, scale: np.ndarray | None, live: LiveOptions,
                 options: ServerOptions):
        if ws_server is None:
            raise InputError("the package websockets is missing", "pip install 'punc-toolkit[serve]'")
        self._fresh = open_stream(model, LiveWriter(model, casing), scale)  # copies share its weights and tables
        self._live, self.options = live, options
        self._tasks: set[asyncio.Task[None]] = set()  # a connection each
        self._transports = self._words = self._served = 0
        self._begin = time.monotonic()

    async def run(self, ended: Callable[[], bool], started: Callable[[int], None]) -> None:
        """Serve until `ended()`; `started` is told the port. Raises OSError if the address cannot be had."""
        options = self.options
        async with ws_server.serve(
                self._handle, options.host, options.port, process_request=self._before, compression=None,
                create_connection=self._connection_class(), max_size=MESSAGE, max_queue=QUEUE,
                open_timeout=HANDSHAKE, close_timeout=FINISH, server_header=None, logger=SILENT) as listening:
            started(next(iter(listening.sockets)).getsockname()[1])
            while not ended():
                await asyncio.sleep(POLL)
            for task in self._tasks:
                task.cancel()
            until = time.monotonic() + FINISH
            while self._tasks and time.monotonic() < until:
                await asyncio.sleep(POLL / 10)

    def health(self) -> dict[str, Any]:
        """What `GET /health` says."""
        return {"status": "ok", "connections": len(self._tasks), "max_connections": self.options.max_connections,
                "served": self._served, "words": self._words, "seconds": round(time.monotonic() - self._begin)}

    def _connection_class(self) -> "type[ws_server.ServerConnection]":
        """Connections that are cut off at once if there are too many, half-open ones among them."""
        counter = self

        class Limited(ws_server.ServerConnection):
            def connection_made(self, transport: Any) -> None:
                counter._transports += 1
                super().connection_made(transport)
                if counter._transports > 2 * counter.options.max_connections:
                    transport.abort()

            def connection_lost(self, exc: Exception | None) -> None:
                counter._transports -= 1
                super().connection_lost(exc)

        return Limited

    def _before(self, socket: "ws_server.ServerConnection",
                request: "ws_server.Request") -> "ws_server.Response | None":
        """The answer to a request that gets no WebSocket."""
        if request.path == "/health":
            return socket.respond(HTTPStatus.OK, json.dumps(self.health()) + "\n")
        if len(self._tasks) >= self.options.max_connections:
            return socket.respond(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections; try again later\n")
        return None

    async def _handle(self, socket: "ws_server.ServerConnection") -> None:
        """Serve a client to its end."""
        if len(self._tasks) >= self.options.max_connections:  # many came at once
            await socket.close(1013, "too many connections")
            return
        self._served += 1
        try:
            if self.options.upstream:
                await self._relay(socket)
            else:
                await self._converse(socket, socket)
        except ConnectionClosed:
            pass
        except Exception:
            logger.exception("a connection failed")
            await socket.close(1011)

    async def _converse(self, source: Any, sink: "ws_server.ServerConnection") -> None:
        """Answer the messages of a source until it is closed, or the server ends."""
        options = self.options
        connection = Connection(source, sink, Session(self._fresh.copy, self._live), self._live.max_delay,
                                "vosk" if options.upstream and options.output == "auto" else options.output,
                                options.max_rate, self._count)
        task = asyncio.create_task(connection.run())
        self._tasks.add(task)
        try:
            await task
        except asyncio.CancelledError:
            if not task.cancelled():  # it is this coroutine that is cancelled
                task.cancel()
                raise
            await connection.finish()
            await sink.close(1001)
        except ConnectionClosed:
            if source is not sink:  # the recogniser has ended, the client has not
                await connection.finish()
            raise
        finally:
            self._tasks.discard(task)

    async def _relay(self, socket: "ws_server.ServerConnection") -> None:
        """Send what a client says to a Vosk server, and what that answers, with marks, to the client."""
        try:
            upstream = await ws_client.connect(self.options.upstream, compression=None, open_timeout=HANDSHAKE,
                                               logger=SILENT)
        except (OSError, InvalidHandshake, InvalidURI, asyncio.TimeoutError):
            logger.warning("%s: no Vosk server there", self.options.upstream)
            await socket.send(json.dumps({"error": "the recogniser cannot be reached"}))
            await socket.close(1013)
            return
        async with upstream:
            forward = asyncio.create_task(_forward(socket, upstream))
            try:
                await self._converse(upstream, socket)
            finally:
                forward.cancel()

    def _count(self, words: int) -> None:
        self._words += words


async def _forward(source: Any, sink: Any) -> None:
    """Send messages on as they are, and the end of the source."""
    try:
        while True:
            await sink.send(await source.recv())
    except ConnectionClosed:
        await sink.close()


def run_server(server: Server) -> None:
    """Serve until Ctrl-C or SIGTERM, which is raised when all is sent. Raises InputError if the port cannot be had."""
    host = server.options.host

    def started(port: int) -> None:
        logger.info("listening on ws://%s:%d", f"[{host}]" if ":" in host else host, port)

    try:
        with stop.held():  # the server looks for a signal, and ends when all is sent
            asyncio.run(server.run(lambda: stop.received() is not None, started))
    except OSError as error:
        raise InputError(f"{host}:{server.options.port}: {error.strerror or error}",
                         "give another --port or --host") from None
    finally:
        health = server.health()
        logger.info("served %d connections and %d words", health["served"], health["words"])
