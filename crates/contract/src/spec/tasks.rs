//! How a task is submitted and followed (`x-tasks`): operations, and where and in which words its answers say what.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::condition::Case;
use super::operation::{Operation, Operations};
use super::{Node, Pointer, SpecError, access, read_as, schema_at};

/// How a task is submitted and followed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tasks {
    /// The id of the operation that accepts a task.
    submit: String,
    /// Where the model's id goes.
    pub(crate) model: ModelPlace,
    /// The task's id, in the answer to a submission.
    pub(crate) id: Vec<IdPlace>,
    poll: Poll,
    /// A second request, once a task is completed.
    result: Option<Lookup>,
    /// The id of the operation that gives the video's bytes.
    content: Option<String>,
    pub(crate) list: Option<Listing>,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) state: StatePlaces,
    #[serde(default)]
    pub(crate) progress: Vec<Pointer>,
    /// The URL of the video.
    #[serde(default)]
    pub(crate) video: Vec<Pointer>,
    /// The URL of its last frame.
    #[serde(default)]
    pub(crate) last_frame: Vec<Pointer>,
    /// When the task was accepted, when it ended, and when it goes away.
    #[serde(default)]
    pub(crate) times: Times,
    /// What the task was asked for, where it is given back.
    #[serde(default)]
    pub(crate) echo: Echo,
    /// The error of a refusal, and of a failed task if `failure` does not say otherwise.
    pub(crate) error: ErrorPlaces,
    failure: Option<ErrorPlaces>,
    /// Answers to a submission that prove that nothing was accepted.
    #[serde(default = "default_refusals")]
    pub(crate) refusals: Vec<Case<Refused>>,
    /// What failed tasks are due to.
    #[serde(default)]
    pub(crate) failures: Vec<Case<FailureReason>>,
    /// Resolved from the ids.
    #[serde(skip)]
    pub(crate) operations: Operations,
}

/// Where the model's id goes: into the body, or a parameter of the path.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "this is a JSON pointer, or `{ parameter: NAME }` of the path")]
pub(crate) enum ModelPlace {
    Body(Pointer),
    Path { parameter: String },
}

/// Where the task's id stands: by itself, or in the URL of its poll, where nothing else has all that such URLs need.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "this is a JSON pointer, or `{ poll_url: POINTER }`")]
pub(crate) enum IdPlace {
    Id(Pointer),
    PollUrl { poll_url: Pointer },
}

/// How a task is polled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Poll {
    operation: String,
    /// Whether each answer has the task's id: an answer without it is another server's.
    #[serde(default)]
    names_task: bool,
    /// Not more often than every so many seconds.
    every: Option<f64>,
    /// What an answer with an error status says of the task.
    #[serde(default = "default_poll_errors")]
    errors: Vec<Case<PollError>>,
}

/// A request for a task: an operation whose one parameter is the task's id.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lookup {
    operation: String,
    /// The pointer into the answer before, for the parameter; absent, it is the task's id.
    with: Option<Pointer>,
}

/// The latest tasks of the account, newest first.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listing {
    operation: String,
    /// What stands behind the `?` of its URL.
    #[serde(default)]
    query: String,
    pub(crate) items: Pointer,
    /// A task's id, in an item.
    pub(crate) id: Pointer,
    /// A field of the request, of any text, that an item gives back.
    pub(crate) mark: Pointer,
    /// Whether that is used (`echo` in services.yaml).
    #[serde(default)]
    pub(crate) is_marked: bool,
}

/// How a task is cancelled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cancel {
    operation: String,
    /// In which states: in others, the operation may do something else, such as delete a finished task.
    #[serde(default = "unfinished")]
    pub(crate) states: Vec<TaskState>,
}

/// Where the state stands, and its words. A word that is not listed means that the task is running.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatePlaces {
    pub(crate) at: Vec<Pointer>,
    #[serde(default)]
    queued: Vec<Value>,
    #[serde(default)]
    running: Vec<Value>,
    #[serde(default)]
    completed: Vec<Value>,
    #[serde(default)]
    failed: Vec<Value>,
    #[serde(default)]
    cancelled: Vec<Value>,
    #[serde(default)]
    expired: Vec<Value>,
    /// Looked at before the words.
    #[serde(default)]
    pub(crate) first: Vec<Case<TaskState>>,
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Accepted, not started.
    Queued,
    Running,
    /// Finished with a video.
    Completed,
    /// Finished without a video.
    Failed,
    /// Finished without a video, because moderation refused it.
    Moderated,
    Cancelled,
    /// Given up by the service before it finished.
    Expired,
}

/// Why a submission was surely not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// The request is wrong.
    Invalid,
    /// Moderation refuses it.
    Moderated,
    /// Too much at once, or the service is busy: the same request can be sent again.
    Later,
    /// The key is missing, wrong, or may not do this.
    NoKey,
    /// The account has no money or quota left.
    NoMoney,
    /// The service does not do this at all, as behind a wrong address.
    Unusable,
}

/// What an error in answer to a poll says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PollError {
    /// The service knows no such task.
    Missing,
    /// The service has deleted the task.
    Gone,
    /// The key is wrong, or another account's.
    NoKey,
}

/// What a failed task is due to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// Moderation refused the prompt or an input.
    Moderated,
    /// Moderation withheld the video.
    ModeratedOutput,
    NoMoney,
    /// The service's own trouble, which may be over.
    Transient,
    /// The request is wrong.
    Invalid,
    /// Anything else.
    #[default]
    Other,
}

/// Where times stand.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Times {
    #[serde(default)]
    pub(crate) created: Vec<Pointer>,
    #[serde(default)]
    pub(crate) completed: Vec<Pointer>,
    #[serde(default)]
    pub(crate) expires: Vec<Pointer>,
}

/// Where an answer repeats the request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Echo {
    #[serde(default)]
    pub(crate) model: Vec<Pointer>,
    #[serde(default)]
    pub(crate) seconds: Vec<Pointer>,
}

/// Where the parts of an error stand.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorPlaces {
    #[serde(default)]
    pub(crate) message: Vec<Pointer>,
    #[serde(default)]
    pub(crate) code: Vec<Pointer>,
    #[serde(default, rename = "type")]
    pub(crate) kind: Vec<Pointer>,
    #[serde(default)]
    pub(crate) param: Vec<Pointer>,
}

impl Tasks {
    /// Reads `x-tasks`, and finds its operations.
    pub(crate) fn read(root: &Node<'_>) -> Result<Self, SpecError> {
        let node = root.need("x-tasks")?;
        let mut tasks: Self = read_as(&node)?;
        if tasks.id.is_empty() {
            return Err(node.need("id")?.fail(
                "no place is given for the task's id",
                "list the JSON pointers at which the answer to a submission has it, such as `[/id]`",
            ));
        }
        if tasks.state.completed.is_empty()
            && !tasks.state.first.iter().any(|case| case.is == TaskState::Completed)
        {
            return Err(node.need("state")?.fail(
                "no word says that a task is completed",
                "add `completed`, with the words of the service for it, such as `[succeeded]`",
            ));
        }
        if let Some((word, key)) = tasks.state.ambiguous() {
            return Err(node.need("state")?.need(key)?.fail(
                format!("`{word}` is the word of another state, too"),
                "list each word once: capitals, spaces and dashes make no difference",
            ));
        }
        if tasks.video.is_empty() && tasks.content.is_none() {
            return Err(node.fail(
                "there is no way to the video",
                "add `video`, with the JSON pointers of its URL, or `content`, with the operation that gives its bytes",
            ));
        }
        let poll = node.need("poll")?;
        let named = |key: &str, id: &Option<String>| match id {
            Some(id) => Operation::find(root, &node.need(key)?, id).map(Some),
            None => Ok(None),
        };
        tasks.operations = Operations {
            submit: Operation::find(root, &node.need("submit")?, &tasks.submit)?,
            poll: Operation::find(root, &poll.need("operation")?, &tasks.poll.operation)?,
            result: match &tasks.result {
                Some(result) => Some(Operation::find(root, &node.need("result")?, &result.operation)?),
                None => None,
            },
            content: named("content", &tasks.content)?,
            list: match &tasks.list {
                Some(list) => {
                    let mut operation = Operation::find(root, &node.need("list")?, &list.operation)?;
                    operation.path = format!("{}?{}", operation.path, list.query);
                    Some(operation)
                }
                None => None,
            },
            cancel: match &tasks.cancel {
                Some(cancel) => Some(Operation::find(root, &node.need("cancel")?, &cancel.operation)?),
                None => None,
            },
        };
        tasks.check_poll_urls(root, &node)?;
        Ok(tasks)
    }

    /// Checks that an id can be found in the URL of a poll: below a server, as the only parameter.
    fn check_poll_urls(&self, root: &Node<'_>, node: &Node<'_>) -> Result<(), SpecError> {
        if !self.id.iter().any(|place| matches!(place, IdPlace::PollUrl { .. })) {
            return Ok(());
        }
        if access::servers(root)?.is_empty() {
            return Err(node.need("id")?.fail(
                "a `poll_url` is read below the address of the service, and the document has none",
                "add `servers`, with the `url` that the service's own URLs begin with",
            ));
        }
        if self.operations.poll.around_parameter().is_none() {
            return Err(node.need("id")?.fail(
                "a `poll_url` is read by the path of the poll, and that has not exactly one parameter",
                "name an operation under `poll` whose path has the task's id alone, such as `/{task}/status`",
            ));
        }
        Ok(())
    }

    /// Checks that each state that the schema of a task lists has a meaning: a new one might be an end.
    pub(crate) fn check_states(&self, root: &Node<'_>, task: &Node<'_>) -> Result<(), SpecError> {
        for place in &self.state.at {
            let Some(words) = schema_at(root, task, place)?.and_then(|schema| schema.get("enum")) else {
                continue;
            };
            for word in words.items()? {
                let text = text_of(word.value);
                if self.state.of_word(&text).is_none() {
                    return Err(word.fail(
                        format!("it is not said what the state `{text}` means"),
                        "list it in `x-tasks`, under `state`, as queued, running, completed, failed, cancelled or expired",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Where the parts of a failed task's error stand.
    pub(crate) fn failure(&self) -> &ErrorPlaces {
        self.failure.as_ref().unwrap_or(&self.error)
    }

    /// What an answer with an error status says of a task that is polled.
    pub(crate) fn poll_errors(&self) -> &[Case<PollError>] {
        &self.poll.errors
    }

    pub(crate) fn poll_names_task(&self) -> bool {
        self.poll.names_task
    }

    /// The parameter of the request for the result of a completed task, where that is a request of its own: out of the poll's answer, or the id.
    pub(crate) fn result_parameter(&self, answer: &Value, id: &str) -> Option<String> {
        let stated = self.result.as_ref()?.with.as_ref().and_then(|with| with.get(answer)?.as_str());
        Some(stated.unwrap_or(id).to_owned())
    }

    /// The shortest time between two polls.
    pub(crate) fn poll_interval(&self) -> Option<Duration> {
        self.poll.every.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

impl StatePlaces {
    /// The words, with their keys in `x-tasks`.
    fn words(&self) -> [(&str, &[Value], TaskState); 6] {
        [
            ("queued", &self.queued, TaskState::Queued),
            ("running", &self.running, TaskState::Running),
            ("completed", &self.completed, TaskState::Completed),
            ("failed", &self.failed, TaskState::Failed),
            ("cancelled", &self.cancelled, TaskState::Cancelled),
            ("expired", &self.expired, TaskState::Expired),
        ]
    }

    /// The word for a state, as the service writes it; `None` also where it says so with none.
    #[cfg(feature = "validate")]
    pub(crate) fn word(&self, state: TaskState) -> Option<Value> {
        let words = self.words().into_iter().find(|(_, words, own)| *own == state && !words.is_empty());
        let word = words.and_then(|(_, words, _)| words.first())?;
        // Written as text, a truth is one.
        match word.as_str() {
            Some("") => None,
            Some("true") => Some(Value::Bool(true)),
            Some("false") => Some(Value::Bool(false)),
            _ => Some(word.clone()),
        }
    }

    /// What a word means.
    pub(crate) fn of_word(&self, word: &str) -> Option<TaskState> {
        let word = normalized(word);
        let is_listed = |words: &[Value]| words.iter().any(|listed| normalized(&text_of(listed)) == word);
        self.words().into_iter().find(|(_, words, _)| is_listed(words)).map(|(_, _, state)| state)
    }

    /// A word of two states, and the key of the second one.
    fn ambiguous(&self) -> Option<(String, &str)> {
        self.words().into_iter().find_map(|(key, words, state)| {
            let other = words.iter().map(text_of).find(|word| self.of_word(word) != Some(state))?;
            Some((other, key))
        })
    }
}

/// A word as it is compared: `IN-PROGRESS` is `in_progress`.
fn normalized(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', ' '], "_")
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn unfinished() -> Vec<TaskState> {
    vec![TaskState::Queued, TaskState::Running]
}

/// Where a description does not say more: what these statuses mean by RFC 9110.
fn default_refusals() -> Vec<Case<Refused>> {
    cases(serde_json::json!([
        { "is": "later", "when": [{ "http": [429] }] },
        { "is": "no_key", "when": [{ "http": [401] }] },
        { "is": "no_money", "when": [{ "http": [402] }] },
        { "is": "invalid", "when": [{ "http": [400, 403, 404, 405, 406, 413, 415, 422] }] },
    ]))
}

fn default_poll_errors() -> Vec<Case<PollError>> {
    cases(serde_json::json!([
        { "is": "missing", "when": [{ "http": [404] }] },
        { "is": "gone", "when": [{ "http": [410] }] },
        { "is": "no_key", "when": [{ "http": [401, 403] }] },
    ]))
}

/// Cases that are written in this file; a test reads them.
fn cases<T: serde::de::DeserializeOwned>(written: Value) -> Vec<Case<T>> {
    serde_json::from_value(written).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{default_poll_errors, default_refusals};

    #[test]
    fn defaults_are_readable() {
        assert_eq!((default_refusals().len(), default_poll_errors().len()), (4, 3));
    }
}
