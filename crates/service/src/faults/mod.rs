//! Misbehaviour on purpose: what gateways and services get wrong, reproduced for tests of clients. Without a
//! profile nothing here does anything.

mod answer;
mod profile;

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

pub(crate) use self::answer::FaultAnswer;
pub use self::profile::{AnswerBody, Fault, FaultProfile, FaultRule, Moderated, Operation};
use crate::{
    digest::Digest, error::ServiceError, http::TaskBody, id::TaskId, refusal::Refusal, task::Failure,
};

/// A file name that no task has.
const NOWHERE: &str = "00000000000000000000000000.mp4";

/// The profile in force and what it has done so far.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    profile: Option<FaultProfile>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    /// How often each model and prompt was submitted, and accepted.
    submissions: HashMap<Digest, u32>,
    accepted: HashMap<Digest, u32>,
    /// The rules that hold for a task, each with how often it may still strike.
    tasks: HashMap<TaskId, Vec<(usize, u32)>>,
}

/// What befalls a submission.
#[derive(Debug, Default)]
pub(crate) struct CreateFault {
    pub(crate) before: Option<BeforeAcceptance>,
    pub(crate) after: Option<AfterAcceptance>,
}

#[derive(Debug)]
pub(crate) enum BeforeAcceptance {
    Answer(FaultAnswer),
    Refuse(Refusal),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum AfterAcceptance {
    CutConnection,
    NeverAnswer,
}

/// What befalls the body of a file.
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
        Ok(Self { profile, memory: Mutex::default() })
    }

    pub(crate) fn on_create(&self, request: &Value) -> CreateFault {
        let mut fault = CreateFault::default();
        let Some(profile) = &self.profile else { return fault };
        let text = |name: &str| request.get(name).and_then(Value::as_str).unwrap_or_default();
        let (model, prompt) = (text("model"), text("prompt"));
        let fingerprint = fingerprint(model, prompt);
        let occurrence = next(&mut self.memory().submissions, fingerprint);
        for (place, rule) in profile.faults.iter().enumerate() {
            let often = rule.times.is_some_and(|times| occurrence >= times);
            if often || !rule.strikes(profile.seed, place, model, prompt, occurrence) {
                continue;
            }
            match &rule.fault {
                Fault::Answer { on: Operation::Create, status, body, retry_after } => {
                    let answer = FaultAnswer::error(*status, *body, *retry_after);
                    fault.before.get_or_insert(BeforeAcceptance::Answer(answer));
                }
                Fault::Moderation { of: Moderated::Prompt } => {
                    let refusal = Refusal::invalid("input_moderated", "the prompt was refused by moderation");
                    fault.before.get_or_insert(BeforeAcceptance::Refuse(refusal.about("prompt")));
                }
                Fault::LoseAnswer {} => {
                    fault.after.get_or_insert(AfterAcceptance::CutConnection);
                }
                Fault::NeverAnswer {} => {
                    fault.after.get_or_insert(AfterAcceptance::NeverAnswer);
                }
                _ => {}
            }
        }
        fault
    }

    /// Decides which faults will befall a task, as it is accepted.
    pub(crate) fn bind(&self, id: &TaskId, model: &str, prompt: &str) {
        let Some(profile) = &self.profile else { return };
        let mut memory = self.memory();
        let occurrence = next(&mut memory.accepted, fingerprint(model, prompt));
        let rules = profile.faults.iter().enumerate();
        let bound = rules
            .filter(|(place, rule)| rule.strikes(profile.seed, *place, model, prompt, occurrence))
            .map(|(place, rule)| (place, rule.times.unwrap_or(u32::MAX)))
            .collect();
        memory.tasks.insert(id.clone(), bound);
    }

    /// What a poll is answered with instead of the plain truth.
    pub(crate) fn on_poll(&self, id: &TaskId, body: &TaskBody<'_>) -> Option<FaultAnswer> {
        let faults = self.strike(id, |fault| {
            use crate::task::Status::{Completed, InProgress, Queued};
            match fault {
                Fault::Answer { on, .. } => *on == Operation::Poll,
                Fault::NotFoundAfterCreate {} | Fault::TimestampsInSeconds {} => true,
                Fault::UnknownStatus { .. } => matches!(body.status, Queued | InProgress),
                Fault::StuckAt { percent } => body.status != Queued && body.progress >= *percent,
                Fault::CompletedWithoutUrl {} | Fault::CompletedWithError {} | Fault::DeadUrl {} => {
                    body.status == Completed
                }
                Fault::LoseAnswer {}
                | Fault::NeverAnswer {}
                | Fault::ExpiredUrl {}
                | Fault::CutBody { .. }
                | Fault::SlowBody { .. }
                | Fault::Moderation { .. } => false,
            }
        });
        let mut answer: Option<Value> = None;
        for fault in faults {
            if let Fault::Answer { status, body, retry_after, .. } = fault {
                return Some(FaultAnswer::error(*status, *body, *retry_after));
            }
            if let Fault::NotFoundAfterCreate {} = fault {
                return Some(FaultAnswer::error(404, AnswerBody::Json, None));
            }
            let task = match &mut answer {
                Some(task) => task,
                None => answer.insert(serde_json::to_value(body).unwrap_or_default()),
            };
            distort(task, fault);
        }
        answer.map(FaultAnswer::json)
    }

    pub(crate) fn on_content(&self, id: &TaskId) -> Option<FaultAnswer> {
        self.answer(id, |fault| matches!(fault, Fault::Answer { on: Operation::Content, .. }))
    }

    pub(crate) fn on_file(&self, id: &TaskId) -> Option<FaultAnswer> {
        self.answer(id, |fault| {
            matches!(fault, Fault::Answer { on: Operation::File, .. } | Fault::ExpiredUrl {})
        })
    }

    fn answer(&self, id: &TaskId, applies: impl Fn(&Fault) -> bool) -> Option<FaultAnswer> {
        match self.strike(id, applies).first()? {
            Fault::Answer { status, body, retry_after, .. } => {
                Some(FaultAnswer::error(*status, *body, *retry_after))
            }
            _ => Some(FaultAnswer::error(410, AnswerBody::Json, None)),
        }
    }

    pub(crate) fn on_body(&self, id: &TaskId) -> Option<BodyFault> {
        let faults = self.strike(id, |fault| matches!(fault, Fault::CutBody { .. } | Fault::SlowBody { .. }));
        match faults.first()? {
            Fault::CutBody { after } => Some(BodyFault::CutAfter(*after)),
            Fault::SlowBody { bytes_per_second } => {
                Some(BodyFault::Slow { bytes_per_second: *bytes_per_second })
            }
            _ => None,
        }
    }

    pub(crate) fn render_failure(&self, id: &TaskId) -> Option<Failure> {
        let faults = self.strike(id, |fault| {
            matches!(fault, Fault::Moderation { of: Moderated::Input | Moderated::Output })
        });
        match faults.first()? {
            Fault::Moderation { of: Moderated::Input } => {
                Some(Failure::new("input_moderated", "an input was refused by moderation"))
            }
            _ => Some(Failure::new("output_moderated", "the video was withheld by moderation")),
        }
    }

    /// The faults of a task that apply now; each counts as having struck.
    fn strike(&self, id: &TaskId, applies: impl Fn(&Fault) -> bool) -> Vec<&Fault> {
        let Some(profile) = &self.profile else { return Vec::new() };
        let mut memory = self.memory();
        let Some(bound) = memory.tasks.get_mut(id) else { return Vec::new() };
        let mut faults = Vec::new();
        for (place, left) in bound {
            let fault = &profile.faults[*place].fault;
            if *left > 0 && applies(fault) {
                *left -= 1;
                faults.push(fault);
            }
        }
        faults
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultRule {
    fn strikes(&self, seed: u64, place: usize, model: &str, prompt: &str, occurrence: u32) -> bool {
        if self.model.as_deref().is_some_and(|only| only != model)
            || self.prompt.as_deref().is_some_and(|part| !prompt.contains(part))
        {
            return false;
        }
        let die = Digest::of(format!("{seed} {place} {occurrence} {model} {prompt}").as_bytes());
        let [a, b, c, d, ..] = *die.as_bytes();
        f64::from(u32::from_be_bytes([a, b, c, d])) / 4_294_967_296.0 < self.chance
    }
}

fn distort(task: &mut Value, fault: &Fault) {
    match fault {
        Fault::TimestampsInSeconds {} => {
            for name in ["created_at", "completed_at", "expires_at"] {
                if let Some(at) = task.get(name).and_then(Value::as_i64) {
                    task[name] = json!(at / 1000);
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
            if let Some(dead) = dead.map(|(folder, _)| format!("{folder}/{NOWHERE}")) {
                task["metadata"]["url"] = json!(dead);
            }
        }
        // Not about what a poll says.
        Fault::Answer { .. }
        | Fault::LoseAnswer {}
        | Fault::NeverAnswer {}
        | Fault::NotFoundAfterCreate {}
        | Fault::ExpiredUrl {}
        | Fault::CutBody { .. }
        | Fault::SlowBody { .. }
        | Fault::Moderation { .. } => {}
    }
}

fn fingerprint(model: &str, prompt: &str) -> Digest {
    Digest::of(format!("{model}\n{prompt}").as_bytes())
}

/// How often something happened before, counting this time.
fn next(counts: &mut HashMap<Digest, u32>, which: Digest) -> u32 {
    let count = counts.entry(which).or_insert(0);
    let before = *count;
    *count = count.saturating_add(1);
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(chance: f64) -> FaultRule {
        FaultRule { fault: Fault::LoseAnswer {}, prompt: None, model: None, chance, times: None }
    }

    #[test]
    fn chances_are_kept_and_do_not_depend_on_the_order() {
        let struck = |rule: &FaultRule, seed| -> Vec<bool> {
            (0..2000).map(|number| rule.strikes(seed, 0, "m", &format!("prompt {number}"), 0)).collect()
        };
        let quarter = struck(&rule(0.25), 1);
        let share = quarter.iter().filter(|struck| **struck).count();
        assert!((400..600).contains(&share), "{share}");
        assert_eq!(quarter, struck(&rule(0.25), 1));
        assert_ne!(quarter, struck(&rule(0.25), 2));
        assert!(struck(&rule(1.0), 1).into_iter().all(|struck| struck));
        assert!(!struck(&rule(0.0), 1).into_iter().any(|struck| struck));
    }

    #[test]
    fn conditions_and_counts_hold() {
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
