//! What one task has said so far.

/// The status of a task that is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedStatus {
    /// It waits for its turn.
    Queued,
    /// It is worked on.
    InProgress,
    /// A word that says neither.
    Unknown,
}

impl ReportedStatus {
    /// By the status word, as sent.
    #[must_use]
    pub fn parse(status: &str) -> Self {
        match status {
            "queued" => Self::Queued,
            "in_progress" => Self::InProgress,
            _ => Self::Unknown,
        }
    }
}

/// What was learnt by asking about one task. Times are seconds since its submission.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TaskObservations {
    /// When it was last said not to be finished; 0 before the first answer.
    pub(super) running_at: f64,
    /// When it was last said to be queued.
    pub(super) queued_at: Option<f64>,
    /// Between which times its rendering began.
    pub(super) began: Option<(f64, f64)>,
    /// The first and the last progress that say something.
    pub(super) progress_estimates: [Option<ProgressEstimate>; 2],
}

/// What a task's progress said, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProgressEstimate {
    pub(super) at: f64,
    percent: u8,
    /// What remained, if all percents take the same time.
    pub(super) remains: f64,
}

/// Less progress than this says little: few percents are known to a few percents of themselves.
const MIN_PERCENT: u8 = 5;

impl TaskObservations {
    /// Between which times its rendering began, where it had to wait for that: otherwise the whole says as much.
    pub(super) fn began_after_queue(&self) -> Option<(f64, f64)> {
        self.began.filter(|_| self.queued_at.is_some())
    }

    /// Whether it is known to be waiting for its turn.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.queued_at.is_some() && self.began.is_none()
    }

    /// It was said not to be finished, so many seconds after its submission.
    pub fn record(&mut self, at: f64, queues: ReportedStatus, percent: Option<u8>) {
        match queues {
            ReportedStatus::Queued => {
                self.queued_at = Some(at);
                self.began = None;
            }
            ReportedStatus::InProgress if self.began.is_none() => {
                self.began = Some((self.queued_at.unwrap_or(0.0), at));
            }
            ReportedStatus::InProgress | ReportedStatus::Unknown => {}
        }
        let percent = percent.filter(|percent| (MIN_PERCENT..100).contains(percent));
        if let (Some(percent), false) = (percent, self.is_queued()) {
            let begin = self.began.map_or(0.0, |(from, to)| f64::midpoint(from, to));
            let remains = (at - begin) * f64::from(100 - percent) / f64::from(percent);
            // The same number again is no news: the service may move in large steps.
            if self.progress_estimates[1].is_none_or(|last| last.percent != percent) {
                let estimate = Some(ProgressEstimate { at, percent, remains });
                self.progress_estimates = [self.progress_estimates[0].or(estimate), estimate];
            }
        }
        self.running_at = at;
    }
}
