//! Metrics in the Prometheus text format.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::api_error::ApiErrorKind;

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    accepted: AtomicU64,
    completed: AtomicU64,
    failed: AtomicU64,
    frames: AtomicU64,
    rejections: [AtomicU64; REJECTIONS.len()],
}

const REJECTIONS: [(ApiErrorKind, &str); 10] = [
    (ApiErrorKind::Invalid, "invalid"),
    (ApiErrorKind::Unauthenticated, "unauthenticated"),
    (ApiErrorKind::NotFound, "not_found"),
    (ApiErrorKind::Conflict, "conflict"),
    (ApiErrorKind::MethodNotAllowed, "method_not_allowed"),
    (ApiErrorKind::Gone, "gone"),
    (ApiErrorKind::TooLarge, "too_large"),
    (ApiErrorKind::Limited, "limited"),
    (ApiErrorKind::Unavailable, "unavailable"),
    (ApiErrorKind::Internal, "internal"),
];

/// Current values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    pub(crate) unfinished: usize,
    pub(crate) waiting: usize,
    pub(crate) workers: usize,
    /// Whether tasks can be stored.
    pub(crate) is_storage_available: bool,
}

impl Metrics {
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

    pub(crate) fn rejected(&self, kind: ApiErrorKind) {
        if let Some(index) = REJECTIONS.iter().position(|(rejection, _)| *rejection == kind) {
            self.rejections[index].fetch_add(1, Ordering::Relaxed);
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
        let rejections: Vec<(String, u64)> = REJECTIONS
            .iter()
            .zip(&self.rejections)
            .map(|((_, name), count)| (format!(r#"{{kind="{name}"}}"#), read(count)))
            .collect();
        family("video_requests_rejected_total", "counter", "Requests rejected.", &rejections);
        family(
            "video_tasks_unfinished",
            "gauge",
            "Tasks accepted and not ended.",
            &plain(gauges.unfinished as u64),
        );
        family("video_tasks_waiting", "gauge", "Tasks waiting for a worker.", &plain(gauges.waiting as u64));
        family(
            "video_storage_available",
            "gauge",
            "Whether tasks can be stored: 1 or 0.",
            &plain(u64::from(gauges.is_storage_available)),
        );
        family("video_workers", "gauge", "Tasks rendered at once.", &plain(gauges.workers as u64));
        text
    }
}
