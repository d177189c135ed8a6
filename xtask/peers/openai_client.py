"""All tasks with the openai SDK: `videos.create_and_poll`, its own retries, a semaphore."""

import asyncio
import os
import pathlib
import sys

from openai import AsyncOpenAI

OUT = pathlib.Path(os.environ["PEER_OUT"])
BASE = os.environ["PEER_BASE_URL"]
TASKS, JOBS = int(os.environ["PEER_TASKS"]), int(os.environ["PEER_JOBS"])


async def render(client, number, before=None):
    file = OUT / f"{number:04}.mp4"
    if file.exists():
        return
    extra = {"resolution": "480p", "ratio": "16:9"}
    if before is not None:
        extra["image"] = f"{BASE}/files/{before:04}.png"
    video = await client.videos.create_and_poll(
        model="modela-video-2-0-260128", prompt=f"scene {number:04}", seconds="4", extra_body=extra
    )
    if video.status != "completed":
        raise RuntimeError(f"scene {number:04}: {video.status}")
    content = await client.videos.download_content(video.id)
    part = file.with_suffix(".part")
    part.write_bytes(content.read())
    part.rename(file)


async def main():
    client = AsyncOpenAI(base_url=f"{BASE}/v1", api_key=os.environ["PEER_API_KEY"])
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
