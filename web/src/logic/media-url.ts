/** The address of a file beside the page, percent-encoded by segment; `null` for a path that leaves the folder. */
export function mediaUrl(path: string | null): string | null {
  if (path === null || path === "") return null;
  const segments = path.split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) return null;
  try {
    return segments.map(encodeURIComponent).join("/");
  } catch {
    // A lone surrogate cannot be encoded; no file name that the runner writes has one.
    return null;
  }
}
