//! Fault injection: reproduces errors of gateways and services, for tests of clients. Inactive without a profile.

mod profile;
mod response;

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json,
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

pub use self::profile::{ErrorBodyFormat, Fault, FaultProfile, FaultRule, ModerationStage, Operation};
use crate::{digest::Digest, error::ServiceError, http::TaskBody, id::TaskId, task::Failure};

/// The name of a file that does not exist.
const NONEXISTENT_FILE: &str = "00000000000000000000000000.mp4";

/// The active profile and its state.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    profile: Option<FaultProfile>,
    state: Mutex<FaultState>,
}

#[derive(Debug, Default)]
struct FaultState {
    /// Submissions and acceptances so far, by model and prompt.
    submissions: HashMap<Digest, u32>,
    accepted: HashMap<Digest, u32>,
    /// The rules bound to each task, with the number of times that each still applies.
    tasks: HashMap<TaskId, Vec<(usize, u32)>>,
}

/// The faults of a submission.
#[derive(Debug, Default)]
pub(crate) struct CreateFault {
    /// The response, without any effect.
    pub(crate) instead: Option<Response>,
    /// Whether moderation refuses the prompt.
    pub(crate) is_moderated: bool,
    pub(crate) after: Option<AfterAcceptance>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum AfterAcceptance {
    CutConnection,
    NeverRespond,
}

/// The fault of a file response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BodyFault {
    CutAfter(u64),
    Slow { bytes_per_second: u64 },
}

impl Faults {
    pub(crate) fn new(profile: Option<FaultProfile>) -> Result<Self, ServiceError> {
        if let Some(profile) = &profile {
            profile.check()?;
        }
        Ok(Self { profile, state: Mutex::default() })
    }

    pub(crate) fn on_create(&self, request: &Value) -> CreateFault {
        let mut fault = CreateFault::default();
        let Some(profile) = &self.profile else { return fault };
        let text = |name: &str| request.get(name).and_then(Value::as_str).unwrap_or_default();
        let (model, prompt) = (text("model"), text("prompt"));
        let fingerprint = fingerprint(model, prompt);
        let occurrence = fetch_increment(&mut self.state().submissions, fingerprint);
        for (index, rule) in profile.faults.iter().enumerate() {
            let exhausted = rule.times.is_some_and(|times| occurrence >= times);
            if exhausted || !rule.matches(profile.seed, index, model, prompt, occurrence) {
                continue;
            }
            match &rule.fault {
                Fault::ErrorResponse { on: Operation::Create, status, body, retry_after } => {
                    fault.instead.get_or_insert_with(|| response::error(*status, *body, *retry_after));
                }
                Fault::Moderation { of: ModerationStage::Prompt } => {
                    fault.is_moderated = true;
                }
                Fault::LoseResponse {} => {
                    fault.after.get_or_insert(AfterAcceptance::CutConnection);
                }
                Fault::NeverRespond {} => {
                    fault.after.get_or_insert(AfterAcceptance::NeverRespond);
                }
                _ => {}
            }
        }
        fault
    }

    /// Binds the matching rules to a task at its acceptance.
    pub(crate) fn bind(&self, id: &TaskId, model: &str, prompt: &str) {
        let Some(profile) = &self.profile else { return };
        let mut state = self.state();
        let occurrence = fetch_increment(&mut state.accepted, fingerprint(model, prompt));
        let rules = profile.faults.iter().enumerate();
        let bound = rules
            .filter(|(index, rule)| rule.matches(profile.seed, *index, model, prompt, occurrence))
            .map(|(index, rule)| (index, rule.times.unwrap_or(u32::MAX)))
            .collect();
        state.tasks.insert(id.clone(), bound);
    }

    /// The response to a poll instead of the real one.
    pub(crate) fn on_poll(&self, id: &TaskId, body: &TaskBody<'_>) -> Option<Response> {
        use crate::task::Status::{Completed, Queued};
        let faults = self.take_matching(id, |fault| match fault {
            Fault::ErrorResponse { on, .. } => *on == Operation::Poll,
            Fault::NotFoundAfterCreate {} | Fault::TimestampsInSeconds {} => true,
            Fault::UnknownStatus { .. } => body.status < Completed,
            Fault::StuckAt { percent } => body.status != Queued && body.progress >= *percent,
            Fault::CompletedWithoutUrl {} | Fault::CompletedWithError {} | Fault::DeadUrl {} => {
                body.status == Completed
            }
            _ => false,
        });
        if faults.is_empty() {
            return None;
        }
        faults.iter().copied().find_map(error_response).or_else(|| {
            let mut task = serde_json::to_value(body).unwrap_or_default();
            for fault in faults {
                mutate(&mut task, fault);
            }
            Some(Json(task).into_response())
        })
    }

    /// The response to another request about a task instead of the real one.
    pub(crate) fn on_download(&self, id: &TaskId, operation: Operation) -> Option<Response> {
        let faults = self.take_matching(id, |fault| match fault {
            Fault::ErrorResponse { on, .. } => *on == operation,
            Fault::ExpiredUrl {} => operation == Operation::File,
            _ => false,
        });
        error_response(faults.first()?)
    }

    pub(crate) fn on_body(&self, id: &TaskId) -> Option<BodyFault> {
        let is_of_body = |fault: &Fault| matches!(fault, Fault::CutBody { .. } | Fault::SlowBody { .. });
        match *self.take_matching(id, is_of_body).first()? {
            Fault::CutBody { after } => Some(BodyFault::CutAfter(*after)),
            Fault::SlowBody { bytes_per_second } => {
                Some(BodyFault::Slow { bytes_per_second: *bytes_per_second })
            }
            _ => None,
        }
    }

    pub(crate) fn render_failure(&self, id: &TaskId) -> Option<Failure> {
        let is_of_rendering = |fault: &Fault| {
            matches!(fault, Fault::Moderation { of: ModerationStage::Input | ModerationStage::Output })
        };
        match self.take_matching(id, is_of_rendering).first()? {
            Fault::Moderation { of: ModerationStage::Input } => {
                Some(Failure::new("input_moderated", "an input was rejected by moderation"))
            }
            _ => Some(Failure::new("output_moderated", "the video was withheld by moderation")),
        }
    }

    /// The faults bound to a task that apply now; uses each of them up once.
    fn take_matching(&self, id: &TaskId, applies: impl Fn(&Fault) -> bool) -> Vec<&Fault> {
        let Some(profile) = &self.profile else { return Vec::new() };
        let mut state = self.state();
        let Some(bound) = state.tasks.get_mut(id) else { return Vec::new() };
        let mut faults = Vec::new();
        for (index, remaining) in bound {
            let fault = &profile.faults[*index].fault;
            if *remaining > 0 && applies(fault) {
                *remaining -= 1;
                faults.push(fault);
            }
        }
        faults
    }

    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultRule {
    fn matches(&self, seed: u64, index: usize, model: &str, prompt: &str, occurrence: u32) -> bool {
        if self.model.as_deref().is_some_and(|only| only != model)
            || self.prompt.as_deref().is_some_and(|part| !prompt.contains(part))
        {
            return false;
        }
        let hash = Digest::sha256(format!("{seed} {index} {occurrence} {model} {prompt}").as_bytes());
        let [a, b, c, d, ..] = *hash.as_bytes();
        f64::from(u32::from_be_bytes([a, b, c, d])) / 4_294_967_296.0 < self.chance
    }
}

fn mutate(task: &mut Value, fault: &Fault) {
    match fault {
        Fault::TimestampsInSeconds {} => {
            for name in ["created_at", "completed_at", "expires_at"] {
                if let Some(millis) = task.get(name).and_then(Value::as_i64) {
                    task[name] = json!(millis / 1000);
                }
            }
        }
        Fault::UnknownStatus { status } => task["status"] = json!(status),
        Fault::StuckAt { percent } => {
            task["status"] = json!("in_progress");
            task["progress"] = json!(percent);
            if let Some(members) = task.as_object_mut() {
                members.retain(|name, _| {
                    !matches!(name.as_str(), "completed_at" | "expires_at" | "error" | "metadata")
                });
            }
        }
        Fault::CompletedWithoutUrl {} => {
            if let Some(metadata) = task.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("url");
            }
        }
        Fault::CompletedWithError {} => {
            task["error"] = json!({"message": "the video could not be delivered", "code": "delivery_failed"});
        }
        Fault::DeadUrl {} => {
            let dead = task["metadata"]["url"].as_str().and_then(|url| url.rsplit_once('/'));
            if let Some(dead) = dead.map(|(folder, _)| format!("{folder}/{NONEXISTENT_FILE}")) {
                task["metadata"]["url"] = json!(dead);
            }
        }
        _ => {}
    }
}

/// The response of a fault that has one.
fn error_response(fault: &Fault) -> Option<Response> {
    match fault {
        Fault::ErrorResponse { status, body, retry_after, .. } => {
            Some(response::error(*status, *body, *retry_after))
        }
        Fault::NotFoundAfterCreate {} => Some(response::error(404, ErrorBodyFormat::Json, None)),
        Fault::ExpiredUrl {} => Some(response::error(410, ErrorBodyFormat::Json, None)),
        _ => None,
    }
}

fn fingerprint(model: &str, prompt: &str) -> Digest {
    Digest::sha256(format!("{model}\n{prompt}").as_bytes())
}

/// Increments a counter and returns its previous value.
fn fetch_increment(counts: &mut HashMap<Digest, u32>, digest: Digest) -> u32 {
    let count = counts.entry(digest).or_insert(0);
    let before = *count;
    *count = count.saturating_add(1);
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(chance: f64) -> FaultRule {
        FaultRule { fault: Fault::LoseResponse {}, prompt: None, model: None, chance, times: None }
    }

    #[test]
    fn matches_with_probability_independent_of_order() {
        let matches = |rule: &FaultRule, seed| -> Vec<bool> {
            (0..2000).map(|number| rule.matches(seed, 0, "m", &format!("prompt {number}"), 0)).collect()
        };
        let quarter = matches(&rule(0.25), 1);
        let share = quarter.iter().filter(|matched| **matched).count();
        assert!((400..600).contains(&share), "{share}");
        assert_eq!(quarter, matches(&rule(0.25), 1));
        assert_ne!(quarter, matches(&rule(0.25), 2));
        assert!(matches(&rule(1.0), 1).into_iter().all(|matched| matched));
        assert!(!matches(&rule(0.0), 1).into_iter().any(|matched| matched));
    }

    #[test]
    fn rules_respect_conditions_and_times() {
        let mut only = rule(1.0);
        only.prompt = Some("storm".to_owned());
        only.times = Some(2);
        let faults = Faults::new(Some(FaultProfile { seed: 0, faults: vec![only] })).unwrap();
        let lost = |prompt: &str| faults.on_create(&json!({"model": "m", "prompt": prompt})).after.is_some();
        assert!(!lost("calm sea"));
        assert_eq!([lost("a storm"), lost("a storm"), lost("a storm")], [true, true, false]);
        assert!(lost("another storm"));
    }
}
