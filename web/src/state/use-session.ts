/** A session of clips that play in step, for as long as a view is shown. */
import { useEffect, useMemo } from "preact/hooks";
import { SyncSession } from "./sync-session";

export function useSession(): SyncSession {
  const session = useMemo(() => new SyncSession(), []);
  useEffect(() => () => session.dispose(), [session]);
  return session;
}
