"""Mirrors on this machine: a tiny dataset, and a server that gives it well or badly."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType

import numpy as np

from netdyno.data.catalog import Content, Dataset, Published

COUNT = 600
NOISE = np.random.RandomState(0)
IMAGES = bytes.fromhex("00000803") + b"".join(n.to_bytes(4, "big") for n in (COUNT, 8, 8)) + NOISE.bytes(COUNT * 64)
LABELS = bytes.fromhex("00000801") + COUNT.to_bytes(4, "big") + bytes(n % 10 for n in range(COUNT))


def _md5(data):
    return hashlib.md5(data).hexdigest()


def _published(name, data, packed):
    content = Content(name=name, bytes=len(data), md5=_md5(data))
    return Published(name=f"{name}.gz", bytes=len(packed), md5=_md5(packed), contents=(content,))


RAW = {f"{part}-images-idx3-ubyte": IMAGES for part in ("train", "t10k")}
RAW |= {f"{part}-labels-idx1-ubyte": LABELS for part in ("train", "t10k")}
PACKED = {f"{name}.gz": gzip.compress(data, mtime=0) for name, data in RAW.items()}
TINY = Dataset(
    name="tiny",
    shape=(8, 8, 1),
    classes=tuple("0123456789"),
    counts=MappingProxyType({"train": COUNT, "test": COUNT}),
    format="idx",
    files=tuple(_published(name, data, PACKED[f"{name}.gz"]) for name, data in RAW.items()),
)


@dataclass
class Mirror:
    """What the server does, and what it was asked: path and the byte from which on."""

    url: str = ""
    manner: str = "good"
    asked: list = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    cut_at: int = 10_000


def _handler(mirror):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            return

        def do_GET(self):
            asked = self.headers.get("Range", "")
            start = int(asked[6:-1]) if asked else 0
            mirror.asked.append((self.path, start))
            body = PACKED[self.path.rpartition("/")[2]]
            manner = mirror.manner(len(mirror.asked)) if callable(mirror.manner) else mirror.manner
            getattr(self, f"_{manner}")(body, start, mirror)

        def _send(self, status, body, length=None, **more):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            for name, value in more.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def _good(self, body, start, _):
            if start:
                where = f"bytes {start}-{len(body) - 1}/{len(body)}"
                return self._send(206, body[start:], Content_Range=where)
            self._send(200, body)

        def _cuts_off(self, body, start, mirror):
            where = {"Content_Range": f"bytes {start}-{len(body) - 1}/{len(body)}"} if start else {}
            part = body[start : start + mirror.cut_at]
            self._send(206 if start else 200, part, length=len(body) - start, **where)

        def _cuts_off_without_a_word(self, body, *_):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body[:5000])

        def _says_too_long(self, body, *_):
            self._send(200, body, length=len(body) + 1000)

        def _sends_more(self, body, *_):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body + bytes(100_000))

        def _ignores_range(self, body, *_):
            self._send(200, body)

        def _gives_another_range(self, body, start, _):
            self._send(206, body[start + 7 :], Content_Range=f"bytes {start + 7}-{len(body) - 1}/{len(body)}")

        def _sends_wrong_bytes(self, body, *_):
            self._send(200, bytes(len(body)))

        def _sends_a_page(self, *_):
            self._send(200, b"<html>sign in to this network</html>")

        def _is_missing(self, *_):
            self._send(404, b"gone")

        def _sends_nothing(self, *_):
            mirror.stop.wait(5)

    return Handler


@contextmanager
def running_mirror() -> Iterator[Mirror]:
    mirror = Mirror()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(mirror))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    mirror.url = f"http://127.0.0.1:{server.server_port}/"
    try:
        yield mirror
    finally:
        mirror.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
