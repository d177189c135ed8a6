//! What a stub of the service has accepted, as the user's account there lists it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

/// One accepted task: something to pay for.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    id: String,
    /// It names the work.
    prompt: String,
    model: String,
    seconds: String,
    /// Whether its request has a frame to start from.
    has_frame: bool,
    accepted: Instant,
    /// When it was accepted, in milliseconds since the epoch.
    created_at: u128,
    done_at: Instant,
    /// Whether it fails; then it costs nothing.
    fails: bool,
}

impl Task {
    /// Whether its video is there.
    pub(crate) fn has_video(&self) -> bool {
        self.done_at <= Instant::now() && !self.fails
    }

    /// As the service describes it (spec 2.5).
    pub(crate) fn object(&self) -> Value {
        let now = Instant::now();
        let since_creation = |time: Instant| self.created_at + (time - self.accepted).as_millis();
        let mut object = json!({
            "id": self.id,
            "object": "video",
            "model": self.model,
            "seconds": self.seconds,
            "created_at": self.created_at,
        });
        let (status, progress) = if now >= self.done_at && self.fails {
            object["error"] = json!({ "message": "the renderer failed", "code": "simulated" });
            ("failed", 100)
        } else if now >= self.done_at {
            object["completed_at"] = json!(since_creation(self.done_at));
            ("completed", 100)
        } else {
            ("in_progress", 40)
        };
        object["status"] = json!(status);
        object["progress"] = json!(progress);
        object
    }
}

/// The tasks of an account, by id.
#[derive(Debug, Default)]
pub(crate) struct Account {
    tasks: BTreeMap<String, Task>,
}

impl Account {
    /// Accepts a request; returns its task as the answer has it.
    pub(crate) fn accept(&mut self, request: &Value, takes: Duration, fails: bool) -> Value {
        let id = format!("task_{:06}", self.tasks.len() + 1);
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let accepted = Instant::now();
        let task = Task {
            id: id.clone(),
            prompt: text("prompt"),
            model: text("model"),
            seconds: text("seconds"),
            has_frame: request.to_string().contains("data:image/"),
            accepted,
            created_at: since_epoch.as_millis(),
            done_at: accepted + takes,
            fails,
        };
        let mut object = task.object();
        object["status"] = json!("queued");
        object["progress"] = json!(0);
        self.tasks.insert(id, task);
        object
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Task> {
        self.tasks.get(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// How many tasks are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        let now = Instant::now();
        self.tasks.values().filter(|task| task.done_at > now).count()
    }

    /// Whether the requests of all tasks of a prompt, those that failed too, have a frame to start from, or none of them has.
    pub(crate) fn have_frame(&self, prompt: &str, expected: bool) -> bool {
        self.tasks.values().filter(|task| task.prompt == prompt).all(|task| task.has_frame == expected)
    }

    /// The tasks of a prompt that were paid for, in the order of their acceptance.
    pub(crate) fn paid(&self, prompt: &str) -> Vec<String> {
        let paid = self.tasks.values().filter(|task| task.prompt == prompt && !task.fails);
        paid.map(|task| task.id.clone()).collect()
    }
}
