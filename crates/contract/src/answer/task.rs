//! Answers that are about a task.

use serde_json::Value;

use super::asked::Asked;
use super::numbers::{milliseconds, percent};
use super::{ErrorObject, json, text_at, text_of};
use crate::Contract;
use crate::spec::{FailureReason, Pointer, TaskState};

/// A task as an answer has it.
///
/// Contradictions, such as a completed task without a URL, are kept: the caller decides what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id: the one in the answer, or the polled one.
    pub id: String,
    pub state: TaskState,
    /// The state as the service writes it; empty where it has none.
    pub word: String,
    /// Whether the description gives that state a meaning; what it does not know is waited for.
    pub is_defined: bool,
    /// Percent, 0 to 100.
    pub progress: Option<u8>,
    /// The model that runs it.
    pub model: Option<String>,
    /// Length of the video in seconds, as text.
    pub seconds: Option<String>,
    /// When it was accepted, in milliseconds since the Unix epoch, whatever unit was received.
    pub created_at_ms: Option<i64>,
    /// When it ended, in the same unit.
    pub completed_at_ms: Option<i64>,
    /// When the task and its file are deleted, in the same unit.
    pub expires_at_ms: Option<i64>,
    /// URL of the video, as received; may be relative.
    pub video: Option<String>,
    /// URL of its last frame.
    pub last_frame: Option<String>,
    /// Why it failed, and what that is due to; of tasks that ended without a video only.
    pub error: Option<(ErrorObject, FailureReason)>,
    /// The parameter of the request for its result ([`Contract::result`]), once that is to be asked for.
    pub result: Option<String>,
}

impl Contract {
    /// The task that an answer to a submission says was accepted.
    ///
    /// # Errors
    /// The answer is no task: it is empty, not JSON as a whole, or has no id where ids stand, or several.
    pub fn read_accepted(&self, http: u16, body: &str) -> Result<Task, String> {
        let answer = parsed(body)?;
        match self.ids(&answer).as_slice() {
            [id] => Ok(self.task(id.clone(), http, &answer)),
            [first, second, ..] => Err(format!(
                "the response names {first} and {second}, and does not say which one is the task"
            )),
            [] => Err("the response contains no task".to_owned()),
        }
    }

    /// A polled task, as an answer has it: with a success status, or one that says the state by itself.
    ///
    /// # Errors
    /// The answer is not about this task, or is none.
    pub fn read_task(&self, http: u16, body: &str, id: &str) -> Result<Task, String> {
        let tasks = self.tasks();
        // Accepted, and not done: some services have nothing to say then (RFC 9110, 15.3.3).
        if http == 202 && body.trim().is_empty() && !tasks.poll_names_task() {
            return Ok(self.task(id.to_owned(), http, &Value::Null));
        }
        let answer = parsed(body)?;
        let ids = self.ids(&answer);
        match ids.first() {
            Some(other) if !ids.iter().any(|own| own == id) => {
                Err(format!("the response is about another task, {other}"))
            }
            // A state alone may be that of anything, such as a gateway.
            None if tasks.poll_names_task() => Err("the response contains no task".to_owned()),
            _ => Ok(self.task(id.to_owned(), http, &answer)),
        }
    }

    /// The state that an answer with an error status gives a polled task by itself; `None` for most.
    pub fn read_failed_poll(&self, http: u16, body: &str, id: &str) -> Option<Task> {
        let answer = json(body)?;
        let tasks = self.tasks();
        let asked = Asked { http, body: Some(&answer), error: &tasks.error };
        asked.first(&tasks.state.first).map(|_| self.task(id.to_owned(), http, &answer))
    }

    /// A completed task with its result, as the answer to the request for that has it.
    ///
    /// # Errors
    /// The answer is no result.
    pub fn read_result(&self, http: u16, body: &str, task: Task) -> Result<Task, String> {
        let answer = parsed(body)?;
        let result = self.task(task.id.clone(), http, &answer);
        if result.error.is_some() {
            return Ok(Task { word: task.word, is_defined: task.is_defined, result: None, ..result });
        }
        if http >= 400 || result.video.is_none() {
            return Err("the response contains no result".to_owned());
        }
        Ok(Task {
            video: result.video,
            last_frame: result.last_frame.or(task.last_frame),
            result: None,
            ..task
        })
    }

    fn task(&self, id: String, http: u16, answer: &Value) -> Task {
        let tasks = self.tasks();
        let failure = if http >= 400 { &tasks.error } else { tasks.failure() };
        let asked = Asked { http, body: Some(answer), error: failure };
        let word = text_at(&tasks.state.at, answer).unwrap_or_default();
        let defined = asked.first(&tasks.state.first).or_else(|| tasks.state.of_word(&word));
        let state = defined.unwrap_or(TaskState::Running);
        let reason = match state {
            TaskState::Moderated => FailureReason::Moderated,
            _ => asked.first(&tasks.failures).unwrap_or_default(),
        };
        let has_ended = matches!(
            state,
            TaskState::Failed | TaskState::Moderated | TaskState::Cancelled | TaskState::Expired
        );
        let time = |places: &[Pointer]| places.iter().find_map(|place| milliseconds(place.get(answer)?));
        Task {
            result: tasks.result_parameter(answer, &id).filter(|_| state == TaskState::Completed),
            id,
            state,
            word,
            is_defined: defined.is_some(),
            progress: tasks.progress.iter().find_map(|place| percent(place.get(answer)?)),
            model: text_at(&tasks.echo.model, answer),
            seconds: text_at(&tasks.echo.seconds, answer),
            created_at_ms: time(&tasks.times.created),
            completed_at_ms: time(&tasks.times.completed),
            expires_at_ms: time(&tasks.times.expires),
            video: url_at(&tasks.video, answer),
            last_frame: url_at(&tasks.last_frame, answer),
            error: has_ended.then(|| (failure.read(answer), reason)),
        }
    }
}

fn parsed(body: &str) -> Result<Value, String> {
    if body.trim().is_empty() {
        return Err("the response is empty".to_owned());
    }
    json(body).ok_or_else(|| "the response contains no task".to_owned())
}

/// The URL at the first of these places that has one.
fn url_at(places: &[Pointer], answer: &Value) -> Option<String> {
    places.iter().find_map(|place| place.get(answer).filter(|value| value.is_string()).and_then(text_of))
}
