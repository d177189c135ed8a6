//! Tests of the search for a task id in headers.

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
        ("set-cookie", "task_id=t1; Path=/; HttpOnly", Some("t1")),
        ("set-cookie", "X-Video-Id=t1", Some("t1")),
        ("set-cookie", "session=8f120077a1; Path=/v1/videos", None),
        ("set-cookie", "task_session_id=8f120077a1", None),
        ("location", "https%3A%2F%2Fa.example%2Fv1%2Fvideos%2Ft1", Some("t1")),
        (
            "x-poll-url",
            "https://a.example/wait?for=https%3a%2f%2fa.example%2fv1%2fvideos%2ft1%3fx%3d1",
            Some("t1"),
        ),
        ("etag", "\"8f120077a1b2\"", None),
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
        ("x-task", "/render/task-0001"),
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
