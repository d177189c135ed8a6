//! Answers with an error status, and those that refuse a submission with a success status.

use serde_json::Value;

use super::asked::Asked;
use super::duplicate::may_name_duplicate;
use super::{ErrorObject, json};
use crate::Contract;
use crate::spec::{PollError, Refused};

/// What an answer without a task says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Its error; `None` where no words stand where the service has them, as on a gateway's page.
    pub error: Option<ErrorObject>,
    /// Why the submission that it answers was surely not accepted; `None` where it may have been.
    pub refused: Option<Refused>,
    /// What it says of the task that was polled; `None` where it says nothing of it.
    pub poll_error: Option<PollError>,
    /// Whether there may be a task all the same: the body has an id where ids stand, or says that the task exists already.
    pub may_have_task: bool,
    /// The only id in the body: probably that of the task.
    pub task_hint: Option<String>,
    /// Whether its error has words for all that the body says.
    pub has_only_error: bool,
}

impl Contract {
    /// What an answer with this HTTP status and body says that is no task. `request` is the body of the submission that it answers; empty for
    /// other requests.
    pub fn read_refusal(&self, http: u16, body: &str, request: &str) -> Refusal {
        let tasks = self.tasks();
        let answer = json(body);
        let asked = Asked { http, body: answer.as_ref(), error: &tasks.error };
        let ids = answer.as_ref().map(|answer| self.ids(answer)).unwrap_or_default();
        let may_have_task = !ids.is_empty() || may_name_duplicate(http, body, request);
        let error = answer.as_ref().map(|answer| tasks.error.read(answer));
        let error = error.filter(|error| *error != ErrorObject::default());
        Refusal {
            refused: asked.first(&tasks.refusals).filter(|_| !may_have_task),
            poll_error: asked.first(tasks.poll_errors()),
            may_have_task,
            task_hint: match ids.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            },
            has_only_error: is_all_of(error.as_ref(), answer.as_ref()),
            error,
        }
    }
}

fn is_all_of(error: Option<&ErrorObject>, answer: Option<&Value>) -> bool {
    error.zip(answer).is_some_and(|(error, answer)| error.is_all_of(answer))
}
