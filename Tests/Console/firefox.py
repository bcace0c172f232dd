#!/usr/bin/env python3
"""Debian's Firefox as Playwright starts it: it is driven by WebDriver BiDi, of which it lacks one command.

Playwright sends `emulation.setMediaFeaturesOverride` for each context; this stands between the two and says yes to it.
"""
import asyncio
import json
import os
import re
import sys

FIREFOX = os.environ.get("SETTLE_FIREFOX", "/usr/bin/firefox-esr")
LACKING = b"emulation.setMediaFeaturesOverride"


async def frame(reader):
    """One frame of a web socket: its bytes as they came, and its text without the mask."""
    head = await reader.readexactly(2)
    more = {126: 2, 127: 8}.get(head[1] & 127, 0)
    length = await reader.readexactly(more)
    mask = await reader.readexactly(4 if head[1] & 128 else 0)
    body = await reader.readexactly(int.from_bytes(length, "big") if more else head[1] & 127)
    # Long texts are none of those that are looked for, and would take long to unmask.
    text = bytes(sign ^ mask[place % 4] for place, sign in enumerate(body)) if mask and len(body) < 2000 else b""
    return head + length + mask + body, text


async def pass_on(reader, writer, lacking=None):
    try:
        while True:
            whole, text = await frame(reader)
            if lacking and LACKING in text:
                answer = json.dumps({"type": "success", "id": json.loads(text)["id"], "result": {}}).encode()
                lacking.write(bytes([129, len(answer)]) + answer)
                continue
            writer.write(whole)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    firefox = await asyncio.create_subprocess_exec(FIREFOX, *sys.argv[1:], stderr=asyncio.subprocess.PIPE, limit=2**20)

    async def connected(reader, writer):
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
        # Firefox wants to be called by its own port.
        shake = await reader.readuntil(b"\r\n\r\n")
        other_writer.write(re.sub(rb"(?i)(\r\nhost: [^\r]*:)\d+", rb"\g<1>%d" % port, shake))
        writer.write(await other_reader.readuntil(b"\r\n\r\n"))
        await asyncio.gather(pass_on(reader, other_writer, lacking=writer), pass_on(other_reader, writer))

    relay = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**26)
    async for line in firefox.stderr:
        if found := re.search(rb"ws://127.0.0.1:(\d+)", line):
            port = int(found[1])
            line = line.replace(found[0], b"ws://127.0.0.1:%d" % relay.sockets[0].getsockname()[1])
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
    sys.exit(await firefox.wait())


if __name__ == "__main__":
    asyncio.run(main())
