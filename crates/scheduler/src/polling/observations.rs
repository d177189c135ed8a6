//! Observations of one task: what its polls have reported.

use std::time::Duration;

/// Reported status of an unfinished task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedStatus {
    /// Queued.
    Queued,
    /// Rendering.
    InProgress,
    /// Any other status.
    Unknown,
}

impl ReportedStatus {
    /// From the status text, as sent.
    #[must_use]
    pub fn parse(status: &str) -> Self {
        match status {
            "queued" => Self::Queued,
            "in_progress" => Self::InProgress,
            _ => Self::Unknown,
        }
    }
}

/// What polls of one task have reported. Times are since its submission, numbers of them in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TaskObservations {
    /// Time of the last unfinished response; zero before the first.
    running_at: Duration,
    /// Whether an earlier run submitted it: it may have ended long before the first poll of this run.
    is_adopted: bool,
    /// Time of the last response with status queued.
    pub(super) queued_at: Option<f64>,
    /// The interval in which its rendering began.
    pub(super) began: Option<(f64, f64)>,
    /// The first progress since it is rendered, and when it was reported.
    first_progress: Option<(f64, u8)>,
    /// The first and the last estimate by progress.
    pub(super) progress_estimates: [Option<ProgressEstimate>; 2],
}

/// What progress implies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProgressEstimate {
    pub(super) time: f64,
    percent: u8,
    /// Estimated remaining time, if progress is linear.
    pub(super) remains: f64,
}

/// Progress that has advanced by less is uninformative: its relative error is too large.
const MIN_ADVANCE: u8 = 5;

impl TaskObservations {
    /// Of a task that an earlier run submitted.
    #[must_use]
    pub fn adopted() -> Self {
        Self { is_adopted: true, ..Self::default() }
    }

    /// Time from its submission to the last response that reported it as unfinished; zero before the first.
    #[must_use]
    pub fn running_at(&self) -> Duration {
        self.running_at
    }

    /// Whether the time since its submission says nothing about its duration: it was not observed unfinished, and nothing was running that
    /// would have observed its end.
    pub(super) fn is_unobserved(&self) -> bool {
        self.is_adopted && self.running_at.is_zero()
    }

    /// The interval in which its rendering began, if it had to queue; otherwise the total duration is as informative.
    pub(super) fn began_after_queue(&self) -> Option<(f64, f64)> {
        self.began.filter(|_| self.queued_at.is_some())
    }

    /// Whether it is known to be queued.
    #[must_use]
    pub(crate) fn is_queued(&self) -> bool {
        self.queued_at.is_some() && self.began.is_none()
    }

    /// The estimates by progress that can be compared with the end.
    pub(super) fn verifiable_estimates(&self) -> impl Iterator<Item = ProgressEstimate> {
        let [first, last] = self.progress_estimates;
        first.into_iter().chain(last.filter(|last| first.is_some_and(|first| first.percent != last.percent)))
    }

    /// It was reported as unfinished so long after its submission.
    pub fn record(&mut self, elapsed: Duration, status: ReportedStatus, percent: Option<u8>) {
        let time = elapsed.as_secs_f64();
        match status {
            ReportedStatus::Queued => {
                self.queued_at = Some(time);
                self.began = None;
                self.first_progress = None;
            }
            ReportedStatus::InProgress if self.began.is_none() => {
                self.began = Some((self.queued_at.unwrap_or(0.0), time));
            }
            ReportedStatus::InProgress | ReportedStatus::Unknown => {}
        }
        self.record_progress(time, percent.filter(|percent| *percent < 100 && !self.is_queued()));
        self.running_at = elapsed;
    }

    /// When the rendering began is rarely known, so its speed is that between two reports. A number that never changes predicts nothing:
    /// services exist that report 50 % from the beginning to the end.
    fn record_progress(&mut self, time: f64, percent: Option<u8>) {
        let Some(percent) = percent else { return };
        let (since, first) = *self.first_progress.get_or_insert((time, percent));
        // A repeated number is no news: the service may report in large steps.
        let is_new = self.progress_estimates[1].is_none_or(|last| last.percent != percent);
        if percent < first.saturating_add(MIN_ADVANCE) || !is_new {
            return;
        }
        let remains = (time - since) * f64::from(100 - percent) / f64::from(percent - first);
        let estimate = Some(ProgressEstimate { time, percent, remains });
        self.progress_estimates = [self.progress_estimates[0].or(estimate), estimate];
    }
}
