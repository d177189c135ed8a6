/** The dialog that is open. */
import { dialog } from "./open-dialog";
import { EditDialog } from "./EditDialog";
import { ResolveDialog } from "./ResolveDialog";
import { RunDialog } from "./RunDialog";

export function Dialogs() {
  const open = dialog.value;
  switch (open?.kind) {
    case "run":
      return <RunDialog only={open.only ?? []} rerun={open.rerun ?? []} />;
    case "edit":
      return <EditDialog key={open.shot} shot={open.shot} />;
    case "resolve":
      return <ResolveDialog key={open.attempt} attempt={open.attempt} clip={open.clip} />;
    case undefined:
      return null;
  }
}
