/** Copies a text, and says whether it did. */
import { useState } from "preact/hooks";
import { announce } from "../state/store";
import { Icon } from "./Icon";

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce("Copied");
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      announce("The browser does not allow copying: select the text and copy it");
    }
  };
  return (
    <button type="button" class="button" onClick={() => void copy()} {...(copied ? {} : { "aria-label": label })} title={label}>
      <Icon name={copied ? "check" : "copy"} /> {copied ? "Copied" : "Copy"}
    </button>
  );
}
