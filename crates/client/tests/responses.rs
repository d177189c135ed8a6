//! Decoding of arbitrary and damaged responses: no panic, and an id is read where ids stand.

use client::{ErrorObject, HttpError, Status, TaskResponse};
use proptest::{collection, prelude::*};
use serde_json::{Value, json};

proptest! {
    #[test]
    fn decode_arbitrary_text_does_not_panic(bytes in collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = (TaskResponse::decode(&text, None), HttpError::new(409, &text, None), ErrorObject::decode(&text));
        if let Ok(task) = TaskResponse::decode(&text, Some("asked")) {
            prop_assert_eq!(task.id, "asked");
        }
    }

    #[test]
    fn decode_task_in_envelope_is_the_task(id in "[a-z0-9_]{1,20}", name in "id|task_id", wrapper in "data|task|output") {
        let text = json!({ "code": 200, "message": "success", wrapper: { name: id, "status": "queued" } }).to_string();
        let response = TaskResponse::decode(&text, None).expect("there is an id");
        prop_assert_eq!(&response.id, &id);
        prop_assert_eq!(response.status, Status::Queued);
        prop_assert_eq!(HttpError::new(503, &text, None).task_hint, Some(id));
    }
}

#[test]
fn decode_task_in_the_contracts_form_reads_all_fields() {
    let body = json!({
        "id": "task_1", "object": "video", "model": "modelb-video-480p", "status": "completed", "progress": 100,
        "created_at": 1_795_225_551_000_i64, "completed_at": 1_795_225_559_000_i64, "expires_at": 1_795_311_959_000_i64,
        "seconds": "5", "size": "854x480",
        "metadata": { "url": "https://example.com/a.mp4", "last_frame_url": "https://example.com/a.png", "other": 1 },
    });
    let text = body.to_string();
    let response = TaskResponse::decode(&text, Some("task_1")).expect("a task");
    assert_eq!(
        response,
        TaskResponse {
            id: "task_1".into(),
            status: Status::Completed,
            progress: Some(100),
            model: Some("modelb-video-480p".into()),
            created_at_ms: Some(1_795_225_551_000),
            completed_at_ms: Some(1_795_225_559_000),
            expires_at_ms: Some(1_795_311_959_000),
            url: Some("https://example.com/a.mp4".into()),
            last_frame_url: Some("https://example.com/a.png".into()),
            size: Some("854x480".into()),
            seconds: Some("5".into()),
            error: None,
            poll_after: None,
        }
    );
}

#[test]
fn decode_task_as_gateways_send_it_is_normalized() {
    let read = |body: Value| TaskResponse::decode(&body.to_string(), Some("t")).expect("a task");
    assert_eq!(read(json!({ "id": "t", "status": "IN-PROGRESS" })).status, Status::InProgress);
    assert_eq!(read(json!({ "id": "t", "status": "uploading" })).status, Status::Unknown("uploading".into()));
    assert_eq!(read(json!({ "id": "t" })).status, Status::Unknown(String::new()));
    assert_eq!(read(json!({ "id": "t", "progress": "37%" })).progress, Some(37));
    assert_eq!(read(json!({ "id": "t", "progress": 250 })).progress, Some(100));
    assert_eq!(read(json!({ "id": "t", "progress": null })).progress, None);
    assert_eq!(
        read(json!({ "id": "t", "created_at": 1_795_225_551 })).created_at_ms,
        Some(1_795_225_551_000)
    );
    assert_eq!(read(json!({ "id": "t", "completed_at": 0 })).completed_at_ms, None);
    assert_eq!(
        read(json!({ "id": "t", "url": "https://a.test/v" })).url.as_deref(),
        Some("https://a.test/v")
    );
    assert_eq!(read(json!({ "id": "t", "metadata": { "url": "" } })).url, None);
    assert_eq!(read(json!({ "id": "t", "seconds": 5 })).seconds.as_deref(), Some("5"));
}

#[test]
fn decode_task_failure_in_every_supported_form() {
    let failure = |body: Value| {
        let task = TaskResponse::decode(&body.to_string(), Some("t")).expect("a task");
        task.error.map(|error| (error.message, error.code))
    };
    let expected = Some(("no".to_owned(), Some("moderated".to_owned())));
    assert_eq!(
        failure(json!({ "id": "t", "status": "failed", "error": { "message": "no", "code": "moderated" } })),
        expected
    );
    assert_eq!(
        failure(
            json!({ "id": "t", "status": "completed", "error": { "error": { "message": "no", "code": "moderated" } } })
        ),
        expected
    );
    assert_eq!(
        failure(json!({ "id": "t", "status": "failed", "message": "no", "code": "moderated" })),
        expected
    );
    assert_eq!(
        failure(json!({ "id": "t", "status": "failed", "error": "no" })),
        Some(("no".to_owned(), None))
    );
    for none in [
        json!({ "id": "t", "status": "failed" }),
        json!({ "id": "t", "status": "queued", "error": {} }),
        json!({ "id": "t", "status": "queued", "message": "hello" }),
    ] {
        assert_eq!(failure(none.clone()), None, "{none}");
    }
}

#[test]
fn decode_body_without_task_is_an_error() {
    for body in [
        "<html><title>502 Bad Gateway</title></html>",
        r#"{"error":{"message":"try later"}}"#,
        r#"{"id":"t1","object":"vid"#,
        r#"{"id":"t1","status":"queued"} <html>"#,
        r#"{"id":"t1","eta":NaN}"#,
    ] {
        for polled in [Some("t1"), None] {
            let reason = TaskResponse::decode(body, polled).expect_err("no task");
            assert_eq!(reason, "the response contains no task", "{body}");
        }
    }
    for body in ["", " \r\n"] {
        let reason = TaskResponse::decode(body, None).expect_err("no task");
        assert_eq!(reason, "the response is empty");
    }
}

/// As the contract says, and as services send it (new-api, `MiniMax`, `DashScope`, Ark); an id anywhere else is none.
#[test]
fn decode_submission_reads_the_id_where_ids_stand() {
    for (body, id) in [
        (r#"{"id":"t1","object":"video","status":"queued"}"#, "t1"),
        ("\u{feff} {\"id\":\"t1\"}", "t1"),
        (r#"{"id":" spaced = +@é"}"#, " spaced = +@é"),
        (r#"{"id":17}"#, "17"),
        (r#"{"id":18446744073709551615}"#, "18446744073709551615"),
        (r#"{"task_id":"t1","id":""}"#, "t1"),
        (r#"{"id":"t1","task_id":"t1","object":"video","status":"queued"}"#, "t1"),
        (r#"{"code":"success","message":"","data":{"task_id":"t1","status":"NOT_START"}}"#, "t1"),
        (r#"{"task":{"id":"t1","status":"running"}}"#, "t1"),
        (r#"{"output":{"task_id":"t1","task_status":"PENDING"},"request_id":"r1"}"#, "t1"),
        (r#"{"task_id":"t1","base_resp":{"status_code":0}}"#, "t1"),
    ] {
        assert_eq!(TaskResponse::decode(body, None).expect("a task").id, id, "{body}");
    }
    for body in [
        r#"{"status":"queued"}"#,
        r#"{"id":""}"#,
        r#"{"id":{}}"#,
        r#"{"id":12345678901234567890123}"#,
        r#"{"task_id":"","base_resp":{"status_code":2013}}"#,
        r#"{"request_id":"r1","message":"task t17 was accepted"}"#,
        r#"{"error":{"message":"busy","task_id":"t1"}}"#,
        r#"{"metadata":{"id":"t1"}}"#,
        r#"[{"id":"t1"}]"#,
        r#"<html><a href="/v1/videos/8f120077">wait</a></html>"#,
    ] {
        assert!(TaskResponse::decode(body, None).is_err(), "{body}");
        let error = HttpError::new(503, body, None);
        assert!(!error.may_have_task && error.task_hint.is_none(), "{body}");
    }
}

#[test]
fn decode_task_reads_state_and_url_where_services_have_them() {
    let read = |body: &str| {
        let task = TaskResponse::decode(body, Some("t")).expect("a task");
        (task.status, task.url)
    };
    let url = Some("https://a.test/v.mp4".to_owned());
    for body in [
        r#"{"id":"t","status":"completed","metadata":{"url":"https://a.test/v.mp4"}}"#,
        r#"{"id":"t","status":"completed","metadata":{"url":""},"url":"https://a.test/v.mp4"}"#,
        r#"{"id":"t","status":"completed","video_url":"https://a.test/v.mp4"}"#,
        r#"{"id":"t","status":"completed","content":{"video_url":"https://a.test/v.mp4"}}"#,
        r#"{"code":"success","data":{"task_id":"t","status":"COMPLETED","result_url":"https://a.test/v.mp4"}}"#,
        r#"{"output":{"task_id":"t","task_status":"completed","video_url":"https://a.test/v.mp4"}}"#,
        r#"{"status":"completed","video_url":"https://a.test/v.mp4"}"#,
    ] {
        assert_eq!(read(body), (Status::Completed, url.clone()), "{body}");
    }
}

#[test]
fn decode_poll_about_another_task_is_refused() {
    let body = r#"{"id":"other","object":"video","status":"completed","metadata":{"url":"https://example.com/b.mp4"}}"#;
    assert_eq!(
        TaskResponse::decode(body, Some("task_1")).expect_err("another task"),
        "the response is about another task, other"
    );
    // The state is that of the object with the id.
    let body = r#"{"id":"task_1","data":{"id":"other","status":"completed"}}"#;
    let task = TaskResponse::decode(body, Some("task_1")).expect("a task");
    assert_eq!(task.status, Status::Unknown(String::new()));
    for body in [
        r#"{"id":"internal","task_id":"task_1","status":"queued"}"#,
        r#"{"id":"request","data":{"id":"task_1","status":"queued"}}"#,
        r#"{"object":"video","status":"queued"}"#,
        r#"{"status":"completed","metadata":{"url":"https://example.com/a.mp4"}}"#,
    ] {
        assert_eq!(TaskResponse::decode(body, Some("task_1")).expect("a task").id, "task_1", "{body}");
    }
}

/// A gateway has a status as well.
#[test]
fn decode_poll_with_nothing_but_a_status_is_refused() {
    for body in [
        r#"{"status":"failed","message":"gateway timeout"}"#,
        r#"{"status":"FAILED","code":504}"#,
        r#"{"status":"failed","error":{"message":"upstream"}}"#,
        r#"[{"status":"failed"}]"#,
        r#"{"data":{"status":"failed"}}"#,
        r#"{"status":"ok"}"#,
        r#"{"status":"queued"}"#,
    ] {
        assert!(TaskResponse::decode(body, Some("task_1")).is_err(), "{body}");
    }
}

/// Each of them may be the task, and the others something else: a request, an envelope.
#[test]
fn decode_submission_with_several_ids_is_refused() {
    for (body, ids) in [
        (r#"{"id":"req-1","task_id":"task_1","status":"queued"}"#, ["req-1", "task_1"]),
        (r#"{"id":17,"task_id":"task_1","status":"queued"}"#, ["17", "task_1"]),
        (r#"{"id":"req-1","data":{"id":"t1","object":"video","status":"queued"}}"#, ["req-1", "t1"]),
        (r#"{"data":{"id":"t1"},"task":{"id":"t2"}}"#, ["t1", "t2"]),
    ] {
        let reason = TaskResponse::decode(body, None).expect_err("either may be the task");
        assert!(ids.iter().all(|id| reason.contains(id)), "{body}: {reason}");
        let error = HttpError::new(503, body, None);
        assert!(error.may_have_task && error.task_hint.is_none(), "{body}");
    }
    for (body, id) in [
        (r#"{"id":17,"task_id":"17","status":"queued"}"#, "17"),
        (r#"{"id":"t1","task_id":"","status":"queued"}"#, "t1"),
        (r#"{"id":"t1","status":"queued","request_id":"r1","job_id":"j1","user":{"id":"u1"}}"#, "t1"),
    ] {
        assert_eq!(TaskResponse::decode(body, None).expect("a task").id, id, "{body}");
    }
}
