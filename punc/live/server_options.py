"""The options of `punc serve`."""

from dataclasses import dataclass

from punc.base.errors import InputError, check_at_least


@dataclass(frozen=True)
class ServerOptions:
    """Where a server listens, and what a client may do.

    host             address to listen on; the default can be reached only from this machine
    port             port to listen on; 0: any free one
    workers          processes that serve, each with all models; a client stays with one
    upstream         URL of a Vosk server: what live clients send goes there, and its results come back with marks
    max_connections  live connections, and requests, of a process at a time
    max_rate         words and lines a second of a live connection, over ten seconds; what comes faster waits

    Raises InputError if one of them is wrong.
    """

    host: str = "127.0.0.1"
    port: int = 2701
    workers: int = 1
    upstream: str = ""
    max_connections: int = 256
    max_rate: float = 50.0

    def __post_init__(self) -> None:
        check_at_least(1, workers=self.workers, max_connections=self.max_connections, max_rate=self.max_rate)
        if not 0 <= self.port < 1 << 16:
            raise InputError(f"port={self.port}", "give one from 0 to 65535")
