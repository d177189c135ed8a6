//! Answers as a service writes them: what an emulation of it sends. Whatever is written here is read back as it was meant ([`Contract::read_task`] and
//! its like), which tests hold for every description that comes with the program.

use glob::Pattern;
use serde_json::{Value, json};

use crate::Contract;
use crate::spec::{
    Case, Condition, ErrorPlaces, FailureReason, IdPlace, Place, Pointer, PollError, Refused, TaskState,
};

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub http: u16,
    pub body: Value,
}

/// What an answer says of a task.
#[derive(Debug, Clone, Copy)]
pub struct TaskToWrite<'a> {
    pub id: &'a str,
    pub state: TaskState,
    pub progress: u8,
    pub model: &'a str,
    /// The length of the video in seconds.
    pub seconds: &'a str,
    /// Milliseconds since the Unix epoch.
    pub created_at_ms: i64,
    /// The URL of the video, and of its last frame, of completed tasks.
    pub video: Option<&'a str>,
    pub last_frame: Option<&'a str>,
    /// Why it has no video.
    pub message: &'a str,
}

impl Contract {
    /// The answer to a submission that is accepted.
    pub fn write_accepted(&self, task: TaskToWrite<'_>) -> Written {
        self.write_task(TaskToWrite { state: TaskState::Queued, video: None, last_frame: None, ..task })
    }

    /// The answer to a poll.
    pub fn write_task(&self, task: TaskToWrite<'_>) -> Written {
        let tasks = self.tasks();
        let mut answer = Answer(json!({}));
        answer.put_id(self, task.id);
        let places = tasks.failure();
        let is_end = matches!(
            task.state,
            TaskState::Failed | TaskState::Moderated | TaskState::Cancelled | TaskState::Expired
        );
        let running = || tasks.state.word(TaskState::Queued).filter(|_| task.state == TaskState::Running);
        let word = tasks.state.word(task.state).or_else(running);
        let by_itself = tasks.state.first.iter().find(|case| case.is == task.state && word.is_none());
        let condition = by_itself.and_then(|case| case.when.first());
        match (word, condition) {
            (Some(word), _) => answer.put(tasks.state.at.first(), word),
            (None, Some(condition)) => answer.satisfy(condition, places),
            // What a service has no word for is one of its failures, or runs.
            (None, None) if is_end => {
                answer
                    .put(tasks.state.at.first(), tasks.state.word(TaskState::Failed).unwrap_or(Value::Null));
            }
            (None, None) => answer.put(tasks.state.at.first(), tasks.state.word(TaskState::Running)),
        }
        let is_moderated = |case: &&Case<FailureReason>| case.is == FailureReason::Moderated;
        if task.state == TaskState::Moderated
            && condition.is_none()
            && let Some(case) = tasks.failures.iter().find(is_moderated)
        {
            case.when.first().into_iter().for_each(|condition| answer.satisfy(condition, places));
        }
        if is_end {
            answer.put(places.message.first(), task.message);
        }
        answer.put(tasks.progress.first(), task.progress);
        answer.put(tasks.echo.model.first(), task.model);
        answer.put(tasks.echo.seconds.first(), task.seconds);
        answer.put(tasks.times.created.first(), task.created_at_ms);
        if task.state == TaskState::Completed && self.result().is_none() {
            answer.put(tasks.video.first(), task.video);
            answer.put(tasks.last_frame.first(), task.last_frame);
        }
        let http = condition.and_then(|condition| condition.http.first()).copied().unwrap_or(200);
        answer.finish(http, condition, task.message)
    }

    /// The answer to the request for the result of a completed task, where that is a request of its own.
    pub fn write_result(&self, task: TaskToWrite<'_>) -> Written {
        let tasks = self.tasks();
        let mut answer = Answer(json!({}));
        answer.put(tasks.video.first(), task.video);
        answer.put(tasks.last_frame.first(), task.last_frame);
        answer.finish(200, None, "")
    }

    /// The answer to a submission that is refused, or to one with a wrong key.
    pub fn write_refusal(&self, refused: Refused, message: &str) -> Written {
        let tasks = self.tasks();
        let find = |refused| tasks.refusals.iter().find(|case| case.is == refused);
        let case = find(refused).or_else(|| find(Refused::Invalid));
        self.write_error(case.and_then(|case| case.when.first()), 400, message)
    }

    /// The answer to a poll for a task that cannot be described.
    pub fn write_poll_error(&self, error: PollError, message: &str) -> Written {
        let case = self.tasks().poll_errors().iter().find(|case| case.is == error);
        self.write_error(case.and_then(|case| case.when.first()), 404, message)
    }

    fn write_error(&self, condition: Option<&Condition>, usual: u16, message: &str) -> Written {
        let places = &self.tasks().error;
        let mut answer = Answer(json!({}));
        if let Some(condition) = condition {
            answer.satisfy(condition, places);
        }
        answer.put(places.message.first(), message);
        let http = condition.and_then(|condition| condition.http.first()).copied().unwrap_or(usual);
        answer.finish(http, condition, message)
    }
}

/// An answer under construction.
struct Answer(Value);

impl Answer {
    /// Puts a value, unless one is there already.
    fn put(&mut self, place: Option<&Pointer>, value: impl Into<Value>) {
        let value = value.into();
        if let (Some(place), Value::Object(members)) = (place.filter(|_| !value.is_null()), &mut self.0) {
            place.insert(members, value);
        }
    }

    /// Puts the id of a task where a submission is answered with it.
    fn put_id(&mut self, contract: &Contract, id: &str) {
        match contract.tasks().id.first() {
            Some(IdPlace::Id(place)) => self.put(Some(place), id),
            Some(IdPlace::PollUrl { poll_url }) => {
                let url = contract.server().zip(contract.poll().around_parameter());
                self.put(
                    Some(poll_url),
                    url.map(|(server, (before, after))| format!("{server}{before}{id}{after}")),
                );
            }
            None => {}
        }
    }

    /// Puts the texts that a condition asks for. Where any will do, [`Self::finish`] does.
    fn satisfy(&mut self, condition: &Condition, places: &ErrorPlaces) {
        for (place, patterns) in &condition.texts {
            let Some(pattern) = patterns.first() else { continue };
            let at = match place {
                Place::Code => places.code.first(),
                Place::Message => places.message.first(),
                Place::Kind => places.kind.first(),
                Place::At(pointer) => Some(pointer),
            };
            let Some(at) = at else { continue };
            // Two conditions may be about one text.
            if let (Some(Value::String(own)), Value::String(more)) =
                (self.0.pointer_mut(at.as_str()), literal(pattern))
            {
                own.extend(["_", &more]);
            } else {
                self.put(Some(at), literal(pattern));
            }
        }
    }

    fn finish(mut self, http: u16, condition: Option<&Condition>, message: &str) -> Written {
        for (place, patterns) in condition.into_iter().flat_map(|condition| &condition.texts) {
            if let (Place::At(pointer), []) = (place, patterns.as_slice()) {
                self.put(Some(pointer), message);
            }
        }
        Written { http, body: self.0 }
    }
}

/// A text that matches a pattern; a truth or a number where that is one.
fn literal(pattern: &Pattern) -> Value {
    let text = pattern.as_str().replace('*', "");
    match serde_json::from_str(&text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_))) => value,
        _ => Value::String(text),
    }
}
