//! Fault profiles: which faults, for which requests, how often.

use serde::Deserialize;

use crate::error::ServiceError;

/// A fault profile. Deterministic: the same requests get the same faults, in any order of arrival.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultProfile {
    /// Seeds the random choice of faults with a `chance` below 1.
    #[serde(default)]
    pub seed: u64,
    /// The rules. All that match apply; of several that respond to the same call, the first.
    pub faults: Vec<FaultRule>,
}

/// One fault and its conditions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    pub fault: Fault,
    /// Applies to prompts that contain this text only.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Applies to this model only.
    #[serde(default)]
    pub model: Option<String>,
    /// Probability from 0 to 1, drawn once per submission.
    #[serde(default = "certain")]
    pub chance: f64,
    /// Applies to the first N matches: submissions of the same model and prompt for faults of creation, requests about the task for all
    /// others.
    #[serde(default)]
    pub times: Option<u32>,
}

/// A fault of a gateway or a service.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Responds to a call with an error, without any effect.
    ErrorResponse {
        /// The call.
        on: Operation,
        /// The HTTP status, 400 to 599.
        status: u16,
        /// The form of the body.
        #[serde(default)]
        body: ErrorBodyFormat,
        /// `Retry-After` in seconds.
        #[serde(default)]
        retry_after: Option<u64>,
    },
    /// Accepts the task and cuts the connection before the response.
    LoseResponse {},
    /// Accepts the task and never responds.
    NeverRespond {},
    /// Polls for a new task get 404 (set `times`).
    NotFoundAfterCreate {},
    /// Timestamps in seconds instead of milliseconds.
    TimestampsInSeconds {},
    /// An undocumented status until the task ends.
    UnknownStatus {
        status: String,
    },
    /// Progress stops at a percentage; the task never appears to end.
    StuckAt {
        percent: u8,
    },
    CompletedWithoutUrl {},
    /// Completed, with an error beside the URL.
    CompletedWithError {},
    /// `metadata.url` returns 404.
    DeadUrl {},
    /// `metadata.url` returns 410.
    ExpiredUrl {},
    /// The connection is cut in the middle of a file.
    CutBody {
        /// Bytes sent before the cut.
        after: u64,
    },
    /// A file is sent slowly.
    SlowBody {
        bytes_per_second: u64,
    },
    Moderation {
        /// What is rejected.
        of: ModerationStage,
    },
}

/// The operations that a fault can affect.
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

/// The body of an injected error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorBodyFormat {
    /// The error body of the spec.
    #[default]
    Json,
    /// An HTML page as gateways send it.
    Html,
    Empty,
}

/// The part that moderation rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModerationStage {
    /// The prompt: the request is rejected.
    Prompt,
    /// A media input: the task fails.
    Input,
    /// The video: the task fails.
    Output,
}

fn certain() -> f64 {
    1.0
}

impl FaultProfile {
    /// Parses a profile from JSON.
    ///
    /// # Errors
    /// [`ServiceError::Faults`] with the location of the first problem.
    pub fn from_json(text: &str) -> Result<Self, ServiceError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let profile: Self =
            serde_path_to_error::deserialize(&mut reader).map_err(|error| ServiceError::Faults {
                location: error.path().to_string(),
                reason: error.into_inner().to_string(),
            })?;
        profile.check()?;
        Ok(profile)
    }

    pub(super) fn check(&self) -> Result<(), ServiceError> {
        let wrong = |index: usize, member: &str, reason: &str| ServiceError::Faults {
            location: format!("faults[{index}].{member}"),
            reason: reason.to_owned(),
        };
        for (index, rule) in self.faults.iter().enumerate() {
            if !(0.0..=1.0).contains(&rule.chance) {
                return Err(wrong(index, "chance", "chance must be from 0 to 1"));
            }
            match &rule.fault {
                Fault::ErrorResponse { status, .. } if !(400..=599).contains(status) => {
                    return Err(wrong(
                        index,
                        "fault.status",
                        "the status of an error must be from 400 to 599",
                    ));
                }
                Fault::StuckAt { percent } if *percent > 99 => {
                    return Err(wrong(index, "fault.percent", "percent must be from 0 to 99"));
                }
                Fault::SlowBody { bytes_per_second: 0 } => {
                    return Err(wrong(index, "fault.bytes_per_second", "must be at least 1"));
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
    fn invalid_profile_error_names_location() {
        let error = |text: &str| FaultProfile::from_json(text).unwrap_err().to_string();
        insta::assert_snapshot!(error(r#"{"faults": [{"fault": {"kind": "lose_anser"}}]}"#));
        insta::assert_snapshot!(error(r#"{"faults": [{"fault": {"kind": "lose_response"}, "chance": 2}]}"#));
        insta::assert_snapshot!(error(
            r#"{"faults": [{"fault": {"kind": "error_response", "on": "poll", "status": 200}}]}"#
        ));
        insta::assert_snapshot!(error(
            r#"{"faults": [{"fault": {"kind": "stuck_at", "percent": 30, "x": 1}}]}"#
        ));
        insta::assert_snapshot!(error(r#"{"faults": [], "sed": 1}"#));
    }

    #[test]
    fn from_json_parses_full_profile() {
        let profile = FaultProfile::from_json(
            r#"{"seed": 7, "faults": [
                {"fault": {"kind": "error_response", "on": "create", "status": 429, "retry_after": 2}, "times": 1},
                {"fault": {"kind": "error_response", "on": "poll", "status": 502, "body": "html"}, "chance": 0.25},
                {"fault": {"kind": "moderation", "of": "output"}, "prompt": "storm"}
            ]}"#,
        )
        .unwrap();
        assert_eq!(profile.faults.len(), 3);
        assert_eq!(profile.faults[2].fault, Fault::Moderation { of: ModerationStage::Output });
        assert_eq!(profile.faults[0].times, Some(1));
    }
}
