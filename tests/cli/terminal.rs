//! What a terminal of 40 and 80 columns shows while shots are rendered, and after the end.

use crate::support::Project;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::pseudo_terminal::{Screen, Terminal};
use crate::support::transcript::REDACTIONS;

const LIGHTHOUSE: &str = "version: 1
name: lighthouse
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: the-keeper-climbs-the-spiral-stair, prompt: the keeper climbs}
  - {id: storm, prompt: a storm, needs: [the-keeper-climbs-the-spiral-stair]}
  - {id: lamp, prompt: the lamp turns, needs: [the-keeper-climbs-the-spiral-stair]}
";

const FAULTS: &str = r#"{"faults": [
  {"fault": {"kind": "moderation", "of": "output"}, "prompt": "storm"},
  {"fault": {"kind": "stuck_at", "percent": 0}, "prompt": "lamp"}
]}"#;

/// The screen with redactions for what differs between runs; the width of a time changes what follows it in its row.
macro_rules! screen_snapshot {
    ($name:expr, $screen:expr) => {
        let mut filters = REDACTIONS.to_vec();
        filters.extend([
            (r"…[^ \n]*\.mp4", "…[END].mp4"),
            (r"\b\d\.\d( +out/)", "[S]$1"),
            (r"\b\d+(\.\d)? s\b", "[DURATION]"),
            (r", about \[DURATION\] left", ""),
            (r" %  \[DURATION\](, slow)? +", " %  [DURATION]  "),
        ]);
        insta::with_settings!({ filters => filters, omit_expression => true }, {
            insta::assert_snapshot!($name, $screen.text);
        });
    };
}

fn is_within(screen: &Screen, columns: u16) -> bool {
    screen.text.lines().all(|row| row.chars().count() <= usize::from(columns))
}

fn run_on_terminal(columns: u16) {
    let proxy = RecordingProxy::with_faults(FAULTS);
    let project = Project::new("lighthouse.yaml", LIGHTHOUSE).against(&proxy.url, KEY);
    let command = project.command(&["run", "lighthouse.yaml", "--jobs", "1", "--notify"]);
    let terminal = Terminal::start(command, columns);
    terminal.wait_for("storm: failed");
    let meanwhile = terminal.wait_for("0 %");
    assert!(is_within(&meanwhile, columns));
    screen_snapshot!(format!("terminal_{columns}_meanwhile"), meanwhile);
    terminal.interrupt();
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(130), "{}", screen.text);
    screen_snapshot!(format!("terminal_{columns}_interrupted"), screen);
    assert_eq!((screen.bells, screen.unknown), (1, 0), "{screen:?}");
    assert_eq!(screen.notifications, ["runner: lighthouse has ended with exit code 130"]);
    let [video] = screen.links.as_slice() else { panic!("one finished video: {:?}", screen.links) };
    let video = url::Url::parse(video).ok().and_then(|address| address.to_file_path().ok());
    assert!(video.is_some_and(|path| path.is_file()), "{:?}", screen.links);
}

#[test]
fn run_is_legible_at_40_columns() {
    run_on_terminal(40);
}

#[test]
fn run_is_legible_at_80_columns() {
    run_on_terminal(80);
}
