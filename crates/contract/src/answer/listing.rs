//! The list of an account's latest tasks, in which a submission whose answer was lost is found: by a mark in its request that the list gives back.

use serde_json::Value;

use super::{json, text_at};
use crate::{Contract, Operation};

impl Contract {
    /// The same service, whose requests are marked; `None` if its list gives nothing back.
    pub fn with_marks(&self) -> Option<Self> {
        let mut document = self.document().clone();
        let list = document.get_mut("x-tasks")?.get_mut("list")?.as_object_mut()?;
        list.insert("is_marked".to_owned(), Value::Bool(true));
        Self::read(document).ok()
    }

    /// The operation that lists the latest tasks, if requests are marked.
    pub fn listing(&self) -> Option<&Operation> {
        let tasks = self.tasks();
        tasks.list.as_ref().filter(|list| list.is_marked).and(tasks.operations.list.as_ref())
    }

    /// Marks a request, unless it has a value of its own there.
    pub fn mark(&self, request: &mut Value, mark: &str) {
        let list = self.tasks().list.as_ref().filter(|list| list.is_marked);
        if let (Some(list), Some(request)) = (list, request.as_object_mut()) {
            list.mark.insert(request, Value::from(mark));
        }
    }

    /// The ids of listed tasks with a mark, in the order of the list. An answer that is no list has none.
    pub fn read_marked(&self, body: &str, mark: &str) -> Vec<String> {
        let (Some(list), Some(answer)) = (&self.tasks().list, json(body)) else { return Vec::new() };
        let items = list.items.get(&answer).and_then(Value::as_array).into_iter().flatten();
        let marked = items.filter(|item| list.mark.get(item).and_then(Value::as_str) == Some(mark));
        marked.filter_map(|item| text_at(std::slice::from_ref(&list.id), item)).collect()
    }
}
