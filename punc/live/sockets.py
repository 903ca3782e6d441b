"""Serves the WebSockets of `punc serve`: punctuates live words of clients or of a Vosk server, and limits what clients
may send."""

import asyncio
import contextlib
import json
import logging
from functools import partial
from typing import Any

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from punc.base.errors import InputError, check_choice
from punc.live.connection import Closed, Connection, OverLimit
from punc.live.served import Models, ServedModel, check_parameters, status_of
from punc.live.session import OUTPUTS, LiveOptions, ServerOptions, Session

HANDSHAKE = 5.0  # s; the maximum wait for a client's first request, and for the connection to a Vosk server
READ = 1 << 12  # bytes, at most about 700 frames, to read before other connections get their turn
CONTROLS = 100  # the maximum number of pings, pongs and empty fragments per second
GRACE = 1.0  # s; the time that a client has to read why its connection is closed
PARAMETERS = ("model", "output", "max_delay", "utterance_end")
ENDING = "ending"  # the key, in the application's state, of an event that is set when the server shuts down
logger = logging.getLogger(__name__)
# A logger that drops what `websockets` reports about the connections to Vosk servers.
SILENT = logging.getLogger("punc-websockets")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
# uvicorn reports each connection that is refused or broken off before its handshake ends. Any client can cause that.
logging.getLogger("uvicorn.error").addFilter(lambda record: "without completing handshake" not in record.getMessage())


class LimitedHttp(H11Protocol):
    """Serves HTTP, and closes a connection if the client does not send its first request in time."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(HANDSHAKE, self._close_silent)

    def _close_silent(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:
            self.transport.abort()


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket that limits pings, never blocks the event loop for long, and lets the application close it when the
    server shuts down."""

    close_sent: bool

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.max_size = READ
        self._second, self._controls = self.loop.time(), 0

    def handle_ping(self) -> None:
        if self._controlled():
            super().handle_ping()

    def handle_pong(self, event: Any) -> None:
        if self._controlled():
            super().handle_pong(event)

    def handle_cont(self, event: Any) -> None:
        if event.data or event.fin or self._controlled():
            super().handle_cont(event)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.loop.call_later(GRACE, self.transport.abort)  # in case the client does not read the closing frame

    def shutdown(self) -> None:
        """When the server shuts down, tell the application to send its remaining words and to close the socket."""
        if self.handshake_complete and not self.close_sent:
            self.app_state[ENDING].set()
        else:
            super().shutdown()

    def _controlled(self) -> bool:
        """Count a control frame or an empty fragment. If there are too many, close the connection and return False."""
        now = self.loop.time()
        if now > self._second + 1:
            self._second, self._controls = now, 0
        self._controls += 1
        if self._controls > CONTROLS and not self.close_sent:
            self.conn.fail(1008, f"more than {CONTROLS} pings a second; send fewer")
            self.queue.put_nowait({"type": "websocket.disconnect", "code": 1008})
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.pause_reading()
            self.loop.call_later(GRACE, self.transport.abort)
        return not self.close_sent


class Client:
    """A client's WebSocket."""

    def __init__(self, socket: WebSocket):
        self._socket = socket

    async def recv(self) -> str | bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise Closed
        text = message.get("text")
        return message.get("bytes") or b"" if text is None else text

    async def send(self, message: str) -> None:
        try:
            await self._socket.send_text(message)
        except (WebSocketDisconnect, RuntimeError):  # RuntimeError: the socket is closed
            raise Closed from None

    async def close(self, code: int = 1000, reason: str = "") -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.close(code, reason)


async def result_of(recogniser: ClientConnection) -> str | bytes:
    """Return the next message of a Vosk server. Raises Closed if the server has closed the connection."""
    try:
        return await recogniser.recv()
    except ConnectionClosed:
        raise Closed from None


async def forward(client: Client, recogniser: ClientConnection) -> None:
    """Send a client's messages to a Vosk server. When the client disconnects, close the connection to the server."""
    with contextlib.suppress(Closed, ConnectionClosed):
        while True:
            await recogniser.send(await client.recv())
    await recogniser.close()


class LiveSockets:
    """Serves WebSockets, each with its own session. `live`: default options, which a client's query may override."""

    def __init__(self, models: Models, live: LiveOptions, options: ServerOptions):
        self._models, self._live, self._options = models, live, options
        self._open = self._words = self._served = 0

    def health(self) -> dict[str, int]:
        return {"connections": self._open, "max_connections": self._options.max_connections, "served": self._served,
                "words": self._words}

    async def serve(self, socket: WebSocket) -> None:
        """Serve a client until its connection ends."""
        try:
            model, live, output = self._wanted(socket)
        except InputError as error:
            said = {"error": error.what, "remedy": error.remedy}
            return await socket.send_denial_response(JSONResponse(said, status_of(error)))
        if self._open >= self._options.max_connections:
            full = {"error": "too many connections", "remedy": "try again later"}
            return await socket.send_denial_response(JSONResponse(full, 503))
        self._open += 1
        self._served += 1
        client = Client(socket)
        try:
            await socket.accept()
            if self._options.upstream:
                await self._relay(socket, client, model, live, output)
            else:
                await self._converse(socket, client, model, live, output)
        except (Closed, WebSocketDisconnect):
            pass
        finally:
            self._open -= 1

    def _wanted(self, socket: WebSocket) -> tuple[ServedModel, LiveOptions, str]:
        query = socket.query_params
        check_parameters(query, PARAMETERS)
        output, delay = query.get("output", "auto"), query.get("max_delay")
        check_choice(("auto", *OUTPUTS), output=output)
        try:
            max_delay = self._live.max_delay if delay is None else float(delay)
        except ValueError:
            raise InputError(f"max_delay={delay} is not a delay", "give seconds, such as 0.5") from None
        live = LiveOptions(max_delay, query.get("utterance_end", self._live.utterance_end))
        return self._models.find(query.get("model", ""), live=True), live, output

    async def _converse(self, socket: WebSocket, client: Client, model: ServedModel, live: LiveOptions, output: str,
                        recogniser: ClientConnection | None = None) -> None:
        assert model.fresh
        receive = partial(result_of, recogniser) if recogniser else client.recv
        connection = Connection(receive, client.send, Session(model.fresh.copy, live), live.max_delay, output,
                                self._options.max_rate, self._count)
        running = asyncio.create_task(connection.run())
        ending = asyncio.create_task(socket.scope["state"][ENDING].wait())
        try:
            await asyncio.wait({running, ending}, return_when=asyncio.FIRST_COMPLETED)
            code, reason = (1001, "the server is shutting down") if ending.done() else (1000, "")
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
        except Closed:
            if not recogniser:
                raise
            code, reason = 1000, ""  # the connection to the recogniser is closed; the client's may still be open
        except OverLimit as error:
            await client.send(json.dumps({"error": str(error)}, ensure_ascii=False))
            code, reason = 1008, str(error)
        finally:
            running.cancel()
            ending.cancel()
        await connection.finish()
        await client.close(code, reason)

    async def _relay(self, socket: WebSocket, client: Client, model: ServedModel, live: LiveOptions,
                     output: str) -> None:
        try:
            upstream = await connect(self._options.upstream, compression=None, open_timeout=HANDSHAKE, logger=SILENT)
        except (OSError, InvalidHandshake, InvalidURI, asyncio.TimeoutError):
            logger.warning("%s: there is no Vosk server", self._options.upstream)
            await client.send(json.dumps({"error": "the recogniser cannot be reached"}))
            await client.close(1013)
            return
        async with upstream:
            forwarding = asyncio.create_task(forward(client, upstream))
            try:
                await self._converse(socket, client, model, live, "vosk" if output == "auto" else output, upstream)
            finally:
                forwarding.cancel()

    def _count(self, words: int) -> None:
        self._words += words
