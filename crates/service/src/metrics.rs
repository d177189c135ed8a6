//! Counters for operators, in the Prometheus text format.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::refusal::RefusalKind;

/// What has happened since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    accepted: AtomicU64,
    completed: AtomicU64,
    failed: AtomicU64,
    frames: AtomicU64,
    refusals: [AtomicU64; 8],
}

const REFUSALS: [(RefusalKind, &str); 8] = [
    (RefusalKind::Invalid, "invalid"),
    (RefusalKind::Unauthenticated, "unauthenticated"),
    (RefusalKind::NotFound, "not_found"),
    (RefusalKind::MethodNotAllowed, "method_not_allowed"),
    (RefusalKind::Gone, "gone"),
    (RefusalKind::TooLarge, "too_large"),
    (RefusalKind::Limited, "limited"),
    (RefusalKind::Internal, "internal"),
];

/// How things stand at the moment of asking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    pub(crate) unfinished: usize,
    pub(crate) waiting: usize,
    pub(crate) workers: usize,
}

/// What has happened since the start, summed up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) accepted: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) frames: u64,
    pub(crate) refused: u64,
}

impl Metrics {
    pub(crate) fn totals(&self) -> Totals {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Totals {
            accepted: read(&self.accepted),
            completed: read(&self.completed),
            failed: read(&self.failed),
            frames: read(&self.frames),
            refused: self.refusals.iter().map(read).sum(),
        }
    }

    pub(crate) fn accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn completed(&self) {
        self.completed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn frames(&self, rendered: u32) {
        self.frames.fetch_add(u64::from(rendered), Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, kind: RefusalKind) {
        if let Some(place) = REFUSALS.iter().position(|(known, _)| *known == kind) {
            self.refusals[place].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, u64)]| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in samples {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let plain = |value: u64| vec![(String::new(), value)];
        family("video_tasks_accepted_total", "counter", "Tasks accepted.", &plain(read(&self.accepted)));
        let ended = [
            (r#"{status="completed"}"#.to_owned(), read(&self.completed)),
            (r#"{status="failed"}"#.to_owned(), read(&self.failed)),
        ];
        family("video_tasks_ended_total", "counter", "Tasks that have ended.", &ended);
        family("video_frames_rendered_total", "counter", "Frames rendered.", &plain(read(&self.frames)));
        let refusals: Vec<(String, u64)> = REFUSALS
            .iter()
            .zip(&self.refusals)
            .map(|((_, name), count)| (format!(r#"{{kind="{name}"}}"#), read(count)))
            .collect();
        family("video_requests_refused_total", "counter", "Requests refused.", &refusals);
        family(
            "video_tasks_unfinished",
            "gauge",
            "Tasks accepted and not ended.",
            &plain(gauges.unfinished as u64),
        );
        family("video_tasks_waiting", "gauge", "Tasks waiting for a worker.", &plain(gauges.waiting as u64));
        family("video_workers", "gauge", "Tasks rendered at once.", &plain(gauges.workers as u64));
        text
    }
}
