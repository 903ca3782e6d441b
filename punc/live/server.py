"""Runs the processes of `punc serve`: uvicorn serves the application of `live.app` on one socket.

On Ctrl-C or SIGTERM, the processes send all live clients their remaining words, answer all requests, and end.
Connections that are still open after FINISH seconds are cut off. This module needs the extra `serve`.
"""

import logging
import signal
import socket
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

from punc.base import parallel, stop
from punc.base.errors import InputError
from punc.live.session import LiveOptions, ServerOptions

logger = logging.getLogger(__name__)

MESSAGE = 1 << 16  # bytes; the maximum size of a message
BACKLOG = 128  # the maximum number of connections that wait to be accepted
FINISH = 1.0  # s for the last words and answers; less than the 1.5 s after which `base.stop` ends the program


def run_server(names: Sequence[str], scale: str, live: LiveOptions, options: ServerOptions) -> None:
    """Serve models until Ctrl-C or SIGTERM. Raises InputError for an invalid model, host or port."""
    import uvicorn

    from punc.live.app import make_app
    with listening(options) as listener:
        app = make_app(names, scale, live, options)  # raises InputError for a broken model before any worker starts
        host, port = listener.getsockname()[:2]
        logger.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)
        if options.workers == 1:
            uvicorn.Server(config_of(app, options)).run([listener])
            return
        del app
        supervise(config_of(partial(worker_app, names, scale, live, options), options, factory=True), listener)


def listening(options: ServerOptions) -> socket.socket:
    """Open the socket that all processes listen on. Raises InputError if the address cannot be used."""
    try:
        family, _, _, _, address = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise InputError(f"{options.host}:{options.port}: {error.strerror or error}",
                         "give another --port or --host") from None


def config_of(app: Any, options: ServerOptions, **others: Any) -> Any:
    """Return uvicorn's configuration for `app`, which is an application or a function that makes one."""
    from uvicorn import Config

    from punc.live.sockets import LimitedHttp, LimitedWebSocket
    return Config(app, loop="asyncio", http=LimitedHttp, ws=LimitedWebSocket, ws_max_size=MESSAGE,
                  ws_per_message_deflate=False, lifespan="on", log_config=None, log_level="error", access_log=False,
                  server_header=False, workers=options.workers, backlog=BACKLOG,
                  limit_concurrency=2 * options.max_connections + BACKLOG,
                  timeout_graceful_shutdown=FINISH, **others)  # type: ignore[arg-type]


def worker_app(*arguments: Any) -> Any:
    """Make the application in a worker process, which ends when its parent ends."""
    from tqdm import tqdm

    from punc.live.app import make_app
    tqdm.set_lock(threading.RLock())  # otherwise Python reports tqdm's multiprocessing lock as leaked after a signal
    parallel.end_with_parent()
    return make_app(*arguments)


def supervise(config: Any, listener: socket.socket) -> None:
    """Serve in several processes. A process that dies is replaced. Raises InputError if a process does not start."""
    from uvicorn.supervisors import Multiprocess
    handlers = {number: signal.getsignal(number) for number in stop.SIGNALS}
    workers = Multiprocess(config, [listener])
    for number, handler in handlers.items():  # uvicorn has replaced the handlers; restore ours
        signal.signal(number, handler)
    try:
        workers.run()
    finally:
        workers.terminate_all()
        workers.join_all()
    raise InputError("a worker did not start", "see the message above")
