/** A clip that plays in step with others. Silent unless the session makes it audible. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Clip } from "../data/types";
import { mediaUrl } from "../logic/media-url";
import type { SyncSession } from "../state/sync-session";
import { playFile } from "../state/video";
import { Tile } from "./Tile";

interface Props {
  clip: Clip;
  session: SyncSession;
  /** The small version with dense key frames, where there is one. */
  useProxy?: boolean;
}

export function SyncVideo({ clip, session, useProxy = false }: Props) {
  const ref = useRef<HTMLVideoElement>(null);
  const [broken, setBroken] = useState(false);
  const source = (useProxy ? mediaUrl(clip.proxy) : null) ?? mediaUrl(clip.file);
  useEffect(() => {
    const video = ref.current;
    setBroken(false);
    if (video === null || source === null) return;
    const free = playFile(video, source, clip.bytes);
    const detach = session.attach(clip, video);
    return () => {
      detach();
      free();
    };
  }, [clip, session, source]);
  if (source === null || broken) return <Tile clip={clip} broken={broken && "clip"} />;
  const poster = mediaUrl(clip.poster);
  return (
    <video
      ref={ref}
      class="fill"
      muted
      playsInline
      preload="auto"
      tabIndex={-1}
      aria-hidden="true"
      {...(poster === null ? {} : { poster })}
      onError={() => setBroken(true)}
    />
  );
}
