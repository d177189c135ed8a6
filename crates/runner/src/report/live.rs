//! Live lines on a terminal: one for each shot that is out, as many as fit, and one for the whole.

use std::collections::HashMap;
use std::time::Duration;

use engine::state::{Event, Outcome, Phase};
use engine::{Millis, Reporter, RunState};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use workflow::plan::NodeIx;

use super::story;

/// Live lines at most, whatever the terminal's height; the rest is counted in the last line.
const MOST_LINES: usize = 12;

pub(super) struct Live {
    screen: MultiProgress,
    total: ProgressBar,
    shots: HashMap<NodeIx, ProgressBar>,
}

impl Live {
    pub(super) fn new() -> Self {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(12));
        let total = screen.add(ProgressBar::new(0));
        total.set_style(style("{spinner} {prefix}  {msg}  {elapsed}"));
        total.enable_steady_tick(Duration::from_millis(120));
        Self { screen, total, shots: HashMap::new() }
    }

    fn show(&mut self, state: &RunState, node: NodeIx) {
        let known = state.node(node);
        let doing = match &known.phase {
            Phase::Preparing | Phase::Submitting { .. } => "submitting",
            Phase::Out { .. } if known.progress.is_none_or(|percent| percent == 0) => "queued",
            Phase::Out { .. } => "in progress",
            Phase::Finished(_) | Phase::Downloading(_) => "downloading",
            Phase::Elsewhere => "waiting for another run",
            Phase::Waiting | Phase::Looking | Phase::Ready { .. } | Phase::Over(_) => {
                if let Some(bar) = self.shots.remove(&node) {
                    bar.finish_and_clear();
                    self.screen.remove(&bar);
                }
                return;
            }
        };
        if !self.shots.contains_key(&node) && self.shots.len() < MOST_LINES {
            let bar = self.screen.insert_before(&self.total, ProgressBar::new(100));
            bar.set_style(style("  {prefix:24!} {bar:30} {pos:>3} %  {msg}  {elapsed}"));
            bar.set_prefix(state.plan().node(node).name.clone());
            bar.enable_steady_tick(Duration::from_millis(250));
            self.shots.insert(node, bar);
        }
        if let Some(bar) = self.shots.get(&node) {
            bar.set_position(u64::from(known.progress.unwrap_or(0)));
            bar.set_message(known.trouble.clone().unwrap_or_else(|| doing.to_owned()));
        }
    }
}

impl Reporter for Live {
    fn on(&mut self, state: &RunState, event: &Event, now: Millis) {
        if let Some(line) = story::line(state, event, now) {
            // A terminal that went away is no reason to stop.
            let _ = self.screen.println(line);
        }
        for (node, _) in state.plan().nodes() {
            self.show(state, node);
        }
        let done =
            state.nodes().iter().filter(|node| matches!(node.outcome(), Some(Outcome::Done { .. }))).count();
        self.total.set_prefix(format!("{done}/{} shots", state.nodes().len()));
        self.total.set_message(match state.in_flight() {
            0 => String::new(),
            out => format!("{out} out"),
        });
        if state.is_over() {
            self.total.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸─")
}
