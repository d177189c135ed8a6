//! Tests of the classification of responses.

use client::Contract;

use super::*;

fn http_error(status: u16, body: &str) -> CallError {
    CallError::Http(Box::new(HttpError::new(Contract::embedded(), "", status, body, None)))
}

fn refused_with(status: u16, body: &str) -> Submission {
    submission(Err(http_error(status, body)))
}

/// Statuses and errors in the service's own form, as it sends them.
#[test]
fn submission_refusals_are_classified_by_status_and_body() {
    use FailureKind::{InputModerated, Invalid, Quota, RateLimited, Transient, Unauthorized};
    use RefusalKind::{InvalidRequest, Retryable, ServiceUnusable, Throttled};
    for (status, code, message, failure_kind, refusal_kind) in [
        (400, "invalid_duration", "no", Invalid, InvalidRequest),
        (400, "input_moderated", "the prompt was refused by moderation", InputModerated, InvalidRequest),
        (403, "content_policy_violation", "no", InputModerated, InvalidRequest),
        (422, "content_filter", "no", InputModerated, InvalidRequest),
        (400, "insufficient_balance", "no", Quota, ServiceUnusable),
        (400, "unknown_field", "unknown field `credit`", Invalid, InvalidRequest),
        (401, "invalid_api_key", "no key", Unauthorized, ServiceUnusable),
        (402, "", "pay first", Quota, ServiceUnusable),
        (403, "", "your account is in arrears", Quota, ServiceUnusable),
        (404, "unknown_path", "unknown path", Invalid, ServiceUnusable),
        (413, "body_too_large", "too large", Invalid, InvalidRequest),
        (415, "", "send JSON", Invalid, InvalidRequest),
        (422, "", "no", Invalid, InvalidRequest),
        (429, "rate_limit_exceeded", "slow down", RateLimited, Throttled),
        (429, "insufficient_quota", "no", Quota, ServiceUnusable),
        (503, "", "overloaded", Transient, Retryable),
    ] {
        let code = if code.is_empty() { String::new() } else { format!(r#","code":"{code}""#) };
        let body = format!(r#"{{"error":{{"type":"api_error","message":"{message}"{code}}}}}"#);
        let Submission::Refused(refusal) = refused_with(status, &body) else {
            panic!("{status} {body} is a refusal");
        };
        assert_eq!((refusal.failure.kind, refusal.kind), (failure_kind, refusal_kind), "{status} {body}");
    }
}

/// The request may have been passed on, or accepted before the service failed to answer.
#[test]
fn submission_with_any_other_response_is_indeterminate() {
    let own_form = r#"{"error":{"message":"an error inside","type":"server_error"}}"#;
    for status in [408, 409, 410, 418, 425, 499, 500, 501, 502, 504, 520, 301] {
        assert!(
            matches!(refused_with(status, own_form), Submission::Indeterminate { task_hint: None, .. }),
            "{status}"
        );
    }
    for status in [400, 401, 402, 403, 404, 413, 415, 422, 500, 502, 503, 504] {
        for body in [
            "",
            "<html>oops</html>",
            "upstream connect error",
            r#"{"message":"x","code":1}"#,
            r#"{"error":{"message":"upstream reset before headers"}}"#,
            r#"{"error":{"message":"Bad gateway","code":503,"status":"UNAVAILABLE"}}"#,
        ] {
            assert!(
                matches!(refused_with(status, body), Submission::Indeterminate { task_hint: None, .. }),
                "{status} {body}"
            );
        }
    }
}

#[test]
fn submission_response_with_an_id_where_ids_stand_is_indeterminate_with_it() {
    for status in [400, 429, 500, 503] {
        for body in [
            r#"{"id":"task_7","error":{"message":"an error inside","type":"server_error"}}"#,
            r#"{"error":{"message":"timed out","type":"server_error"},"task_id":"task_7"}"#,
            r#"{"error":{"message":"timed out","type":"server_error"},"data":{"task_id":"task_7"}}"#,
        ] {
            let Submission::Indeterminate { task_hint, .. } = refused_with(status, body) else {
                panic!("{status} {body} names a task");
            };
            assert_eq!(task_hint, Some(TaskId("task_7".to_owned())), "{status} {body}");
        }
        let several = r#"{"id":"task_7","task_id":"task_8","error":{"message":"m","type":"server_error"}}"#;
        let submission = refused_with(status, several);
        assert!(matches!(submission, Submission::Indeterminate { task_hint: None, .. }), "{status}");
    }
}

/// Whatever its body says elsewhere, and whether or not it can be read.
#[test]
fn submission_is_throttled_by_429_with_any_other_body() {
    for body in [
        "",
        "<html>",
        "\u{1f}\u{fffd}\u{8}",
        r#"{"error":{"message":"slow down","type":"rate_limit_error","task_id":"task_7"},"status":"queued"}"#,
        r#"{"error":{"message":"task task_00000007 exists already","type":"rate_limit_error"}}"#,
        r#"{"error":{"message":"slow d"#,
    ] {
        let Submission::Refused(refusal) = refused_with(429, body) else { panic!("{body}") };
        assert_eq!(refusal.kind, RefusalKind::Throttled, "{body}");
    }
}

/// To submit it again would be to pay twice.
#[test]
fn submission_refused_as_a_duplicate_with_an_id_is_indeterminate() {
    for (message, is_open) in
        [("already accepted as cgt-20261128142319-x7k2p", true), ("the name already exists", false)]
    {
        let body = format!(r#"{{"error":{{"message":"{message}","type":"invalid_request_error"}}}}"#);
        for status in [400, 422] {
            let submission = refused_with(status, &body);
            assert_eq!(matches!(submission, Submission::Indeterminate { .. }), is_open, "{status} {body}");
        }
    }
}

/// Words that are all that it says are shown as such, anything else as it is.
#[test]
fn submission_without_known_outcome_shows_the_beginning_of_the_response() {
    let shown = |body: &str| match refused_with(500, body) {
        Submission::Indeterminate { reason, .. } => reason,
        submission => panic!("{submission:?}"),
    };
    let own_form = r#"{"error":{"message":"an error inside","type":"server_error","code":"internal"}}"#;
    assert_eq!(shown(own_form), "the service answered 500: an error inside (internal)");
    let more = r#"{"error":{"message":"an error inside","type":"server_error","job":"j-17"}}"#;
    assert_eq!(shown(more), format!("the service answered 500 Internal Server Error: {more}"));
    let prefix = "the service answered 500 Internal Server Error: ";
    assert_eq!(shown(&"x".repeat(1000)), format!("{prefix}{}…", "x".repeat(500)));
}

/// A wrong base URL or key, answered by a gateway: the run stops instead of leaving every shot to be resolved.
#[test]
fn submission_halts_after_another_servers_refusal() {
    let halts = |status, body: &str| {
        matches!(refused_with(status, body), Submission::Indeterminate { halts: true, .. })
    };
    for status in [301, 308, 401, 402, 403, 404, 405, 407, 421, 511] {
        assert!(halts(status, "<html>nginx</html>"), "{status}");
        assert!(!halts(status, r#"{"id":"task_7"}"#), "{status}");
    }
    for status in [400, 408, 500, 502, 503] {
        assert!(!halts(status, "<html>nginx</html>"), "{status}");
    }
}

/// A page with a success status, such as a web site has for every address.
#[test]
fn submission_halts_after_a_response_that_is_no_task() {
    for is_answered in [true, false] {
        let error = CallError::Indeterminate { reason: "a page".to_owned(), is_answered };
        let submission = submission(Err(error));
        let Submission::Indeterminate { halts, .. } = submission else { panic!("{submission:?}") };
        assert_eq!(halts, is_answered);
    }
}

#[test]
fn poll_result_not_found_needs_the_services_own_form() {
    let polled = |status, body: &str| poll_result(Err(http_error(status, body)));
    let own_form = r#"{"error":{"type":"api_error","message":"unknown task"}}"#;
    assert_eq!(polled(404, own_form), PollResult::NotFound { expired: false });
    assert_eq!(polled(410, own_form), PollResult::NotFound { expired: true });
    assert!(matches!(polled(403, own_form), PollResult::Unauthorized { .. }));
    for status in [401, 402, 403, 404, 410] {
        for page in ["<html>nginx</html>", "session expired", r#"{"error":{"message":"Not Found"}}"#] {
            assert!(matches!(polled(status, page), PollResult::Unreachable { .. }), "{status} {page}");
        }
    }
}

#[test]
fn download_is_expired_only_by_410_in_the_services_own_form() {
    let kind = |status, body: &str| download(http_error(status, body)).kind;
    let own_form = r#"{"error":{"type":"api_error","message":"the file has expired"}}"#;
    assert_eq!(kind(410, own_form), FailureKind::Expired);
    assert_eq!(kind(404, own_form), FailureKind::Transient, "the route may be unknown");
    for status in [404, 410] {
        for page in ["", "<html>404 Not Found nginx</html>", r#"{"error":{"message":"Not Found"}}"#] {
            assert_eq!(kind(status, page), FailureKind::Transient, "{status} {page}");
        }
    }
}

/// The status of content that is not available is unspecified (spec 4.3).
#[test]
fn download_refused_with_any_client_error_is_invalid() {
    for status in [400, 409, 422, 425] {
        let body =
            r#"{"error":{"type":"api_error","message":"the task is queued","code":"task_not_completed"}}"#;
        assert_eq!(download(http_error(status, body)).kind, FailureKind::Invalid, "{status}");
    }
}

/// Services send `error` with any status.
#[test]
fn poll_result_follows_the_status_whatever_the_error_member() {
    for (status, error, expected) in [
        ("in_progress", r#"{"message":"gpu 3 lost, rescheduled"}"#, "running"),
        ("queued", r#"{"code":0,"message":"success"}"#, "running"),
        ("in_progress", r#""none""#, "running"),
        ("rescheduled", r#"{"message":"x"}"#, "running"),
        ("completed", r#"{"message":"one frame was repeated"}"#, "completed"),
        ("failed", r#"{"message":"no"}"#, "failed"),
    ] {
        let body = format!(
            r#"{{"id":"t","status":"{status}","error":{error},"metadata":{{"url":"https://example.com/a.mp4"}}}}"#
        );
        let kind = match polled(&body) {
            PollResult::Running { .. } => "running",
            PollResult::Completed { url: Some(_), .. } => "completed",
            PollResult::Failed { .. } => "failed",
            result => panic!("{result:?}"),
        };
        assert_eq!(kind, expected, "{body}");
    }
}

fn polled(body: &str) -> PollResult {
    let task = Contract::embedded().read_task(200, body, "t").expect("a task");
    poll_result(Ok(Polled { task, poll_after: None }))
}

#[test]
fn poll_result_of_a_task_without_a_video_is_a_failure_with_its_reason() {
    for (task, kind, message) in [
        (
            r#""status":"failed","error":{"code":"output_moderated","message":"withheld"}"#,
            FailureKind::OutputModerated,
            "withheld",
        ),
        (r#""status":"failed","error":{"code":"nsfw","message":"no"}"#, FailureKind::InputModerated, "no"),
        (r#""status":"failed""#, FailureKind::Task, "the service failed the task without a reason"),
    ] {
        let result = polled(&format!(r#"{{"id":"t",{task}}}"#));
        let PollResult::Failed { failure } = result else { panic!("{task} failed") };
        assert_eq!((failure.kind, failure.message.as_str()), (kind, message), "{task}");
    }
}
