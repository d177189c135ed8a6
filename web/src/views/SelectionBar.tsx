/** The selected clips, and what can be done with them. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../components/Icon";
import { Poster } from "../components/Poster";
import { go, nameOf, route, select, selectedClips, toggleSelected } from "../state/store";

export function SelectionBar() {
  const clips = selectedClips.value;
  const bar = useRef<HTMLElement>(null);
  const isShown = clips.length > 0 && route.value.view !== "compare";
  // What sticks to the bottom as well stands above the bar.
  useLayoutEffect(() => {
    if (bar.current === null) return;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(([entry]) => style.setProperty("--selection-height", `${entry?.borderBoxSize[0]?.blockSize ?? 0}px`));
    observer.observe(bar.current);
    return () => {
      observer.disconnect();
      style.removeProperty("--selection-height");
    };
  }, [isShown]);
  if (!isShown) return null;
  return (
    <section ref={bar} class="selection" aria-label="Selection">
      <ul class="selection-list">
        {clips.map((clip) => (
          <li key={clip.id}>
            <button type="button" class="chip" onClick={() => toggleSelected(clip.id)} aria-label={`Remove ${nameOf(clip)} from the selection`}>
              <span class="chip-frame"><Poster clip={clip} eager /></span>
              <span class="chip-text" dir="auto">{nameOf(clip)}</span>
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <div class="selection-tools">
        <button type="button" class="button" onClick={() => select([])}>Clear</button>
        <button type="button" class="button primary" disabled={clips.length < 2} onClick={() => go({ view: "compare", clip: null })}>
          Compare {Math.min(clips.length, 4)}
        </button>
      </div>
    </section>
  );
}
