"""What a client may do to uvicorn's HTTP and WebSocket protocols, below the messages that an application sees."""

from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

HANDSHAKE = 5.0  # s for the first request
READ = 1 << 12  # bytes that are read before other connections have their turn: 700 frames
CONTROLS = 100  # pings, pongs and empty fragments a second
GRACE = 1.0  # s for a client to read why it is closed
ENDING = "ending"  # in the state of the application: an event that is set when the server ends


class LimitedHttp(H11Protocol):
    """HTTP whose client must say what it wants."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(HANDSHAKE, self._close_silent)

    def _close_silent(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:
            self.transport.abort()


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket that answers some pings, holds the loop for a short time, and lets the application end it."""

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
        self.loop.call_later(GRACE, self.transport.abort)  # it may not read, either

    def shutdown(self) -> None:
        """The server ends: the application sends what it has, and closes."""
        if self.handshake_complete and not self.close_sent:
            self.app_state[ENDING].set()
        else:
            super().shutdown()

    def _controlled(self) -> bool:
        """Count a frame that is no message. Returns False if there are too many, and closes the connection."""
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
