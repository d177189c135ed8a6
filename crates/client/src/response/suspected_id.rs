//! A search for what may be a task's id anywhere in an error, under names and in places that no contract describes. Too much is found
//! rather than too little: a submission that is wrongly taken for accepted waits for a person, one that is wrongly taken for refused is paid
//! for twice.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::task_id;

/// Deeper values are not searched.
const MAX_DEPTH: usize = 16;
/// Members whose value is the id of a task, in lower case without `_` and `-`.
const ID_NAMES: [&str; 8] =
    ["taskid", "taskids", "videoid", "videoids", "jobid", "generationid", "operationid", "resourceid"];
/// Members that may hold an id, but also a number of tasks or a kind: a text with a digit is one.
const TASK_NAMES: [&str; 6] = ["task", "tasks", "video", "videos", "job", "jobs"];
/// Members whose value is the id of what their object describes.
const OWN_ID_NAMES: [&str; 2] = ["id", "uuid"];
/// Members, and parts of headers' names, that describe something else that has an id.
pub(super) const OTHER_NAMES: [&str; 32] = [
    "request",
    "req",
    "trace",
    "span",
    "correlation",
    "session",
    "user",
    "account",
    "organization",
    "org",
    "project",
    "team",
    "key",
    "apikey",
    "model",
    "limit",
    "quota",
    "policy",
    "plan",
    "client",
    "customer",
    "tenant",
    "workspace",
    "app",
    "template",
    "type",
    "log",
    "worker",
    "node",
    "region",
    "zone",
    "endpoint",
];
/// Members whose text is a name, whatever it begins with: the model `video-01`.
const NAMES_OF_KINDS: [&str; 2] = ["model", "type"];
/// Path segments below which services have tasks.
const COLLECTIONS: [&str; 5] = ["videos", "tasks", "jobs", "generations", "operations"];
/// What precedes an id in prose.
const LABELS: [&str; 5] = ["task", "video", "job", "generation", "operation"];
/// What may be between such a word and the id.
const FILLERS: [&str; 7] = ["id", "is", "with", "number", "no", "#", "="];
/// Such words between them, at most.
const MAX_FILLERS: usize = 3;
/// Digits and letters of an id behind such a word, at least: `video 480p` is none.
const MIN_ID_LENGTH: usize = 8;
/// Characters of a word that is looked for in the request, at least: shorter ones may be in it by chance.
const MIN_QUOTED_LENGTH: usize = 6;
/// Characters of an id with dashes, at least.
const MIN_UUID_LENGTH: usize = 20;
/// What a kind of task makes a video from, and what it makes: `i2v`, `text2video`.
const MEDIA: [&str; 16] = [
    "t", "i", "ti", "v", "r", "s", "text", "txt", "image", "img", "video", "vid", "frame", "frames", "audio",
    "speech",
];
/// Units of lengths, rates and sizes of videos.
const UNITS: [&str; 4] = ["p", "k", "s", "fps"];
/// Characters of the words beside that of a kind (`t2v-A14B`), at most: an id is longer.
const MAX_KIND_WORD_LENGTH: usize = 5;

/// What may be the id of a task in a value, and is not quoted from the request: see [`is_quoted`].
pub(super) fn suspected_id(value: &Value, request: &str) -> Option<String> {
    in_value(value, None, request, 0)
}

/// What may be the id of a task in a text: in a URL, or behind a word such as `task`.
pub(super) fn suspected_id_in_text(text: &str, request: &str) -> Option<String> {
    let ids = urls_in(text).flat_map(ids_in_url).chain(ids_behind_labels(text));
    ids.into_iter().find(|id| !is_quoted(id, request))
}

/// The parts of a text, or of a header's value, that may be URLs.
pub(super) fn urls_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`<>()[],;".contains(c))
        .filter(|part| part.contains('/') || has_encoded_slash(part))
}

fn has_encoded_slash(text: &str) -> bool {
    text.contains("%2F") || text.contains("%2f")
}

/// Whether a word of an error is one of the request that it answers. A task that the request has created has a new id; a number may be equal to
/// one of the request by chance.
pub(super) fn is_quoted(id: &str, request: &str) -> bool {
    let is_word = |id: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        request.match_indices(id).any(|(start, _)| {
            !request[..start].ends_with(is_part) && !request[start + id.len()..].starts_with(is_part)
        })
    };
    // As part of a URL it is encoded.
    id.len() >= MIN_QUOTED_LENGTH
        && id.contains(char::is_alphabetic)
        && (is_word(id) || task_id::path_segment(id).is_ok_and(|encoded| encoded != id && is_word(&encoded)))
}

/// Whether a URL is in the request as it is, and not as the beginning of a longer one.
pub(super) fn is_quoted_url(url: &str, request: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || "/-_.%?#=&".contains(c);
    !url.is_empty()
        && request.match_indices(url).any(|(start, _)| !request[start + url.len()..].starts_with(goes_on))
}

/// `name` is that of the member that the value is in.
fn in_value(value: &Value, name: Option<&str>, request: &str, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let is_new = |id: &String| !is_quoted(id, request);
    match value {
        Value::Object(object) => {
            let is_other = name.is_some_and(|name| OTHER_NAMES.contains(&name));
            let has_tasks = name.is_some_and(|name| TASK_NAMES.contains(&name));
            object.iter().find_map(|(verbatim, value)| {
                let name = normalized(verbatim);
                let is_own_id = depth > 0 && OWN_ID_NAMES.contains(&name.as_str()) && !is_other;
                let own = if is_own_id { id_text(value).filter(is_new) } else { None };
                // Tasks by their ids.
                let is_id = has_tasks && has_prefix_of_ids(verbatim);
                let own = own.or_else(|| is_id.then(|| verbatim.clone()).filter(is_new));
                own.or_else(|| in_value(value, Some(&name), request, depth + 1))
            })
        }
        Value::Array(items) => items.iter().find_map(|item| in_value(item, name, request, depth + 1)),
        Value::String(text) => {
            let is_named = |names: &[&str]| name.is_some_and(|name| names.contains(&name));
            let has_digit = text.contains(|c: char| c.is_ascii_digit());
            let is_id = is_named(&ID_NAMES)
                || (is_named(&TASK_NAMES) && has_digit && !is_kind(text))
                || (has_prefix_of_ids(text) && !is_named(&NAMES_OF_KINDS));
            let own = if is_id { id_text(value).filter(is_new) } else { None };
            own.or_else(|| suspected_id_in_text(text, request))
        }
        Value::Number(_) => name.filter(|name| ID_NAMES.contains(name)).and_then(|_| id_text(value)),
        Value::Bool(_) | Value::Null => None,
    }
}

/// Whether a member's name says that its value is the id of a task.
fn is_name_of_id(name: &str) -> bool {
    ID_NAMES.contains(&normalized(name).as_str())
}

/// In lower case without `_` and `-`.
pub(super) fn normalized(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// A text of one word, or a number.
fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() && !text.trim().contains(char::is_whitespace) => {
            Some(text.clone())
        }
        // The digits of a number that is too large are not known here.
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// Whether a text can only be an id: `task-17`, `vid_8f`, and not `task_id`, `video_url` or `task_limit_10`.
fn has_prefix_of_ids(text: &str) -> bool {
    let prefixes = ["task", "vid", "video", "job", "gen", "generation"];
    text.split_once(['_', '-']).is_some_and(|(prefix, rest)| {
        let digits = rest.bytes().filter(u8::is_ascii_digit).count();
        let is_one_word = !rest.contains(['_', '-', ' ']) && digits > 0;
        let is_uuid = rest.len() >= MIN_UUID_LENGTH && !rest.contains(' ') && digits >= 4;
        prefixes.contains(&prefix) && (is_one_word || is_uuid)
    })
}

/// What may be ids of tasks in a URL or path: the segment that follows a collection of tasks, if it has a digit, as ids have and pages have not
/// (the name of a file and a version, `v2`, are none); and a parameter that is called a task's id. Or those in a URL that is encoded in it, as that
/// of a page which leads to the task.
pub(super) fn ids_in_url(url: &str) -> Vec<String> {
    let ids = ids_in_plain_url(url);
    if !ids.is_empty() || !has_encoded_slash(url) {
        return ids;
    }
    let decoded = percent_decode_str(url).decode_utf8_lossy();
    decoded.split(['?', '&', '=']).flat_map(ids_in_plain_url).collect()
}

fn ids_in_plain_url(url: &str) -> Vec<String> {
    let end = ['.', ':'];
    let url = url.split('#').next().unwrap_or_default();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let segments: Vec<&str> = path.split('/').collect();
    let path_ids = segments.windows(2).enumerate().filter_map(|(index, pair)| {
        let (collection, segment) = (pair[0], pair[1].trim_end_matches(end));
        let is_version =
            segment.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|c| c.is_ascii_digit()));
        let may_be_id = segment.contains(|c: char| c.is_ascii_digit())
            && !is_version
            && !segment.contains('.')
            // `10 tasks/60s` is no path.
            && (index > 0 || has_form_of_id(segment));
        (COLLECTIONS.contains(&collection) && may_be_id).then_some(segment)
    });
    let parameters = query.split('&').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim_end_matches(end);
        (is_name_of_id(name) && !value.is_empty()).then_some(value)
    });
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    path_ids.chain(parameters).map(decoded).collect()
}

/// What may be ids of tasks behind a word such as `task`: `task t17 was accepted`, `task_id=t17`, `the job with id 8f120077`. Limits (`10`) and
/// kinds of tasks (`text2video`) are none.
fn ids_behind_labels(text: &str) -> Vec<String> {
    let is_mark = |c: char| "\"'`,;:.()[]{}<>".contains(c);
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(is_mark))
        .filter(|word| !word.is_empty())
        .collect();
    let is_filler = |word: &str| FILLERS.iter().any(|filler| word.eq_ignore_ascii_case(filler));
    let ids = words.iter().enumerate().filter_map(|(index, word)| {
        let (label, joined) = match word.split_once(['=', ':']) {
            Some((label, id)) => (label.trim_matches(is_mark), Some(id.trim_matches(is_mark))),
            None => (*word, None),
        };
        let label = normalized(label);
        let label = label.strip_suffix("id").unwrap_or(&label);
        if !LABELS.contains(&label) {
            return (word.starts_with("task") && has_prefix_of_ids(word)).then_some(*word);
        }
        let next = || words[index + 1..].iter().take(MAX_FILLERS + 1).find(|word| !is_filler(word)).copied();
        let id = joined.filter(|id| !id.is_empty()).or_else(next)?;
        let is_of_task = label == "task" && id.contains(char::is_alphabetic) && count_digits(id) >= 2;
        let is_id = has_prefix_of_ids(id) || has_form_of_id(id) || (is_of_task && is_one_word(id));
        is_id.then_some(id)
    });
    ids.map(str::to_owned).collect()
}

fn count_digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Digits, and as long as ids are.
fn has_form_of_id(word: &str) -> bool {
    count_digits(word) >= 2 && word.len() >= MIN_ID_LENGTH && is_one_word(word)
}

/// Whether a text that is of a task can only be its id, and is no number, time or kind.
pub(super) fn has_form_of_task_id(text: &str) -> bool {
    let is_id =
        has_form_of_id(text) && text.contains(char::is_alphabetic) && !is_kind(text) && !is_time(text);
    !text.contains(char::is_whitespace) && (has_prefix_of_ids(text) || is_id)
}

/// Neither a size nor a URL, a path or the name of a file.
fn is_one_word(word: &str) -> bool {
    !is_size(word) && !word.contains(['/', '.'])
}

/// `1280x720`.
fn is_size(word: &str) -> bool {
    word.split_once('x').is_some_and(|(width, height)| [width, height].iter().all(|side| is_number(side)))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|c| c.is_ascii_digit())
}

/// Whether a text names a kind of task, or the length, rate or size of a video: `text2video`, `t2v-A14B`, `video-720p`.
fn is_kind(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let words = || text.split(|c: char| matches!(c, '-' | '_') || c.is_whitespace());
    let is_of_media = |word: &str| {
        word.split_once('2').is_some_and(|(from, to)| MEDIA.contains(&from) && MEDIA.contains(&to))
    };
    let has_media = words().any(is_of_media);
    let is_amount = |word: &str| {
        UNITS.iter().any(|unit| {
            word.strip_suffix(unit).is_some_and(|number| (1..=4).contains(&number.len()) && is_number(number))
        })
    };
    words().all(|word| {
        count_digits(word) == 0
            || is_of_media(word)
            || (has_media && word.len() <= MAX_KIND_WORD_LENGTH)
            || is_amount(word)
            || is_size(word)
    })
}

/// `2026-11-27T04:22:42Z`, also without punctuation.
fn is_time(text: &str) -> bool {
    let compact = text.replace('-', "");
    compact.split_once('T').is_some_and(|(date, time)| {
        date.len() == 8 && is_number(date) && time.chars().all(|c| c.is_ascii_digit() || ":+Z".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::suspected_id;

    #[test]
    fn suspected_id_under_any_name_and_at_any_depth() {
        for value in [
            json!({"error": {"message": "busy", "type": "server_error", "task": "t1"}}),
            json!({"error": {"message": "busy", "video": "t1"}}),
            json!({"task": "t1", "error": {"message": "busy"}}),
            json!({"error": {"message": "busy", "tasks": [{"id": "t1"}]}}),
            json!({"error": {"message": "busy", "task_ids": ["t1"]}}),
            json!({"error": {"message": "busy", "details": [{"field": "x"}, {"TaskId": "t1"}]}}),
            json!({"error": {"message": "busy", "task-id": "t1"}}),
            json!({"error": {"message": "busy", "generationId": "t1"}}),
            json!({"error": {"message": "busy", "innererror": {"uuid": "t1"}}}),
            json!({"error": {"message": "busy", "context": {"info": {"id": "t1"}}}}),
            json!({"error": {"message": "busy", "url": "https://a.example/v1/videos/t1?x=1"}}),
            json!({"error": {"message": "poll /v1/videos/t1 for the result"}}),
        ] {
            assert_eq!(suspected_id(&value, "").as_deref(), Some("t1"), "{value}");
        }
        for (value, id) in [
            (json!({"error": {"code": "task-1"}}), "task-1"),
            (json!({"error": {"param": "vid_8f"}}), "vid_8f"),
            (json!({"error": {"task": "t2v-20261127-8f120077"}}), "t2v-20261127-8f120077"),
            (json!({"error": {"task": "abcd2efgh"}}), "abcd2efgh"),
            (json!({"error": {"message": "video vid8f120077 is rendered"}}), "vid8f120077"),
            (json!({"error": {"message": "job 8f120077-aa is queued"}}), "8f120077-aa"),
            (json!({"error": {"message": "busy", "job_id": 17}}), "17"),
            (json!({"error": {"reason": "task id: t17 was accepted"}}), "t17"),
            (json!({"error": {"message": "the job with id = 8f120077 is queued"}}), "8f120077"),
            (json!({"error": {"message": "the body was {\"task_id\":\"t17\"}"}}), "t17"),
            (json!({"error": {"message": "see https://a.example/query?task_id=t%2F17."}}), "t/17"),
            (json!({"error": {"message": "see /v1/videos/generations/t17"}}), "t17"),
            (json!({"error": {"message": "busy", "operation_id": "o1"}}), "o1"),
            (json!({"error": {"message": "busy", "tasks": {"task_17": {"status": "queued"}}}}), "task_17"),
        ] {
            assert_eq!(suspected_id(&value, "").as_deref(), Some(id), "{value}");
        }
    }

    /// The frame of another task, for instance.
    #[test]
    fn suspected_id_is_not_a_word_of_the_request() {
        let request = r#"{"image_url":"https://a.example/v1/videos/task_12/last_frame.png","seed":1234567}"#;
        let value = json!({"error": {"message": "could not fetch https://a.example/v1/videos/task_12/last_frame.png"}});
        assert_eq!(suspected_id(&value, request), None);
        let value = json!({"error": {"message": "task task_123456 continues /v1/videos/task_12"}});
        assert_eq!(suspected_id(&value, request).as_deref(), Some("task_123456"));
        // By chance a short id is in it, a longer one a part of another word, and the seed is a number that counts up.
        for id in ["12", "123456", "1234567"] {
            assert_eq!(suspected_id(&json!({"error": {"job_id": id}}), request).as_deref(), Some(id));
        }
    }

    #[test]
    fn suspected_id_is_none_in_ordinary_errors() {
        for value in [
            json!({"error": {"message": "too long", "type": "invalid_request_error", "param": "seconds", "code": "invalid_duration"}}),
            json!({"error": {"message": "slow down", "type": "rate_limit_error", "request_id": "req_8f120077"}}),
            json!({"error": {"message": "the task limit of 10 is reached", "code": "task_limit_10"}, "status": 429}),
            json!({"error": {"message": "video 480p is not available"}, "doc_url": "https://docs.example/videos/errors"}),
            json!({"error": {"message": "try again in 1.5 s", "retry_after": 2, "request": {"id": "r1"}}}),
            json!({"error": {"message": "no", "details": [{"field": "task_type", "issue": "unknown"}]}}),
            json!({"error": {"message": "a video of 10 seconds at 1920x1080 costs more", "param": "video_url"}}),
            json!({"error": {"message": "video 1280x720 is not supported by this model"}}),
            json!({"error": {"message": "failed to fetch video https://bucket.example/ref_01.mp4: 403"}}),
            json!({"error": {"message": "cannot download https://cdn.example/videos/shot01.png"}}),
            json!({"error": {"message": "too many", "limit": {"tasks": 10}, "usage": {"videos": 3}}}),
            json!({"error": {"message": "no", "task": "text-to-video", "fields": {"video": "required"}}}),
            json!({"error": {"message": "no", "organization": {"id": "org-1"}, "model": "video-01"}}),
            json!({"error": {"message": "no", "task": "text2video", "video": "720p"}, "job": "t2v-A14B"}),
            json!({"error": {"message": "no", "video": "1280x720", "worker": {"id": "w1"}}}),
            json!({"error": {"message": "slow", "code": "video_generation_rate_limit_exceeded_v2"}}),
            json!({"error": {"message": "see https://docs.example/videos/v2/errors"}}),
            json!({"error": {"message": "no", "job_id": 1.234e22}}),
            json!({"error": {"message": "no more than 10 tasks/60s or 120 videos/24h"}}),
            json!({"error": {"message": "the task is too long: 1280x720 is too large for a task"}}),
            json!([]),
            json!("task"),
        ] {
            assert_eq!(suspected_id(&value, ""), None, "{value}");
        }
    }
}
