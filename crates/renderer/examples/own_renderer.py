#!/usr/bin/env python3
"""An external renderer for `runner serve --renderer 'python3 own_renderer.py'`.

It reads the task (docs/renderer.md), makes one still image, and moves the camera over it. The still comes from a local diffusion pipeline
if the package `diffusers` is installed and RUNNER_MODEL below names a model; otherwise Pillow draws it.
"""
import hashlib
import json
import sys
from pathlib import Path

# A folder or a name that `diffusers` loads, such as "stabilityai/sd-turbo". Empty: drawn with Pillow.
RUNNER_MODEL = ""
# Frames per second that are written; the service holds each until the next.
FRAMES_PER_SECOND = 8

try:
    from PIL import Image, ImageDraw
except ImportError:
    print("message this renderer needs Pillow: pip install pillow")
    sys.exit(5)


def diffused(task, size):
    """A still from a local diffusion pipeline; None without one."""
    if not RUNNER_MODEL:
        return None
    try:
        import torch
        from diffusers import AutoPipelineForText2Image
    except ImportError:
        return None
    pipeline = AutoPipelineForText2Image.from_pretrained(RUNNER_MODEL)
    seed = torch.Generator().manual_seed(task["seed"] % 2**63)
    return pipeline(task["prompt"], num_inference_steps=2, guidance_scale=0.0, generator=seed).images[0].resize(size)


def drawn(task, size):
    """A sky, a sun and hills in colors that depend on the prompt and the seed."""
    dice = hashlib.sha256(f"{task['seed']} {task['prompt']}".encode()).digest()
    width, height = size
    image = Image.new("RGB", size)
    draw = ImageDraw.Draw(image)
    top, bottom = dice[0:3], [160 + value % 96 for value in dice[3:6]]
    for y in range(height):
        share = y / height
        draw.line([(0, y), (width, y)], fill=tuple(int(a + (b - a) * share) for a, b in zip(top, bottom)))
    x, y, radius = width * dice[6] // 255, height * (60 + dice[7] % 60) // 255, height // 10
    draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=(255, 240, 200))
    for hill in range(3):
        base, shade = height * (5 + hill) // 8, 110 - 35 * hill
        middle, half = width * dice[8 + hill] // 255, width * (6 + dice[12 + hill] % 5) // 10
        draw.ellipse([middle - half, base, middle + half, base + height], fill=(shade // 2, shade, shade // 2))
    return image


def main():
    task = json.load(sys.stdin)
    size = (task["width"], task["height"])
    first = task["inputs"]["first_frame"]
    # A shot that continues another begins on its last frame.
    still = Image.open(first).convert("RGB") if first else diffused(task, size) or drawn(task, size)
    still = still.resize(size)
    frames = max(1, min(task["frames"], round(task["seconds"] * FRAMES_PER_SECOND)))
    for number in range(frames):
        zoom = 1.0 if task["camera_fixed"] else 1.0 + 0.12 * number / frames
        left, top = size[0] * (1 - 1 / zoom) / 2, size[1] * (1 - 1 / zoom) / 2
        box = (left, top, size[0] - left, size[1] - top)
        frame = still.resize(size, Image.Resampling.BICUBIC, box=box)
        frame.save(Path(task["frames_dir"]) / f"{number:05}.png")
        print(f"progress {100 * (number + 1) // frames}", flush=True)


if __name__ == "__main__":
    main()
