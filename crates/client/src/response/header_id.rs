//! Search for a task id in the headers of a response.

use percent_encoding::percent_decode_str;
use reqwest::header::HeaderMap;

use super::suspected_id::{OTHER_NAMES, ids_in_url, normalized, urls_in};

/// What the names of headers that give the id of a task contain, beside `id` at their end.
const ID_HEADERS: [&str; 6] = ["task", "video", "job", "generation", "operation", "resource"];
/// Headers with the id of a task, or with a number of tasks or a kind: a text with a digit and a letter is an id.
const TASK_HEADERS: [&str; 2] = ["task", "job"];
/// The collection of the contract's tasks (spec 4.2).
const TASKS: &str = "videos";

/// The task id that the headers of a response name, the most reliable first: in the URL of what the request has created, in a header of its
/// own, or in any other URL.
#[must_use]
pub(crate) fn id_in_headers(headers: &HeaderMap) -> Option<String> {
    let named = |is_named: fn(&str) -> bool| {
        texts(headers).filter(move |(name, _)| is_named(name)).map(|(_, value)| value)
    };
    let mut created = named(is_of_created).flat_map(|value| ids_in_urls(&value));
    let mut own = texts(headers).filter_map(|(name, value)| id_of(&name, &value));
    let mut others = named(|name| !is_of_created(name)).flat_map(|value| ids_in_urls(&value));
    let in_url = created.next().or_else(|| named(is_of_created).find_map(|value| id_in_location(&value)));
    in_url.or_else(|| own.next()).or_else(|| others.next())
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
            id_of(&name, &value).into_iter().collect()
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

/// The id that a header is for: `X-Task-Id`, and not `X-Job-Trace-Id`.
fn id_of(name: &str, value: &str) -> Option<String> {
    let value = value.trim_matches('"');
    let name = normalized(name);
    let has = |test: fn(char) -> bool| value.contains(test);
    let is_id = if let Some(of) = name.strip_suffix("id") {
        ID_HEADERS.iter().any(|part| of.contains(part))
            && !OTHER_NAMES.iter().any(|other| of.ends_with(other))
    } else {
        TASK_HEADERS.iter().any(|end| name.ends_with(end))
            && !has(char::is_whitespace)
            && has(|c| c.is_ascii_digit())
            && has(char::is_alphabetic)
    };
    (is_id && !value.is_empty()).then(|| value.to_owned())
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

    use super::{id_in_headers, id_in_location};

    #[test]
    fn id_in_headers_is_that_of_a_url_or_of_a_header_of_its_own() {
        let named = |name: &'static str, value: &'static str| {
            let header = (HeaderName::from_static(name), HeaderValue::from_static(value));
            id_in_headers(&HeaderMap::from_iter([header]))
        };
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
            ("x-task", "t1", Some("t1")),
            ("x-status-url", "https://a.example/v1/jobs/t1/status", Some("t1")),
            ("x-video-request-id", "r1", None),
            ("x-job-trace-id", "r1", None),
            ("x-task", "text-to-video", None),
            ("x-ratelimit-limit-task", "10", None),
            ("x-task-id", "", None),
        ] {
            assert_eq!(named(name, value).as_deref(), id, "{name}: {value}");
        }
    }

    #[test]
    fn id_in_headers_is_in_any_of_several_with_one_name() {
        let mut headers = HeaderMap::new();
        for value in ["<https://docs.example/errors>; rel=help", "</v1/videos/t1>; rel=item"] {
            headers.append("link", HeaderValue::from_static(value));
        }
        assert_eq!(id_in_headers(&headers).as_deref(), Some("t1"));
        headers.clear();
        headers.append("x-task-id", HeaderValue::from_static(""));
        headers.append("x-task-id", HeaderValue::from_bytes(b"t\xc3\xa9").expect("a value"));
        assert_eq!(id_in_headers(&headers).as_deref(), Some("té"));
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
