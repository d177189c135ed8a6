//! Search for a task id in the headers of a response.

use percent_encoding::percent_decode_str;
use reqwest::header::{HeaderMap, SET_COOKIE, TRAILER};

use super::suspected_id::{
    OTHER_NAMES, has_form_of_task_id, ids_in_url, is_quoted, is_quoted_url, normalized, urls_in,
};

/// What the names of headers that give the id of a task contain, beside a word for an id at their end.
const ID_HEADERS: [&str; 6] = ["task", "video", "job", "generation", "operation", "resource"];
/// Words for an id, the longer ones before those that they end with.
const ID_WORDS: [&str; 5] = ["uuid", "guid", "uid", "ids", "id"];
/// Words that end like one.
const WORDS_LIKE_ID: [&str; 4] = ["valid", "paid", "grid", "hybrid"];
/// What else headers with the name of a task give the id of, beside [`OTHER_NAMES`]. In a body, such an object may hold the task.
const OTHER_HEADERS: [&str; 6] = ["queue", "group", "instance", "event", "transaction", "message"];
/// Headers with the id of a task, a number of tasks, a time or a kind: the value decides.
const TASK_HEADERS: [&str; 2] = ["task", "job"];
/// Words of such names that leave numbers, times and kinds only.
const LIMIT_WORDS: [&str; 8] = ["ratelimit", "limit", "limits", "reset", "quota", "type", "kind", "queue"];
/// Ends of the names of headers with a URL.
const URL_WORDS: [&str; 3] = ["url", "uri", "href"];
/// The collection of the contract's tasks (spec 4.2).
const TASKS: &str = "videos";

/// What the name of a header says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedAs {
    /// It is the id of a task.
    Id,
    /// It belongs to a task, and may be its id.
    Task,
}

/// The task id that the headers of a response name, the most reliable first: in the URL of what the request has created, in a header of its
/// own, or in any other URL. What is quoted from the request is none: a task that it has created has a new id.
///
/// In the URL of what the request has created, an id that the request has counts all the same, unless the whole URL is quoted. A service that takes
/// an id of the client's for the task's names it there, and to miss it would be to pay twice; an error that repeats the address of an input
/// repeats all of it.
#[must_use]
pub(crate) fn id_in_headers(headers: &HeaderMap, request: &str) -> Option<String> {
    let named = |is_named: fn(&str) -> bool| {
        texts(headers).filter(move |(name, _)| is_named(name)).map(|(_, value)| value)
    };
    let created = || named(is_of_created).filter(|value| !is_quoted_url(value, request));
    let is_new = |id: &String| !is_quoted(id, request);
    let in_url = created()
        .flat_map(|value| ids_in_urls(&value))
        .next()
        .or_else(|| created().find_map(|value| id_in_location(&value)));
    let mut own = texts(headers).flat_map(|(name, value)| ids_of(&name, &value)).filter(is_new);
    let mut others = named(|name| !is_of_created(name)).flat_map(|value| ids_in_urls(&value)).filter(is_new);
    in_url.or_else(|| own.next()).or_else(|| others.next())
}

/// Whether a header that is announced to follow the body (RFC 9110, 6.6.2) may name a task, by its name. Trailers are not read.
#[must_use]
pub(crate) fn may_trailers_name_task(headers: &HeaderMap) -> bool {
    let may_name_task = |name: &str| {
        is_of_created(name)
            || name == "link"
            || URL_WORDS.iter().any(|end| name.ends_with(end))
            || named_as(name).is_some()
    };
    headers.get_all(TRAILER).iter().any(|value| {
        let names = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        names.split(',').any(|name| may_name_task(name.trim()))
    })
}

/// The ids of tasks that the headers of a response name beyond doubt: in the URL of what the request has created or of what is linked with it,
/// or as the id of a task or a video.
#[must_use]
pub(super) fn certain_ids_in_headers(headers: &HeaderMap) -> Vec<String> {
    let ids = texts(headers).flat_map(|(name, value)| {
        let stem = normalized(&name);
        if is_of_created(&name) || name == "link" {
            ids_in_urls(&value)
        } else if ["taskid", "videoid"].iter().any(|end| stem.ends_with(end)) {
            ids_of(&name, &value)
        } else {
            Vec::new()
        }
    });
    ids.collect()
}

/// Names and values, also where one is not ASCII.
fn texts(headers: &HeaderMap) -> impl Iterator<Item = (String, String)> {
    headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
    })
}

/// Whether the URL in a header names what the request has created: `Location`, `Content-Location` (RFC 9110, 8.7 and 10.2.2),
/// `Operation-Location` and `Azure-AsyncOperation` of asynchronous APIs.
fn is_of_created(name: &str) -> bool {
    name.ends_with("location") || name == "azure-asyncoperation"
}

fn ids_in_urls(value: &str) -> Vec<String> {
    urls_in(value).flat_map(ids_in_url).collect()
}

/// The ids that a header is for. A cookie is a header of its own name.
fn ids_of(name: &str, value: &str) -> Vec<String> {
    if name != SET_COOKIE {
        return ids_named(name, value);
    }
    let cookie = value.split(';').next().and_then(|cookie| cookie.split_once('='));
    cookie.map(|(name, value)| ids_named(&name.trim().to_ascii_lowercase(), value)).unwrap_or_default()
}

/// The ids in a list of items with parameters (RFC 9651) under this name, in lower case.
fn ids_named(name: &str, value: &str) -> Vec<String> {
    let Some(named_as) = named_as(name) else { return Vec::new() };
    let items = value.split(',').map(|item| item.split(';').next().unwrap_or_default());
    let is_id = |item: &&str| match named_as {
        NamedAs::Id => !item.is_empty(),
        NamedAs::Task => has_form_of_task_id(item),
    };
    items.map(|item| item.trim().trim_matches('"')).filter(is_id).map(str::to_owned).collect()
}

/// Whether a header is for the id of a task, by its name in lower case: `X-Task-Id`, and not `X-Job-Trace-Id`.
fn named_as(name: &str) -> Option<NamedAs> {
    let (before, last) = name.rsplit_once(['-', '_']).unwrap_or(("", name));
    let stem = ID_WORDS.iter().find_map(|word| last.strip_suffix(word));
    if let Some(stem) = stem.filter(|_| !WORDS_LIKE_ID.iter().any(|word| last.ends_with(word))) {
        let stem = normalized(before) + stem;
        let is_of_task = ID_HEADERS.iter().any(|part| stem.contains(part));
        let is_of_other = OTHER_NAMES.iter().chain(&OTHER_HEADERS).any(|other| stem.ends_with(other));
        return (is_of_task && !is_of_other).then_some(NamedAs::Id);
    }
    let is_of_task = TASK_HEADERS.iter().any(|end| last.ends_with(end));
    let is_of_limit = name.split(['-', '_']).any(|word| LIMIT_WORDS.contains(&word));
    (is_of_task && !is_of_limit).then_some(NamedAs::Task)
}

/// The task id in the URL of what was created: below the contract's collection it may have any form.
fn id_in_location(location: &str) -> Option<String> {
    let path = location.split(['?', '#']).next().unwrap_or_default();
    let mut segments = path.rsplit('/');
    let mut next_segment = segments.next()?;
    for segment in segments {
        if segment == TASKS && !next_segment.is_empty() {
            return percent_decode_str(next_segment).decode_utf8().ok().map(std::borrow::Cow::into_owned);
        }
        next_segment = segment;
    }
    None
}

#[cfg(test)]
#[path = "header_id_tests.rs"]
mod tests;
