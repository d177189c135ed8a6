/** The frame of the page: head with the views, the view, the selection and the details. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { VIEWS, type View } from "../logic/route";
import { Dialogs } from "../live/Dialogs";
import { openDialog } from "../live/open-dialog";
import { JobStrip } from "../live/JobStrip";
import { useRatingKeys } from "../live/Rating";
import { isLive } from "../live/server";
import { useKeys } from "../state/keys";
import { allPaused, announcement, go, route } from "../state/store";
import { Compare } from "./Compare";
import { Details } from "./Details";
import { Graph } from "./Graph";
import { Grid } from "./Grid";
import { Header, VIEW_KEYS, VIEW_LABELS } from "./Header";
import { Help, openHelp } from "./Help";
import { SelectionBar } from "./SelectionBar";
import { Story } from "./Story";
import { Wall } from "./Wall";

const PAGES: Record<View, () => preact.JSX.Element> = { wall: Wall, grid: Grid, compare: Compare, story: Story, graph: Graph };

export function App() {
  const { view, clip } = route.value;
  const main = useRef<HTMLElement>(null);
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  useKeys("Everywhere", [
    ...VIEWS.map((each) => ({ keys: [VIEW_KEYS[each]], label: VIEW_LABELS[each], run: () => go({ view: each, clip: null }) })),
    { keys: ["?"], label: "List of keys", run: openHelp },
    ...(isLive.value ? [{ keys: ["r"], label: "Render what is missing", run: () => openDialog({ kind: "run" }) }] : []),
    { keys: ["P"], label: "Pause everything that moves", run: () => (allPaused.value = !allPaused.value) },
  ]);
  useRatingKeys();
  // Focus returns to what had it before the details opened.
  useLayoutEffect(() => {
    const remember = (event: FocusEvent) => {
      if (event.target instanceof HTMLElement && event.target.closest(".details, dialog") === null) opener.current = event.target;
    };
    addEventListener("focusin", remember);
    return () => removeEventListener("focusin", remember);
  }, []);
  useLayoutEffect(() => {
    if (clip === null && wasOpen.current && opener.current?.isConnected) opener.current.focus({ preventScroll: true });
    wasOpen.current = clip !== null;
  }, [clip]);
  // Another view begins at its top.
  const shown = useRef(view);
  useEffect(() => {
    if (shown.current !== view) scrollTo(0, 0);
    shown.current = view;
  }, [view]);
  const Page = PAGES[view];
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the clips</a>
      <Header />
      <JobStrip />
      <div class={`frame${clip === null ? "" : " with-details"}`}>
        <main ref={main} id="main" tabIndex={-1} class={`view view-${view}`} aria-label={VIEW_LABELS[view]}>
          <Page key={view} />
        </main>
        {clip !== null && <Details id={clip} />}
      </div>
      <SelectionBar />
      <Help />
      <Dialogs />
      <div class="hidden" role="status">{announcement.value}</div>
    </>
  );
}
