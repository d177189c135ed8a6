"""One task with the standard library: submit, poll every second, download. For tools that run a command or a function per task."""

import json
import os
import pathlib
import sys
import time
import urllib.request

BASE = os.environ["PEER_BASE_URL"]
HEADERS = {"Authorization": f"Bearer {os.environ['PEER_API_KEY']}", "Content-Type": "application/json"}


def call(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, HEADERS), timeout=60) as response:
        return response.read()


def render(number, file, before=None):
    body = {
        "model": "modela-video-2-0-260128",
        "prompt": f"scene {number}",
        "seconds": "4",
        "resolution": "480p",
        "ratio": "16:9",
    }
    if before:
        body["image"] = f"{BASE}/files/{before}.png"
    task = json.loads(call(f"{BASE}/v1/videos", body))
    while task["status"] not in ("completed", "failed"):
        time.sleep(1)
        task = json.loads(call(f"{BASE}/v1/videos/{task['id']}"))
    if task["status"] == "failed":
        raise RuntimeError(f"scene {number} failed")
    part = pathlib.Path(f"{file}.part")
    part.write_bytes(call(task["metadata"]["url"]))
    part.rename(file)


if __name__ == "__main__":
    render(sys.argv[1], sys.argv[2], *sys.argv[3:])
