// Builds the page: bundles the script and the styles, inlines both and states their hashes in the content security policy.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "vite";

const MAX_COMPRESSED = 150_000;
const PLACEHOLDER = '{"__VIEWER_DATA__":0}';
const folder = fileURLToPath(new URL(".", import.meta.url));
const page = process.env.PAGE ?? fileURLToPath(new URL("../crates/viewer/assets/viewer.html", import.meta.url));

const result = await build({
  root: folder,
  configFile: false,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    write: false,
    modulePreload: false,
    target: ["chrome111", "firefox115", "safari16.4"],
    cssCodeSplit: false,
    cssMinify: true,
    rollupOptions: { input: `${folder}src/main.tsx`, output: { format: "iife", codeSplitting: false } },
  },
});
const { output } = Array.isArray(result) ? result[0] : result;
const text = (suffix) => {
  const files = output.filter((file) => file.fileName.endsWith(suffix));
  if (files.length !== 1) throw new Error(`${files.length} files end with ${suffix}, expected one`);
  return String(files[0].code ?? files[0].source).trim();
};
const script = text(".js");
const style = text(".css");
for (const part of ["</script", "<!--", "</style", PLACEHOLDER]) {
  if (script.includes(part) || style.includes(part)) throw new Error(`the bundle contains ${part}`);
}

const hash = (content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

let html = await readFile(`${folder}index.html`, "utf8");
for (const [mark, content] of [["%CSP%", policy], ["%STYLE%", style], ["%SCRIPT%", script]]) {
  html = html.replace(mark, () => content);
}
if (html.split(PLACEHOLDER).length !== 2) throw new Error("the placeholder of the data must occur exactly once");
const compressed = brotliCompressSync(html).length;
if (compressed > MAX_COMPRESSED) throw new Error(`${compressed} bytes compressed, more than ${MAX_COMPRESSED}`);
await writeFile(page, html);
console.log(`${Buffer.byteLength(html)} bytes, ${compressed} compressed`);
