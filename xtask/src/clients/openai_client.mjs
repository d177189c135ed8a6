// Drives the video service with openai-node. The environment has BASE_URL, API_KEY and IMAGE (a PNG file).

import assert from "node:assert";
import fs from "node:fs";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL + "v1", apiKey: process.env.API_KEY, maxRetries: 0 });
const [A, B] = ["modela-video-2-0-260128", "modelb-video-480p"];

async function poll(id) {
  for (;;) {
    const video = await client.videos.retrieve(id);
    if (video.status === "completed" || video.status === "failed") return video;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function finish(body) {
  const video = await client.videos.create(body);
  assert.deepEqual([video.object, video.status, video.progress, video.model], ["video", "queued", 0, body.model]);
  const done = await poll(video.id);
  assert.deepEqual([done.status, done.progress, typeof done.completed_at], ["completed", 100, "number"]);
  const response = await client.videos.downloadContent(video.id);
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(bytes.subarray(4, 8).toString(), "ftyp");
  return done;
}

const refused = (kind, code, call) => assert.rejects(call, (error) => error instanceof kind && error.code === code);

const done = await finish({ model: A, prompt: "text only", seconds: "4", size: "1280x720" });
assert.deepEqual([done.seconds, done.size], ["4", "1280x720"]);
await finish({ model: B, prompt: "text only", seconds: "2" });
const metadata = { content: [
  { type: "image_url", role: "first_frame", image_url: { url: "data:image/png;base64," + fs.readFileSync(process.env.IMAGE, "base64") } },
  { type: "image_url", role: "reference_image", image_url: { url: "data:image/png;base64," + fs.readFileSync(process.env.IMAGE, "base64") } },
] };
const extra = await finish({ model: A, prompt: "from an image", generate_audio: true, seed: 7, ratio: "1:1", metadata });
assert.equal(extra.size, "960x960");
for (const model of [A, B]) {
  await finish({ model, prompt: "from an image", seconds: "4", input_reference: fs.createReadStream(process.env.IMAGE) });
}

const ids = [];
for await (const model of client.models.list()) ids.push(model.id);
assert.ok(ids.includes(A) && ids.includes(B));
await refused(OpenAI.BadRequestError, "invalid_duration", () => client.videos.create({ model: A, prompt: "p", seconds: "99" }));
await refused(OpenAI.BadRequestError, "unsupported_variant", () => client.videos.downloadContent(done.id, { variant: "thumbnail" }));
await refused(OpenAI.NotFoundError, "task_not_found", () => client.videos.retrieve("task_0"));
const failed = await poll((await client.videos.create({ model: A, prompt: "it fails" })).id);
assert.deepEqual([failed.status, failed.error.code], ["failed", "render_failed"]);
await refused(OpenAI.ConflictError, "task_failed", () => client.videos.downloadContent(failed.id));
console.log("openai-node " + JSON.parse(fs.readFileSync("node_modules/openai/package.json")).version);
