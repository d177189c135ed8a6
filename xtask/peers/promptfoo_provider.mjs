// A provider of promptfoo: submit, poll every second, download.
import { existsSync, renameSync, writeFileSync } from "node:fs";

const base = process.env.PEER_BASE_URL;
const headers = { Authorization: `Bearer ${process.env.PEER_API_KEY}`, "Content-Type": "application/json" };

async function call(path, body) {
  const response = await fetch(new URL(path, base), { method: body ? "POST" : "GET", headers, body });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

export default class {
  id() {
    return "video";
  }

  async callApi(prompt, context) {
    const { number } = context.vars;
    const file = `${process.env.PEER_OUT}/${number}.mp4`;
    if (existsSync(file)) return { output: file };
    const body = { model: "modela-video-2-0-260128", prompt, seconds: "4", resolution: "480p", ratio: "16:9" };
    let task = await (await call("/v1/videos", JSON.stringify(body))).json();
    while (task.status !== "completed") {
      if (task.status === "failed") return { error: "failed" };
      await new Promise((resolve) => setTimeout(resolve, 1000));
      task = await (await call(`/v1/videos/${task.id}`)).json();
    }
    writeFileSync(`${file}.part`, Buffer.from(await (await call(task.metadata.url)).arrayBuffer()));
    renameSync(`${file}.part`, file);
    return { output: file };
  }
}
