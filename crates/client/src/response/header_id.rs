//! Search for a task id in the headers of a response.

use percent_encoding::percent_decode_str;
use reqwest::header::{HeaderMap, TRAILER};

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

/// The ids that a header is for, of a list of items with parameters (RFC 9651).
fn ids_of(name: &str, value: &str) -> Vec<String> {
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
        let of = normalized(before) + stem;
        let is_of_task = ID_HEADERS.iter().any(|part| of.contains(part));
        let is_of_other = OTHER_NAMES.iter().chain(&OTHER_HEADERS).any(|other| of.ends_with(other));
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
    let mut below = segments.next()?;
    for segment in segments {
        if segment == TASKS && !below.is_empty() {
            return percent_decode_str(below).decode_utf8().ok().map(std::borrow::Cow::into_owned);
        }
        below = segment;
    }
    None
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{id_in_headers, id_in_location, may_trailers_name_task};

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))])
    }

    #[test]
    fn id_in_headers_is_that_of_a_url_or_of_a_header_of_its_own() {
        for (name, value, id) in [
            ("location", "/v1/videos/t1", Some("t1")),
            ("content-location", "https://a.example/v1/videos/t1?x=1", Some("t1")),
            ("operation-location", "/v1/videos/t1", Some("t1")),
            ("x-task-id", " t1 ", Some("t1")),
            ("x-request-id", "r1", None),
            ("x-taskid", "t1", Some("t1")),
            ("x-generation-id", "t1", Some("t1")),
            ("link", "</v1/videos/t1>; rel=\"monitor\"", Some("t1")),
            ("location", "/v1/tasks/t1", Some("t1")),
            ("operation-location", "https://a.example/operations/t1", Some("t1")),
            ("location", "/login", None),
            ("link", "<https://docs.example/videos/rate-limits>; rel=\"help\"", None),
            ("link", "<https://docs.example/errors>; rel=help, </v1/videos/t1>; rel=item", Some("t1")),
            ("location", "/v1/videos/generations/t1", Some("t1")),
            ("location", "/v1/query?task_id=t%2F1", Some("t/1")),
            ("link", "</v1/videos/t%2F1>; rel=item", Some("t/1")),
            ("azure-asyncoperation", "https://a.example/operations/t1", Some("t1")),
            ("x-acme-operation-id", "t1", Some("t1")),
            ("x-acme-job-id", "\"t1\"", Some("t1")),
            ("x-task", "task_1", Some("task_1")),
            ("x-job", "\"8f120077\"; state=queued", Some("8f120077")),
            (
                "x-queued-task",
                "550e8400-e29b-41d4-a716-446655440000",
                Some("550e8400-e29b-41d4-a716-446655440000"),
            ),
            ("x-queue-task-id", "t1", Some("t1")),
            ("x-task-uuid", "t1", Some("t1")),
            ("x-taskguid", "t1", Some("t1")),
            ("x-task-ids", "t1, t2", Some("t1")),
            ("x-status-url", "https://a.example/v1/jobs/t1/status", Some("t1")),
            ("x-video-request-id", "r1", None),
            ("x-job-trace-id", "r1", None),
            ("x-task", "text-to-video", None),
            ("x-ratelimit-limit-task", "10", None),
            ("x-task-id", "", None),
        ] {
            assert_eq!(id_in_headers(&headers(name, value), "").as_deref(), id, "{name}: {value}");
        }
    }

    #[test]
    fn id_in_headers_is_none_in_those_of_limits_kinds_and_other_things() {
        for (name, value) in [
            ("x-task", "t1"),
            ("x-task", "t2v"),
            ("x-task", "text2video"),
            ("x-task", "t2v-A14B-720p"),
            ("x-task", "/tmp/render-0001"),
            ("x-ratelimit-reset-task", "60s"),
            ("x-ratelimit-limit-job", "10;w=3600"),
            ("x-ratelimit-limit-job", "8f120077"),
            ("x-quota-task", "8f120077"),
            ("x-max-task", "10;window=3600"),
            ("x-next-job", "2026-11-27T04:22:42Z"),
            ("x-next-job", "20261127T042242Z"),
            ("x-next-job", "Fri, 27 Nov 2026 04:22:42 GMT"),
            ("x-job", "1795225551000"),
            ("x-job-queue-id", "8f120077"),
            ("x-task-type-id", "8f120077"),
            ("x-video-tenant-id", "8f120077"),
            ("x-job-group-id", "8f120077"),
            ("x-generation-log-id", "8f120077"),
            ("x-job-worker-id", "8f120077"),
            ("x-task-region-id", "8f120077"),
            ("x-video-request-uuid", "8f120077"),
            ("x-video-requestguid", "8f120077"),
            ("x-job-session-uid", "8f120077"),
            ("x-video-grid", "2x2"),
            ("x-job-paid", "true"),
        ] {
            assert_eq!(id_in_headers(&headers(name, value), ""), None, "{name}: {value}");
        }
    }

    #[test]
    fn id_in_headers_is_not_quoted_from_the_request() {
        let request = r#"{"first_frame":"https://a.example/v1/videos/task_12/last_frame.png"}"#;
        for (name, value, id) in [
            ("x-failed-url", "https://a.example/v1/videos/task_12/last_frame.png", None),
            ("link", "</v1/videos/task_12>; rel=\"related\"", None),
            ("x-source-video-id", "task_12", None),
            ("x-source-task", "task_12", None),
            ("content-location", "https://a.example/v1/videos/task_12/last_frame.png", None),
            ("link", "</v1/videos/task_12>; rel=up, </v1/videos/task_13>; rel=item", Some("task_13")),
            ("x-task-id", "task_12, task_13", Some("task_13")),
            // What was created has this id, whoever chose it.
            ("location", "/v1/videos/task_12", Some("task_12")),
        ] {
            assert_eq!(id_in_headers(&headers(name, value), request).as_deref(), id, "{name}: {value}");
        }
    }

    #[test]
    fn trailers_may_name_a_task_by_their_names() {
        for (names, may_name) in [
            ("Server-Timing", false),
            ("Expires, X-Checksum-Sha256, Grpc-Trailer-Content-Type", false),
            ("Grpc-Status, Grpc-Message", false),
            ("X-Video-Request-Id", false),
            ("X-RateLimit-Reset-Task", false),
            ("", false),
            ("X-Task-Id", true),
            ("Server-Timing, x-job", true),
            ("Location", true),
            ("Server-Timing,Link", true),
            ("X-Poll-URL", true),
        ] {
            assert_eq!(may_trailers_name_task(&headers("trailer", names)), may_name, "{names}");
        }
        assert!(!may_trailers_name_task(&HeaderMap::new()));
    }

    #[test]
    fn id_in_headers_is_in_any_of_several_with_one_name() {
        let mut headers = HeaderMap::new();
        for value in ["<https://docs.example/errors>; rel=help", "</v1/videos/t1>; rel=item"] {
            headers.append("link", HeaderValue::from_static(value));
        }
        assert_eq!(id_in_headers(&headers, "").as_deref(), Some("t1"));
        headers.clear();
        headers.append("x-task-id", HeaderValue::from_static(""));
        headers.append("x-task-id", HeaderValue::from_bytes(b"t\xc3\xa9").expect("a value"));
        assert_eq!(id_in_headers(&headers, "").as_deref(), Some("té"));
    }

    #[test]
    fn id_in_location_is_the_segment_below_videos() {
        for (location, id) in [
            ("/v1/videos/t1", Some("t1")),
            ("https://api.example.com/gateway/v1/videos/t%2F1?x=/videos/no", Some("t/1")),
            ("/v1/videos/t1/content", Some("t1")),
            ("/v1/videos", None),
            ("/v1/videos/", None),
            ("/login?next=/v1/videos/t1", None),
            ("", None),
        ] {
            assert_eq!(id_in_location(location).as_deref(), id, "{location}");
        }
    }
}
