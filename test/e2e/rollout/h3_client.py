"""
An HTTP/3 client that obeys GOAWAY (RFC 9114 section 5.2), by aioquic. Reads a plan as one line of JSON, asks until its
standard input ends, then prints a report as JSON.

After a GOAWAY no request begins on that connection; those in flight end on it. What the server says it has not processed
(at or above the identifier of the GOAWAY, or reset with H3_REQUEST_REJECTED) is asked again and counted as repeated.
Everything else that a user would have seen is a failure.
"""

import asyncio
import json
import ssl
import sys
import time

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.buffer import Buffer, BufferReadError
from aioquic.h3.connection import ErrorCode, FrameType, H3Connection, StreamType
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StreamDataReceived, StreamReset

REPEATS = 5
TIMEOUT = 10
FAILURES_KEPT = 20


class Refused(Exception):
    """The server has not processed the request."""


class Failed(Exception):
    pass


class Connection(QuicConnectionProtocol):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.http = H3Connection(self._quic)
        self.going = False
        self.goaways = 0
        self._waiting = {}
        self._statuses = {}
        self._control = {}

    def usable(self):
        return not self.going

    async def request(self, headers, body):
        stream = self._quic.get_next_available_stream_id()
        answer = asyncio.get_running_loop().create_future()
        self._waiting[stream] = answer
        self.http.send_headers(stream, headers, end_stream=body is None)
        if body is not None:
            self.http.send_data(stream, body, end_stream=True)
        self.transmit()
        try:
            return await asyncio.wait_for(answer, TIMEOUT)
        except asyncio.TimeoutError:
            raise Failed(f"no answer within {TIMEOUT} s") from None
        finally:
            self._waiting.pop(stream, None)

    def _end(self, stream, result):
        answer = self._waiting.get(stream)
        if answer is None or answer.done():
            return
        if isinstance(result, Exception):
            answer.set_exception(result)
        else:
            answer.set_result(result)

    def _look_for_goaway(self, event):
        """The library skips this frame: it is read here from the server's control stream."""
        seen = self._control.get(event.stream_id, b"") + event.data
        self._control[event.stream_id] = seen
        buffer = Buffer(data=seen)
        try:
            if buffer.pull_uint_var() != StreamType.CONTROL:
                return
            while not buffer.eof():
                kind = buffer.pull_uint_var()
                frame = Buffer(data=buffer.pull_bytes(buffer.pull_uint_var()))
                if kind == FrameType.GOAWAY:
                    self._obey(frame.pull_uint_var())
        except BufferReadError:
            pass

    def _obey(self, limit):
        if not self.going:
            self.goaways += 1
        self.going = True
        for stream in list(self._waiting):
            if stream >= limit:
                self._end(stream, Refused("GOAWAY"))

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived) and event.stream_id % 4 == 3:
            self._look_for_goaway(event)
        if isinstance(event, StreamReset):
            if event.error_code == ErrorCode.H3_REQUEST_REJECTED:
                self._end(event.stream_id, Refused("H3_REQUEST_REJECTED"))
            else:
                self._end(event.stream_id, Failed(f"stream reset with {event.error_code:#x}"))
        if isinstance(event, ConnectionTerminated):
            self.going = True
            for stream in list(self._waiting):
                self._end(stream, Failed(f"connection ended with {event.error_code:#x} {event.reason_phrase}"))
        for happened in self.http.handle_event(event):
            if isinstance(happened, HeadersReceived):
                self._statuses[happened.stream_id] = dict(happened.headers).get(b":status", b"0").decode()
            if isinstance(happened, (HeadersReceived, DataReceived)) and happened.stream_ended:
                self._end(happened.stream_id, self._statuses.pop(happened.stream_id, "0"))


class Client:
    """One worker: one request after another, on one connection as long as it may."""

    def __init__(self, plan, report, began):
        self.plan = plan
        self.report = report
        self.began = began
        self._context = None
        self._connection = None

    async def _connected(self):
        if self._connection is None or not self._connection.usable():
            await self.close()
            configuration = QuicConfiguration(
                is_client=True,
                alpn_protocols=["h3"],
                server_name=self.plan["host"],
                idle_timeout=30,
                verify_mode=ssl.CERT_REQUIRED,
                cadata=self.plan["ca"].encode(),
            )
            self._context = connect(
                self.plan["address"], self.plan["port"], configuration=configuration, create_protocol=Connection
            )
            self._connection = await asyncio.wait_for(self._context.__aenter__(), TIMEOUT)
            self.report["connections"] += 1
        return self._connection

    async def close(self):
        context, connection = self._context, self._connection
        self._context = self._connection = None
        if connection is None:
            return
        self.report["goaways"] += connection.goaways
        await context.__aexit__(None, None, None)

    async def one(self, method):
        plan = self.plan
        headers = [
            (b":method", method.encode()),
            (b":scheme", b"https"),
            (b":authority", plan["host"].encode()),
            (b":path", plan["path"].encode()),
        ]
        body = b"b" * 300 if method == "POST" else None
        for _ in range(REPEATS + 1):
            try:
                connection = await self._connected()
            except (ConnectionError, asyncio.TimeoutError) as error:
                raise Failed(f"no connection: {error!r}") from None
            try:
                return await connection.request(headers, body)
            except Refused:
                self.report["repeated"] += 1
        raise Failed(f"refused {REPEATS + 1} times")

    async def work(self, method, stopped):
        while not stopped.is_set():
            try:
                status = await self.one(method)
                if status != "200":
                    raise Failed(f"status {status}")
            except Failed as failure:
                self.report["failed"] += 1
                if len(self.report["failures"]) < FAILURES_KEPT:
                    at = round((time.monotonic() - self.began) * 1000)
                    self.report["failures"].append(f"+{at} ms: {method}: {failure}")
            self.report["requests"] += 1
            await asyncio.sleep(self.plan["pauseMs"] / 1000)
        await self.close()


async def main():
    plan = json.loads(sys.stdin.readline())
    report = {"requests": 0, "failed": 0, "repeated": 0, "goaways": 0, "connections": 0, "failures": []}
    stopped = asyncio.Event()
    began = time.monotonic()
    works = [
        asyncio.create_task(Client(plan, report, began).work(method, stopped))
        for method in plan["methods"]
        for _ in range(plan["workers"])
    ]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    stopped.set()
    await asyncio.gather(*works)
    print(json.dumps(report))


asyncio.run(main())
