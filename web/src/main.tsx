import "./styles/base.css";
import "./styles/controls.css";
import "./styles/wall.css";
import "./styles/players.css";
import "./styles/story.css";
import "./styles/details.css";
import "./styles/graph.css";
import "./styles/live.css";
import { render } from "preact";
import { readData } from "./data/read";
import { connect, hasServer } from "./live/server";
import { listenToKeys } from "./state/keys";
import { applyTheme } from "./state/preferences";
import { openData, updateData } from "./state/store";
import { repaintAfterSeeks } from "./state/video";
import { App } from "./views/App";

const root = document.getElementById("app");
const result = readData(document.getElementById("data")?.textContent ?? "");
if (root !== null) {
  applyTheme();
  root.textContent = "";
  if ("data" in result) {
    openData(result.data);
    // Before anything else is asked for: a browser has six connections to a server.
    if (hasServer()) connect(updateData);
    listenToKeys();
    repaintAfterSeeks();
    render(<App />, root);
  } else {
    render(<main class="problem"><h1>Nothing to show</h1><p>{result.problem}</p></main>, root);
  }
}
