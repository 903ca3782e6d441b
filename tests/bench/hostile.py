"""Runs clients that try to slow down all others, for bench_server.py: 5 of each kind, until standard input is closed.

    python tests/bench/hostile.py PORT

lines    messages of 1,000 lines that are not JSON, as fast as they are accepted
pings    pings as fast as the socket accepts them; answers are never read
unknown  `hello`, then tags with partial results between them; a tag is not answered until a word that the model reads
         follows

Each client connects again a tenth of a second after its connection is closed.
"""

import json
import os
import socket
import sys
import threading
import time

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

EACH = 5
BROKEN = '{"word"\n' * 999
UNKNOWN = "\n".join([json.dumps({"word": "[Music]"}), json.dumps({"partial": "x"})] * 20)


def lines(port: int) -> None:
    with connect(f"ws://127.0.0.1:{port}/v1/live") as client:
        while True:
            client.send(BROKEN)


def unknown(port: int) -> None:
    with connect(f"ws://127.0.0.1:{port}/v1/live?output=vosk") as client:
        client.send(json.dumps({"word": "hello"}))
        while True:
            client.send(UNKNOWN)
            client.recv()


def pings(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"GET /v1/live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        client.recv(4096)
        flood = (b"\x89\xfd" + os.urandom(4) + bytes(125)) * 1000
        while True:
            client.sendall(flood)


def keep(kind: object, port: int) -> None:
    while True:
        try:
            kind(port)  # type: ignore[operator]
        except (OSError, WebSocketException):
            time.sleep(0.1)


def main() -> None:
    for kind in (lines, pings, unknown):
        for _ in range(EACH):
            threading.Thread(target=keep, args=(kind, int(sys.argv[1])), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
