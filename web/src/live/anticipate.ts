/** What an action will have changed once the server says so: the page shows it at once. */
import { cellKey } from "../data/model";
import type { ViewerData } from "../data/types";
import type { Action } from "./protocol";

export function anticipate(data: ViewerData, action: Action): ViewerData {
  if (action.action === "rate") {
    return { ...data, clips: data.clips.map((clip) => (clip.id === action.clip ? { ...clip, rating: action.rating } : clip)) };
  }
  const picked = action.action === "pick" ? data.clips.find((clip) => clip.id === action.choice) : undefined;
  // A render by its number, or a pick that is removed: what counts then is known to the server.
  if (picked === undefined) return data;
  const isCandidate = (clip: ViewerData["clips"][number]) => clip.shot === picked.shot && (picked.take === null || cellKey(clip) === cellKey(picked));
  return {
    ...data,
    shots: data.shots.map((shot) => (shot.id === picked.shot && (picked.take === null || shot.axes.length === 0) ? { ...shot, pick: picked.id } : shot)),
    clips: data.clips.map((clip) => (isCandidate(clip) ? { ...clip, is_picked: clip.id === picked.id } : clip)),
  };
}
