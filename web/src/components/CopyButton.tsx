/** Copies a text, and says whether it did. */
import { useState } from "preact/hooks";
import { announce } from "../state/store";
import { Icon } from "./Icon";

/** Whether a text was copied just now, and what copies one. */
export function useCopy(): [boolean, (text: string) => Promise<void>] {
  const [copied, setCopied] = useState(false);
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce("Copied");
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      announce("The browser does not allow copying: select the text and copy it");
    }
  };
  return [copied, copy];
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopy();
  return (
    <button type="button" class="button" onClick={() => void copy(text)} {...(copied ? {} : { "aria-label": label })} title={label}>
      <Icon name={copied ? "check" : "copy"} /> {copied ? "Copied" : "Copy"}
    </button>
  );
}
