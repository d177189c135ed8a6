/** Values of axes and parameters as text. */
import type { Json } from "../data/types";

/** Text that identifies a value: a string as it is, unless it reads as another JSON value (`"1"` and `1` differ). */
export function valueKey(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

/** A value for people: a mapping by its name, as the runner names instances. */
export function valueLabel(value: Json | undefined): string {
  if (value === undefined) return "–";
  if (typeof value === "string") return value;
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    for (const name of ["name", "id", "label", "title"]) {
      const label = value[name];
      if (typeof label === "string") return label;
    }
    const first = Object.values(value)[0];
    if (typeof first === "string") return first;
  }
  return JSON.stringify(value);
}

/** Whether a value is a text or goes by one: a number says nothing without the name of its axis. */
export function isText(value: Json): boolean {
  return typeof value === "string" || valueLabel(value) !== JSON.stringify(value);
}

/** The leaves of a JSON value by their path, `a.b[0]`. */
export function flatten(value: Json, path = "", into: Map<string, Json> = new Map()): Map<string, Json> {
  if (Array.isArray(value) && value.length > 0) {
    value.forEach((item, index) => flatten(item, `${path}[${index}]`, into));
  } else if (value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0) {
    for (const [name, item] of Object.entries(value)) flatten(item, path === "" ? name : `${path}.${name}`, into);
  } else {
    into.set(path, value);
  }
  return into;
}
