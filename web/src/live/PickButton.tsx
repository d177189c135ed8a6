/** Picks a clip, or removes the pick; without a server it copies the command that does. */
import type { Clip } from "../data/types";
import { useCopy } from "../components/CopyButton";
import { Icon } from "../components/Icon";
import { runnerCommand } from "../logic/command";
import { model, nameOf } from "../state/store";
import { isLive } from "./server";
import { usePerform } from "./use-perform";

export function PickButton({ clip, small = false }: { clip: Clip; small?: boolean }) {
  const performing = usePerform();
  const [copied, copy] = useCopy();
  const siblings = model.value.clipsOfShot.get(clip.shot) ?? [];
  if (siblings.length < 2) return null;
  const command = runnerCommand(model.value.data.workflow.arguments, ["pick", clip.shot, ...(clip.is_picked ? ["--clear"] : [clip.id])]);
  if (!isLive.value && command === null) return null;
  const text = copied ? "Copied" : !clip.is_picked ? "Pick" : small ? "Unpick" : "Remove the pick";
  const act = () => {
    if (isLive.value) performing.start({ action: "pick", shot: clip.shot, choice: clip.is_picked ? null : clip.id });
    else if (command !== null) void copy(command);
  };
  return (
    <button
      type="button"
      class={`button${small ? " small-text" : ""}${clip.is_picked || small ? "" : " primary"}`}
      disabled={performing.busy || (!clip.is_picked && clip.file === null)}
      aria-label={`${text}${isLive.value || copied ? "" : ", copies the command"}${small ? `: ${nameOf(clip)}` : ""}`}
      {...(isLive.value ? {} : { title: command ?? "" })}
      onClick={act}
    >
      <Icon name={copied || !clip.is_picked ? "check" : "close"} /> {text}
    </button>
  );
}
