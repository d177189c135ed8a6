//! A fault profile: which misbehaviour, for which requests, how often.

use serde::Deserialize;

use crate::error::ServiceError;

/// Misbehaviour on purpose. The same profile and the same requests give the same faults, in whatever order the
/// requests come.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultProfile {
    /// Decides, with the request, whether a fault of less than certain chance strikes.
    #[serde(default)]
    pub seed: u64,
    /// The faults; all that apply strike, and where two answer the same call the first does.
    pub faults: Vec<FaultRule>,
}

/// One fault and its conditions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// What goes wrong.
    pub fault: Fault,
    /// Only requests whose prompt contains this.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Only requests for this model.
    #[serde(default)]
    pub model: Option<String>,
    /// How likely, from 0 to 1, decided once a submission.
    #[serde(default = "certain")]
    pub chance: f64,
    /// How often at most: for faults of creation, the first so many submissions of the same model and prompt; for
    /// all others, the first so many calls about the task.
    #[serde(default)]
    pub times: Option<u32>,
}

/// What gateways and services get wrong.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Answers a call with an error and does nothing.
    Answer {
        /// Which call.
        on: Operation,
        /// The HTTP status, 400 to 599.
        status: u16,
        /// What stands in the body.
        #[serde(default)]
        body: AnswerBody,
        /// Seconds in a `Retry-After` header.
        #[serde(default)]
        retry_after: Option<u64>,
    },
    /// Accepts the task and cuts the connection before the answer.
    LoseAnswer {},
    /// Accepts the task and never answers.
    NeverAnswer {},
    /// The new task is not found for a while (give `times`).
    NotFoundAfterCreate {},
    /// Times in seconds instead of milliseconds.
    TimestampsInSeconds {},
    /// A status that the document does not know, until the task has ended.
    UnknownStatus {
        /// The status.
        status: String,
    },
    /// The progress stands still, and the task never ends as far as anyone can see.
    StuckAt {
        /// The percentage.
        percent: u8,
    },
    /// Completed, without a URL.
    CompletedWithoutUrl {},
    /// Completed, with an error beside the URL.
    CompletedWithError {},
    /// A URL that leads nowhere.
    DeadUrl {},
    /// A URL that is answered with 410.
    ExpiredUrl {},
    /// The connection breaks in the middle of a file.
    CutBody {
        /// Bytes that still come.
        after: u64,
    },
    /// A file trickles.
    SlowBody {
        /// How fast.
        bytes_per_second: u64,
    },
    /// Moderation takes offence.
    Moderation {
        /// At what.
        of: Moderated,
    },
}

/// The calls that can be answered with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `POST /v1/videos`.
    Create,
    /// `GET /v1/videos/{task_id}`.
    Poll,
    /// `GET /v1/videos/{task_id}/content`.
    Content,
    /// The URL in `metadata.url`, or that of the last frame.
    File,
}

/// What stands in the body of an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBody {
    /// The error body of the document.
    #[default]
    Json,
    /// A gateway's page.
    Html,
    /// Nothing.
    Empty,
}

/// What moderation looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moderated {
    /// The prompt: the request is refused.
    Prompt,
    /// An asset: the task fails.
    Input,
    /// The video: the task fails.
    Output,
}

fn certain() -> f64 {
    1.0
}

impl FaultProfile {
    /// Reads a profile from JSON.
    ///
    /// # Errors
    /// [`ServiceError::Faults`] with the place of what is wrong.
    pub fn from_json(text: &str) -> Result<Self, ServiceError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let profile: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            ServiceError::Faults { place: error.path().to_string(), reason: error.into_inner().to_string() }
        })?;
        profile.check()?;
        Ok(profile)
    }

    /// A profile with one fault that always strikes, for tests.
    #[must_use]
    pub fn always(fault: Fault) -> Self {
        let rule = FaultRule { fault, prompt: None, model: None, chance: 1.0, times: None };
        Self { seed: 0, faults: vec![rule] }
    }

    pub(super) fn check(&self) -> Result<(), ServiceError> {
        let wrong = |place: usize, member: &str, reason: &str| ServiceError::Faults {
            place: format!("faults[{place}].{member}"),
            reason: reason.to_owned(),
        };
        for (place, rule) in self.faults.iter().enumerate() {
            if !(0.0..=1.0).contains(&rule.chance) {
                return Err(wrong(place, "chance", "a chance is from 0 to 1"));
            }
            match &rule.fault {
                Fault::Answer { status, .. } if !(400..=599).contains(status) => {
                    return Err(wrong(place, "fault.status", "the status of an error is from 400 to 599"));
                }
                Fault::StuckAt { percent } if *percent > 99 => {
                    return Err(wrong(place, "fault.percent", "a task is stuck at 0 to 99 percent"));
                }
                Fault::SlowBody { bytes_per_second: 0 } => {
                    return Err(wrong(place, "fault.bytes_per_second", "at least 1 byte a second"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_says_where_it_is_wrong() {
        let place = |text: &str| FaultProfile::from_json(text).unwrap_err().to_string();
        insta::assert_snapshot!(place(r#"{"faults": [{"fault": {"kind": "lose_anser"}}]}"#));
        insta::assert_snapshot!(place(r#"{"faults": [{"fault": {"kind": "lose_answer"}, "chance": 2}]}"#));
        insta::assert_snapshot!(place(
            r#"{"faults": [{"fault": {"kind": "answer", "on": "poll", "status": 200}}]}"#
        ));
        insta::assert_snapshot!(place(
            r#"{"faults": [{"fault": {"kind": "stuck_at", "percent": 30, "x": 1}}]}"#
        ));
        insta::assert_snapshot!(place(r#"{"faults": [], "sed": 1}"#));
    }

    #[test]
    fn a_profile_in_full() {
        let profile = FaultProfile::from_json(
            r#"{"seed": 7, "faults": [
                {"fault": {"kind": "answer", "on": "create", "status": 429, "retry_after": 2}, "times": 1},
                {"fault": {"kind": "answer", "on": "poll", "status": 502, "body": "html"}, "chance": 0.25},
                {"fault": {"kind": "moderation", "of": "output"}, "prompt": "storm"}
            ]}"#,
        )
        .unwrap();
        assert_eq!(profile.faults.len(), 3);
        assert_eq!(profile.faults[2].fault, Fault::Moderation { of: Moderated::Output });
        assert_eq!(profile.faults[0].times, Some(1));
    }
}
