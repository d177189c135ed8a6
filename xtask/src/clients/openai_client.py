"""Drives the video service with openai-python. The environment has BASE_URL, API_KEY and IMAGE (a PNG file)."""

import os
import warnings

import openai

warnings.simplefilter("ignore", DeprecationWarning)
client = openai.OpenAI(base_url=os.environ["BASE_URL"] + "v1", api_key=os.environ["API_KEY"], max_retries=0)
A, B = "modela-video-2-0-260128", "modelb-video-480p"


def finish(video):
    assert video.object == "video" and video.status == "queued" and video.progress == 0, video
    assert isinstance(video.created_at, int) and video.model in (A, B), video
    assert client.videos.retrieve(video.id).id == video.id
    done = client.videos.poll(video.id, poll_interval_ms=20)
    assert done.status == "completed" and done.progress == 100 and done.error is None, done
    assert isinstance(done.completed_at, int) and isinstance(done.expires_at, int), done
    bytes = client.videos.download_content(video.id).read()
    assert bytes[4:8] == b"ftyp", bytes[:20]
    assert client.videos.download_content(video.id, variant="video").read() == bytes
    return done


def refused(kind, code, call):
    try:
        call()
    except kind as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"{code} was not reported")


done = finish(client.videos.create(model=A, prompt="text only", seconds="4", size="1280x720"))
assert (done.seconds, done.size) == ("4", "1280x720"), done
finish(client.videos.create(model=B, prompt="text only", seconds="2"))
extra = {"generate_audio": True, "seed": 7, "ratio": "1:1", "return_last_frame": True, "metadata": {"mood": "calm"}}
done = finish(client.videos.create(model=A, prompt="text and extra fields", extra_body=extra))
assert done.size == "960x960" and done.metadata["last_frame_url"], done
for model in (A, B):
    with open(os.environ["IMAGE"], "rb") as image:
        finish(client.videos.create(model=model, prompt="from an image", input_reference=image, seconds="4"))
    with open(os.environ["IMAGE"], "rb") as image:
        client.videos.create_and_poll(model=model, prompt="from an image", input_reference=("a.png", image, "image/png"))

ids = [model.id for model in client.models.list()]
assert A in ids and B in ids and client.models.retrieve(A).object == "model", ids
refused(openai.BadRequestError, "invalid_duration", lambda: client.videos.create(model=A, prompt="p", seconds="99"))
refused(openai.BadRequestError, "unknown_model", lambda: client.videos.create(model="sora-2", prompt="p"))
refused(openai.BadRequestError, "unsupported_variant", lambda: client.videos.download_content(done.id, variant="thumbnail"))
refused(openai.NotFoundError, "task_not_found", lambda: client.videos.retrieve("task_0"))
refused(openai.AuthenticationError, "invalid_api_key", lambda: client.with_options(api_key="sk-x").videos.retrieve("task_0"))
failed = client.videos.poll(client.videos.create(model=A, prompt="it fails").id, poll_interval_ms=20)
assert failed.status == "failed" and failed.error.code == "render_failed", failed
refused(openai.ConflictError, "task_failed", lambda: client.videos.download_content(failed.id))
print("openai-python " + openai.__version__)
