//! Decoding of arbitrary and damaged responses: no panic, and no task id is missed.

use client::{ErrorObject, Status, TaskResponse, find_task_id};
use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};

/// Names that decoding reads, so that arbitrary values reach every branch.
const NAMES: [&str; 16] = [
    "object",
    "status",
    "progress",
    "created_at",
    "completed_at",
    "expires_at",
    "seconds",
    "size",
    "error",
    "metadata",
    "url",
    "message",
    "code",
    "data",
    "task",
    "result",
];

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("completed")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let name =
            prop_oneof![proptest::sample::select(NAMES.to_vec()).prop_map(str::to_owned), "[a-z]{0,4}"];
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((name, inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn tasks() -> impl Strategy<Value = (String, Value)> {
    let fields = collection::vec((proptest::sample::select(NAMES.to_vec()), values()), 0..8);
    ("[A-Za-z0-9_.:~-]{1,40}", fields, any::<bool>()).prop_map(|(id, fields, id_first)| {
        let mut task = Map::new();
        if id_first {
            task.insert("id".into(), json!(id));
        }
        task.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        task.insert("id".into(), json!(id));
        (id, Value::Object(task))
    })
}

proptest! {
    #[test]
    fn decode_arbitrary_text_does_not_panic(bytes in collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = (TaskResponse::decode(&text, None), find_task_id(&text), ErrorObject::decode(&text));
        if let Ok(task) = TaskResponse::decode(&text, Some("asked")) {
            prop_assert_eq!(task.id, "asked");
        }
    }

    #[test]
    fn decode_arbitrary_json_does_not_panic(value in values()) {
        let text = value.to_string();
        let _ = (TaskResponse::decode(&text, None), TaskResponse::decode(&text, Some("asked")), ErrorObject::decode(&text));
    }

    #[test]
    fn find_task_id_among_arbitrary_fields((id, mut task) in tasks()) {
        task["object"] = "video".into();
        let text = task.to_string();
        let response = TaskResponse::decode(&text, None).expect("there is an id");
        prop_assert_eq!(&response.id, &id);
    }

    #[test]
    fn find_task_id_with_text_around_the_body((id, task) in tasks(), before in "[\u{feff} \r\n]{0,3}", after in "[^0-9]{0,20}") {
        let text = format!("{before}{task}{after}");
        prop_assert_eq!(find_task_id(&text), Some(id));
    }

    #[test]
    fn find_task_id_in_truncated_body((id, task) in tasks(), part in 0.0..1.0_f64) {
        let text = task.to_string();
        let needle = format!("\"id\":{}", json!(id));
        let first = text.find(&needle).expect("the id is written") + needle.len();
        let mut cut = first + ((text.len() - first) as f64 * part) as usize;
        while !text.is_char_boundary(cut) {
            cut += 1;
        }
        let text = &text[..cut];
        prop_assert_eq!(find_task_id(text), Some(id));
        if cut < task.to_string().len() {
            prop_assert!(TaskResponse::decode(text, None).is_err(), "an id in a truncated body is a hint only");
        }
    }

    #[test]
    fn find_task_id_in_envelope(id in "[a-z0-9_]{1,20}", name in "id|task_id", wrapper in "data|task|video|result") {
        let text = json!({ "code": 200, "status": "success", wrapper: { name: id, "status": "queued" } }).to_string();
        let response = TaskResponse::decode(&text, None).expect("there is an id");
        prop_assert_eq!(response.id, id);
        prop_assert_eq!(response.status, Status::Queued);
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
            rate_limit: None,
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
    for (body, message) in [
        ("<html><title>502 Bad Gateway</title></html>", "the response contains no task: 502 Bad Gateway"),
        (r#"{"error":{"message":"try later"}}"#, "the response contains no task: try later"),
        ("", "the response contains no task: "),
    ] {
        assert_eq!(TaskResponse::decode(body, Some("t")).expect_err("no task"), message);
    }
    assert!(TaskResponse::decode(r#"{"status":"queued"}"#, None).is_err(), "a created task has an id");
}

/// Services in Python write `NaN`, and texts that are cut end in half a character.
#[test]
fn decode_task_beside_a_member_that_is_almost_json() {
    for member in [r#""eta":NaN"#, r#""cost":1e999"#, r#""prompt":"a sea \ud83d""#, "\"prompt\":\"a\nsea\""] {
        let body = format!(r#"{{"id":"t","object":"video","status":"completed",{member}}}"#);
        for polled in [Some("t"), None] {
            let task = TaskResponse::decode(&body, polled).expect(&body);
            assert_eq!((task.id.as_str(), task.status), ("t", Status::Completed), "{body}");
        }
        let cut = &body[..body.len() - 1];
        assert!(TaskResponse::decode(cut, Some("t")).is_err(), "{cut}");
    }
}

/// An id is verbatim or none: a submission is open then, and a poll is known by its status and object.
#[test]
fn decode_id_that_is_almost_json_is_none() {
    for id in ["\"task-\\ud83d\"", "\"task-\n1\"", "NaN", "1e999"] {
        let body = format!(r#"{{"id":{id},"object":"video","status":"completed"}}"#);
        assert!(TaskResponse::decode(&body, None).is_err(), "{body}");
        assert_eq!(TaskResponse::decode(&body, Some("t")).expect(&body).id, "t");
    }
    let control = "{\"id\":\"task-\u{85}1\",\"object\":\"video\",\"status\":\"queued\",\"eta\":NaN}";
    assert_eq!(TaskResponse::decode(control, None).expect("a task").id, "task-\u{85}1", "JSON allows it");
}

/// What is whole JSON and says that it is a task is one; an id anywhere else is a hint.
#[test]
fn decode_submission_without_signs_of_a_task_is_refused_with_a_hint() {
    for body in [r#"{"id":"t1","object":"video"}"#, r#"{"id":"t1"}"#, r#"{"code":0,"data":{"task_id":"t1"}}"#]
    {
        assert_eq!(TaskResponse::decode(body, None).expect("a task").id, "t1", "{body}");
    }
    for body in [
        r#"<html><script>{"id":"t1"}</script></html>"#,
        r#"{"code":0,"request_id":"r1","data":null,"id":"t1"}"#,
        r#"{"id":"t1","object":"vid"#,
    ] {
        assert!(TaskResponse::decode(body, None).is_err(), "{body}");
        assert_eq!(find_task_id(body).as_deref(), Some("t1"), "{body}");
    }
}

#[test]
fn decode_poll_about_another_task_is_refused() {
    let body = r#"{"id":"other","object":"video","status":"completed","metadata":{"url":"https://example.com/b.mp4"}}"#;
    assert_eq!(
        TaskResponse::decode(body, Some("task_1")).expect_err("another task"),
        "the response is about another task, other"
    );
    // The id of the envelope does not make the task in it the one that was polled.
    for body in [
        r#"{"id":"task_1","data":{"id":"other","status":"completed"}}"#,
        r#"{"id":"other","status":"completed","data":{"id":"task_1"}}"#,
    ] {
        assert!(TaskResponse::decode(body, Some("task_1")).is_err(), "{body}");
    }
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
        r#"{"result":{"status":"failed"}}"#,
        r#"{"status":"ok"}"#,
        r#"{"status":"queued"}"#,
    ] {
        assert!(TaskResponse::decode(body, Some("task_1")).is_err(), "{body}");
    }
}

#[test]
fn decode_submission_in_an_envelope_with_an_id_of_its_own_is_the_task() {
    for body in [
        r#"{"id":"req-1","status":"success","data":{"id":"t1","object":"video","status":"queued"}}"#,
        r#"{"id":"req-1","object":"response","result":{"id":"t1","status":"queued"}}"#,
        r#"{"task_id":"batch-1","status":"success","data":[{"id":"t1","status":"queued"}]}"#,
        r#"{"id":"req-1","status":200,"data":{"id":"t1","object":"video"}}"#,
    ] {
        assert_eq!(TaskResponse::decode(body, None).expect("a task").id, "t1", "{body}");
    }
    let own = r#"{"id":"t1","object":"video","status":"queued","video":{"id":"file-1","status":"queued"}}"#;
    assert_eq!(TaskResponse::decode(own, None).expect("a task").id, "t1");
    for body in [
        r#"{"id":"a1","status":"success","data":{"id":"b2","status":"submitted"}}"#,
        r#"{"id":"a1","object":"response","data":{"id":"b2"}}"#,
    ] {
        let reason = TaskResponse::decode(body, None).expect_err("either may be the task");
        assert!(reason.contains("a1") && reason.contains("b2"), "{reason}");
    }
}

/// Each of them may be the task, and the others something else: a request, a batch.
#[test]
fn decode_submission_with_several_ids_is_refused() {
    for (body, ids) in [
        (r#"{"id":"req-1","task_id":"task_1","status":"queued"}"#, ["req-1", "task_1"]),
        (r#"{"id":"req-1","taskId":"task_1","object":"video","status":"queued"}"#, ["req-1", "task_1"]),
        (r#"{"id":"req-1","task_id":"task_1"}"#, ["req-1", "task_1"]),
        (r#"{"data":{"id":"req-1","video_id":"task_1","status":"queued"}}"#, ["req-1", "task_1"]),
        (r#"{"id":"req-1","job_id":"task_1","status":"queued"}"#, ["req-1", "task_1"]),
        (r#"{"id":"req-1","status":"queued","metadata":{"task_id":"task_1"}}"#, ["req-1", "task_1"]),
        (r#"{"id":"req-1","status":"queued","output":{"TaskId":"task_1"}}"#, ["req-1", "task_1"]),
        (r#"{"id":17,"task_id":"task_1","status":"queued"}"#, ["17", "task_1"]),
        (r#"[{"id":"t1","status":"queued"},{"id":"t2","status":"queued"}]"#, ["t1", "t2"]),
        (r#"{"data":[{"id":"t1","object":"video"},{"id":"t2","object":"video"}]}"#, ["t1", "t2"]),
        (r#"{"task":{"id":"t1","status":"queued"},"video":{"id":"v1","status":"queued"}}"#, ["t1", "v1"]),
        (r#"{"object":"video","status":"queued","data":{"id":"t1"},"task":{"id":"t2"}}"#, ["t1", "t2"]),
        ("{\"id\":\"t1\",\"status\":\"queued\"}\n{\"id\":\"t2\",\"status\":\"queued\"}", ["t1", "t2"]),
        (r#"{"id":"t1","status":"queued","tasks":[{"id":"t2","status":"queued"}]}"#, ["t1", "t2"]),
    ] {
        let reason = TaskResponse::decode(body, None).expect_err("either may be the task");
        assert!(ids.iter().all(|id| reason.contains(id)), "{body}: {reason}");
    }
    for (body, id) in [
        (r#"{"id":17,"task_id":"17","status":"queued"}"#, "17"),
        (r#"{"id":"t1","task_id":"t1","videoId":"t1","object":"video","status":"queued"}"#, "t1"),
        (r#"{"id":"t1","task_id":"","video_id":null,"status":"queued"}"#, "t1"),
        (r#"[{"id":"t1","status":"queued"},{"id":"t1","status":"queued"}]"#, "t1"),
        (r#"{"id":"t1","status":"queued","request_id":"r1","model_id":"m1","user":{"id":"u1"}}"#, "t1"),
        (r#"{"id":"t1","object":"video","status":"queued","metadata":{"job_id":"j1"}}"#, "t1"),
        (
            r#"{"id":123456789012345678901234,"task_id":"123456789012345678901234","status":"queued"}"#,
            "123456789012345678901234",
        ),
    ] {
        assert_eq!(TaskResponse::decode(body, None).expect("a task").id, id, "{body}");
    }
}
