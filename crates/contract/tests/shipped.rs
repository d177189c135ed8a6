//! What the descriptions in services/ read out of answers that their services give.
#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use contract::answer::{Refusal, TaskToWrite};
use contract::{Contract, FailureReason, PollError, Refused, TaskState};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Answers {
    submit: Vec<Submission>,
    poll: Vec<Poll>,
}

#[derive(Deserialize)]
struct Submission {
    http: u16,
    #[serde(default)]
    body: Value,
    is: String,
}

#[derive(Deserialize)]
struct Poll {
    /// That of the poll and, where it is a request of its own, that of the result.
    answers: Vec<(u16, Value)>,
    is: Value,
}

fn text(body: &Value) -> String {
    if body.is_null() { String::new() } else { body.to_string() }
}

fn submitted(contract: &Contract, http: u16, body: &str) -> String {
    if http < 300
        && let Ok(task) = contract.read_accepted(http, body)
    {
        return format!("accepted {}", task.id);
    }
    let Refusal { refused, .. } = contract.read_refusal(http, body, "");
    match refused {
        None => "indeterminate",
        Some(Refused::Later) => "refused for now",
        Some(Refused::NoKey) => "refused, stop the run: key",
        Some(Refused::NoMoney) => "refused, stop the run: money",
        Some(Refused::Moderated) => "refused, moderated",
        Some(Refused::Invalid | Refused::Unusable) => "refused",
    }
    .to_owned()
}

/// What is read from a poll: the same members as `expected`.
fn polled(contract: &Contract, poll: &Poll) -> Value {
    let (http, body) = &poll.answers[0];
    let body = text(body);
    let id = contract.read_accepted(*http, &body).map_or_else(|_| "t".to_owned(), |task| task.id);
    let task = if *http < 400 {
        contract.read_task(*http, &body, &id).expect("a task")
    } else if let Some(task) = contract.read_failed_poll(*http, &body, &id) {
        task
    } else {
        let says = contract.read_refusal(*http, &body, "").poll_error.expect("it says something of the task");
        return serde_json::json!({ "state": format!("{says:?}").to_lowercase() });
    };
    assert_eq!(
        task.result.is_some(),
        poll.answers.len() > 1,
        "a result is asked for once there is one: {body}"
    );
    let task = match poll.answers.get(1) {
        Some((http, body)) => contract.read_result(*http, &text(body), task).expect("a result"),
        None => task,
    };
    let (error, reason) = task.error.clone().unzip();
    let error = error.unwrap_or_default();
    let state = match task.state {
        TaskState::Failed if reason == Some(FailureReason::Moderated) => TaskState::Moderated,
        state => state,
    };
    let mut read = serde_json::json!({
        "state": state, "video": task.video, "last_frame": task.last_frame, "code": error.code, "message": error.message,
    });
    let members = poll.is.as_object().expect("members");
    read.as_object_mut().expect("members").retain(|name, _| members.contains_key(name));
    read
}

#[test]
fn shipped_descriptions_read_the_answers_of_their_services() {
    let mut wrong = Vec::new();
    for name in Contract::shipped_names().filter(|name| *name != "videos-v1") {
        let contract = Contract::shipped(name).expect("a description");
        let file = format!("{}/tests/services/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text_of_file = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let answers: Answers =
            serde_yaml::from_str(&text_of_file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for Submission { http, body, is } in &answers.submit {
            let read = submitted(contract, *http, &text(body));
            if read != *is {
                wrong.push(format!("{name}: {http} {body}: {read}, and it is {is}"));
            }
        }
        for poll in &answers.poll {
            let read = polled(contract, poll);
            if read != poll.is {
                wrong.push(format!("{name}: {:?}: {read}, and it is {}", poll.answers, poll.is));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shipped_descriptions_compile() {
    for name in Contract::shipped_names() {
        let contract = Contract::shipped(name).expect("a description");
        Contract::from_document(contract.document().clone())
            .unwrap_or_else(|error| panic!("{name}, {error}"));
    }
}

/// What an emulation of a service writes is read as it was meant: each state, each refusal, and what a poll may meet.
#[test]
fn written_answers_are_read_as_they_were_meant() {
    for name in Contract::shipped_names() {
        let contract = Contract::shipped(name).expect("a description");
        let task = TaskToWrite {
            id: "task-1",
            state: TaskState::Queued,
            progress: 40,
            model: "m",
            seconds: "5",
            created_at_ms: 1_795_225_551_000,
            video: Some("https://example.com/v.mp4"),
            last_frame: Some("https://example.com/l.png"),
            message: "it went wrong",
        };
        let accepted = contract.write_accepted(task);
        let read = contract.read_accepted(accepted.http, &accepted.body.to_string()).expect(name);
        assert_eq!(read.id, "task-1", "{name}: {}", accepted.body);
        for state in [
            TaskState::Queued,
            TaskState::Running,
            TaskState::Completed,
            TaskState::Failed,
            TaskState::Moderated,
        ] {
            let written = contract.write_task(TaskToWrite { state, ..task });
            let read = contract.read_task(written.http, &written.body.to_string(), "task-1").expect(name);
            let is_moderated =
                |reason| matches!(reason, FailureReason::Moderated | FailureReason::ModeratedOutput);
            match state {
                TaskState::Queued | TaskState::Running => {
                    assert!(matches!(read.state, TaskState::Queued | TaskState::Running), "{name}: {read:?}");
                }
                TaskState::Moderated => {
                    let reason = read.error.as_ref().map(|(_, reason)| *reason).expect("an error");
                    assert!(is_moderated(reason), "{name}: {} {read:?}", written.body);
                }
                _ => assert_eq!(read.state, state, "{name}: {}", written.body),
            }
            if state == TaskState::Completed && contract.content().is_none() {
                let result = contract.write_result(TaskToWrite { state, ..task });
                let read = match contract.result() {
                    Some(_) => {
                        contract.read_result(result.http, &result.body.to_string(), read.clone()).expect(name)
                    }
                    None => read.clone(),
                };
                assert_eq!(read.video.as_deref(), task.video, "{name}");
            }
            if state == TaskState::Failed {
                let (error, reason) = read.error.expect("an error");
                assert_eq!(
                    (error.message.as_str(), reason),
                    ("it went wrong", FailureReason::Other),
                    "{name}"
                );
            }
        }
        for refused in
            [Refused::Invalid, Refused::Moderated, Refused::Later, Refused::NoKey, Refused::NoMoney]
        {
            let written = contract.write_refusal(refused, "no");
            let read = contract.read_refusal(written.http, &written.body.to_string(), "{}");
            assert_eq!(read.refused, Some(refused), "{name}: {} {}", written.http, written.body);
        }
        let written = contract.write_poll_error(PollError::Missing, "no such task");
        let read = contract.read_refusal(written.http, &written.body.to_string(), "");
        assert_eq!(read.poll_error, Some(PollError::Missing), "{name}");
    }
}
