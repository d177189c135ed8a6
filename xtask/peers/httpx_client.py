"""All tasks with httpx and asyncio: a semaphore, retries with back-off, polls every second."""

import asyncio
import os
import pathlib
import sys

import httpx

BASE = os.environ["PEER_BASE_URL"]
OUT = pathlib.Path(os.environ["PEER_OUT"])
TASKS, JOBS = int(os.environ["PEER_TASKS"]), int(os.environ["PEER_JOBS"])
RETRIES = 8


async def call(client, method, url, **arguments):
    for attempt in range(RETRIES):
        try:
            response = await client.request(method, url, **arguments)
        except httpx.TransportError:
            if attempt + 1 == RETRIES:
                raise
            await asyncio.sleep(min(2**attempt * 0.25, 8))
            continue
        if response.status_code != 429 and response.status_code < 500:
            response.raise_for_status()
            return response
        await asyncio.sleep(float(response.headers.get("retry-after", min(2**attempt * 0.25, 8))))
    raise RuntimeError(f"{method} {url}: {response.status_code} after {RETRIES} attempts")


async def render(client, number, before=None):
    file = OUT / f"{number:04}.mp4"
    if file.exists():
        return
    body = {
        "model": "modela-video-2-0-260128",
        "prompt": f"scene {number:04}",
        "seconds": "4",
        "resolution": "480p",
        "ratio": "16:9",
    }
    if before is not None:
        body["image"] = f"{BASE}/files/{before:04}.png"
    task = (await call(client, "POST", f"{BASE}/v1/videos", json=body)).json()
    while task["status"] not in ("completed", "failed"):
        await asyncio.sleep(1)
        task = (await call(client, "GET", f"{BASE}/v1/videos/{task['id']}")).json()
    if task["status"] == "failed":
        raise RuntimeError(f"scene {number:04} failed")
    video = await call(client, "GET", task["metadata"]["url"])
    part = file.with_suffix(".part")
    part.write_bytes(video.content)
    part.rename(file)


async def main():
    headers = {"Authorization": f"Bearer {os.environ['PEER_API_KEY']}"}
    limits = httpx.Limits(max_connections=JOBS)
    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=60) as client:
        if os.environ["PEER_CHAIN"] == "1":
            for number in range(TASKS):
                await render(client, number, number - 1 if number else None)
            return 0
        permits = asyncio.Semaphore(JOBS)

        async def bounded(number):
            async with permits:
                await render(client, number)

        results = await asyncio.gather(*(bounded(number) for number in range(TASKS)), return_exceptions=True)
        failures = [result for result in results if result is not None]
        for failure in failures:
            print(failure, file=sys.stderr)
        return 1 if failures else 0


sys.exit(asyncio.run(main()))
