//! Answers of services as the built-in contract reads them, also arbitrary and damaged ones: no panic, and an id is read where ids stand.

use contract::answer::{Refusal, Task};
use contract::{Contract, FailureReason, Refused, TaskState};
use proptest::{collection, prelude::*};
use serde_json::{Value, json};

/// An answer to a submission, or to a poll of a task.
fn read(body: &str, polled: Option<&str>) -> Result<Task, String> {
    match polled {
        Some(id) => Contract::embedded().read_task(200, body, id),
        None => Contract::embedded().read_accepted(200, body),
    }
}

fn refusal(http: u16, body: &str) -> Refusal {
    Contract::embedded().read_refusal(http, body, "")
}

proptest! {
    #[test]
    fn decode_arbitrary_text_does_not_panic(bytes in collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = (read(&text, None), refusal(409, &text));
        if let Ok(task) = read(&text, Some("asked")) {
            prop_assert_eq!(task.id, "asked");
        }
    }

    #[test]
    fn decode_task_in_envelope_is_the_task(id in "[a-z0-9_]{1,20}", name in "id|task_id", wrapper in "data|task|output") {
        let text = json!({ "code": 200, "message": "success", wrapper: { name: id, "status": "queued" } }).to_string();
        let response = read(&text, None).expect("there is an id");
        prop_assert_eq!(&response.id, &id);
        prop_assert_eq!(response.word.as_str(), "queued");
        prop_assert_eq!(refusal(503, &text).task_hint, Some(id));
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
    let response = read(&text, Some("task_1")).expect("a task");
    assert_eq!(
        response,
        Task {
            id: "task_1".into(),
            state: TaskState::Completed,
            word: "completed".into(),
            is_defined: true,
            progress: Some(100),
            model: Some("modelb-video-480p".into()),
            created_at_ms: Some(1_795_225_551_000),
            completed_at_ms: Some(1_795_225_559_000),
            expires_at_ms: Some(1_795_311_959_000),
            video: Some("https://example.com/a.mp4".into()),
            last_frame: Some("https://example.com/a.png".into()),
            seconds: Some("5".into()),
            error: None,
            result: None,
        }
    );
}

#[test]
fn decode_task_as_gateways_send_it_is_normalized() {
    let task = |body: Value| read(&body.to_string(), Some("t")).expect("a task");
    assert_eq!(task(json!({ "id": "t", "status": "IN-PROGRESS" })).state, TaskState::Running);
    for (status, word) in [(json!("uploading"), "uploading"), (json!(null), "")] {
        let unknown = task(json!({ "id": "t", "status": status }));
        let read = (unknown.state, unknown.word.as_str(), unknown.is_defined);
        assert_eq!(read, (TaskState::Running, word, false));
    }
    assert_eq!(task(json!({ "id": "t", "progress": "37%" })).progress, Some(37));
    assert_eq!(task(json!({ "id": "t", "progress": 250 })).progress, Some(100));
    assert_eq!(task(json!({ "id": "t", "progress": null })).progress, None);
    assert_eq!(
        task(json!({ "id": "t", "created_at": 1_795_225_551 })).created_at_ms,
        Some(1_795_225_551_000)
    );
    assert_eq!(task(json!({ "id": "t", "completed_at": 0 })).completed_at_ms, None);
    assert_eq!(
        task(json!({ "id": "t", "url": "https://a.test/v" })).video.as_deref(),
        Some("https://a.test/v")
    );
    assert_eq!(task(json!({ "id": "t", "metadata": { "url": "" } })).video, None);
    assert_eq!(task(json!({ "id": "t", "seconds": 5 })).seconds.as_deref(), Some("5"));
}

#[test]
fn decode_task_failure_in_every_supported_form() {
    let failure = |body: Value| {
        let task = read(&body.to_string(), Some("t")).expect("a task");
        task.error.map(|(error, _)| (error.message, error.code))
    };
    let expected = Some(("no".to_owned(), Some("moderated".to_owned())));
    for body in [
        json!({ "id": "t", "status": "failed", "error": { "message": "no", "code": "moderated" } }),
        json!({ "id": "t", "status": "failed", "error": { "error": { "message": "no", "code": "moderated" } } }),
        json!({ "id": "t", "status": "failed", "message": "no", "code": "moderated" }),
    ] {
        assert_eq!(failure(body.clone()), expected, "{body}");
    }
    let text = json!({ "id": "t", "status": "failed", "error": "no" });
    assert_eq!(failure(text), Some(("no".to_owned(), None)));
    assert_eq!(failure(json!({ "id": "t", "status": "failed" })), Some((String::new(), None)));
    // Services send `error` with any status: a warning, or `success`.
    for status in ["queued", "completed"] {
        assert_eq!(failure(json!({ "id": "t", "status": status, "error": { "message": "no" } })), None);
    }
}

/// Tasks as they fail, in bodies of several shapes.
#[test]
fn failure_is_due_to_what_code_and_message_say() {
    use FailureReason::{Invalid, Moderated, ModeratedOutput, NoMoney, Other, Transient};
    for (error, reason) in [
        (r#""error":{"code":"render_failed","message":"the renderer ended with 1"}"#, Other),
        (r#""error":{"code":"render_aborted","message":"given up"}"#, Other),
        (r#""error":{"code":"storage_failed","message":"no room"}"#, Other),
        (r#""error":{"code":"render_timed_out","message":"too slow"}"#, Transient),
        (r#""error":{"code":"input_unavailable","message":"gone"}"#, Transient),
        (r#""error":{"code":"InternalServiceError","message":"sorry"}"#, Transient),
        (r#""error":{"code":"ServerOverloaded","message":""}"#, Transient),
        (r#""error":{"message":"timed out, please try again"}"#, Transient),
        (r#""error":{"code":"render_unsupported","message":"no"}"#, Invalid),
        (r#""error":{"code":"invalid_image","message":"no"}"#, Invalid),
        (r#""error":{"code":"input_moderated","message":"an input was refused by moderation"}"#, Moderated),
        (
            r#""error":{"code":"output_moderated","message":"the video was withheld by moderation"}"#,
            ModeratedOutput,
        ),
        (r#""error":{"error":{"code":"moderation_blocked","message":"blocked"}}"#, Moderated),
        (r#""error":"the generated video was withheld by moderation""#, ModeratedOutput),
        (r#""error":"the prompt leads to output that moderation withholds""#, Moderated),
        (r#""error":{"code":"content_filter","message":"blocked"}"#, Moderated),
        (r#""error":{"code":"nsfw","message":"blocked"}"#, Moderated),
        (r#""error":{"code":"SAFETY.OUTPUT.VIDEO","message":"blocked"}"#, ModeratedOutput),
        (r#""error":{"message":"NSFW content was detected in the result"}"#, ModeratedOutput),
        (r#""error":{"code":"QuotaExceeded","message":"no"}"#, NoMoney),
        (r#""error":{"code":"render_failed","message":"no credit for the light on her face"}"#, Other),
        (r#""code":"output_moderated","message":"flat""#, ModeratedOutput),
        (r#""fail_reason":"internal error""#, Transient),
        (r#""progress":40"#, Other),
    ] {
        let body = format!(r#"{{"id":"task_1","object":"video","status":"failed",{error}}}"#);
        let task = read(&body, Some("task_1")).expect("a task");
        assert_eq!(task.error.map(|(_, reason)| reason), Some(reason), "{body}");
    }
}

/// Codes as services document or send them.
#[test]
fn moderation_codes_of_services_are_known() {
    for code in [
        "content_filter",
        "ContentFilter",
        "CONTENT_FILTERED",
        "content_policy_violation",
        "content_moderated",
        "moderation_blocked",
        "Request Moderated",
        "NSFW_CONTENT_DETECTED",
        "SAFETY.INPUT.TEXT",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "RECITATION",
        "RAI_FILTERED",
        "ResponsibleAIPolicyViolation",
        "InputTextSensitiveContentDetected.PolicyViolation",
        "OutputVideoSensitiveContentDetected",
        "InputImageRiskDetection",
        "DataInspectionFailed",
        "data_inspection_failed",
        "IPInfringementSuspect",
        "AuditSubmitIllegal",
        "OperationDenied.ImageIllegalDetected",
        "PromptBlocked",
        "prompt_rejected",
        "unsafe_content",
        "inappropriate-content",
        "content_restricted",
        "public_figure",
        "celebrity_detected",
    ] {
        let body = json!({ "error": { "code": code, "message": "no", "type": "invalid_request_error" } })
            .to_string();
        assert_eq!(refusal(400, &body).refused, Some(Refused::Moderated), "{code}");
    }
    for code in [
        "",
        "render_failed",
        "InternalServiceError",
        "invalid_image",
        "1301",
        "no_content",
        "filter_graph_failed",
    ] {
        let message = "no public figure of a celebrity";
        let body = json!({ "error": { "code": code, "message": message, "type": "invalid_request_error" } })
            .to_string();
        assert_eq!(refusal(400, &body).refused, Some(Refused::Invalid), "{code}");
    }
}

/// Statuses, and errors in the service's own form.
#[test]
fn refusal_needs_the_services_own_form() {
    use Refused::{Invalid, Later, Moderated, NoKey, NoMoney, Unusable};
    let refused = |http, body: &str| refusal(http, body).refused;
    for (http, code, message, expected) in [
        (400, "invalid_duration", "no", Invalid),
        (400, "input_moderated", "the prompt was refused by moderation", Moderated),
        (403, "content_policy_violation", "no", Moderated),
        (400, "insufficient_balance", "no", NoMoney),
        (400, "unknown_field", "unknown field `credit`", Invalid),
        (401, "invalid_api_key", "no key", NoKey),
        (402, "", "pay first", NoMoney),
        (403, "", "your account is in arrears", NoMoney),
        (403, "", "not for this key", NoKey),
        (404, "unknown_path", "unknown path", Unusable),
        (413, "body_too_large", "too large", Invalid),
        (429, "rate_limit_exceeded", "slow down", Later),
        (429, "insufficient_quota", "no", NoMoney),
        (503, "", "overloaded", Later),
    ] {
        let body = json!({ "error": { "type": "api_error", "message": message, "code": code } }).to_string();
        assert_eq!(refused(http, &body), Some(expected), "{http} {body}");
    }
    let own_form = r#"{"error":{"message":"an error inside","type":"server_error"}}"#;
    for http in [301, 408, 409, 410, 418, 425, 499, 500, 501, 502, 504, 520] {
        assert_eq!(refused(http, own_form), None, "{http}");
    }
    for http in [400, 401, 402, 403, 404, 413, 415, 422, 500, 502, 503, 504] {
        for body in [
            "",
            "<html>oops</html>",
            r#"{"message":"x","code":1}"#,
            r#"{"error":{"message":"upstream reset before headers"}}"#,
            r#"{"error":{"message":"Bad gateway","code":503,"status":"UNAVAILABLE"}}"#,
            r#"{"error":{"message":"x","type":null}}"#,
            r#"{"error":{"message":"x","type":"server_error"}} <html>"#,
        ] {
            assert_eq!(refused(http, body), None, "{http} {body}");
        }
    }
    // Whatever its body says.
    for body in ["", "<html>", r#"{"error":{"message":"slow d"#] {
        assert_eq!(refused(429, body), Some(Later), "{body}");
    }
}

/// The document requires neither of an error.
#[test]
fn error_without_code_and_param_is_read() {
    let body = r#"{"error":{"message":"no","type":"invalid_request_error"}}"#;
    let refusal = refusal(400, body);
    assert_eq!(refusal.refused, Some(Refused::Invalid));
    let error = refusal.error.expect("an error");
    assert_eq!((error.message.as_str(), error.code, error.param), ("no", None, None));
    for (error, message, code) in [("{}", "", None), (r#"{"code":"nsfw"}"#, "", Some("nsfw"))] {
        let task = read(&format!(r#"{{"id":"t","status":"failed","error":{error}}}"#), Some("t"));
        let (error, _) = task.expect("a task").error.expect("an error");
        assert_eq!((error.message.as_str(), error.code.as_deref()), (message, code));
    }
}

#[test]
fn error_is_read_in_every_supported_form() {
    for (body, message, code) in [
        (r#"{"message":"flat","code":"c"}"#, "flat", Some("c")),
        (r#"{"error":"text"}"#, "text", None),
        (r#"{"error":{"error":{"message":"deep","code":7}}}"#, "deep", Some("7")),
        (r#"{"code":"outer","error":{"message":"inner"}}"#, "inner", Some("outer")),
        (r#"{"detail":[{"msg":"field required"}]}"#, "field required", None),
        (r#"{"error":null,"message":"flat"}"#, "flat", None),
        (r#""just text""#, "just text", None),
    ] {
        let error = refusal(400, body).error.expect("an error");
        assert_eq!((error.message.as_str(), error.code.as_deref()), (message, code), "{body}");
    }
    for body in ["", "{}", "[]", "null", r#"{"errors":[]}"#, "<html>502</html>", r#"{"error":{"message":"#] {
        assert_eq!(refusal(400, body).error, None, "{body}");
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
            let reason = read(body, polled).expect_err("no task");
            assert_eq!(reason, "the response contains no task", "{body}");
        }
    }
    for body in ["", " \r\n"] {
        let reason = read(body, None).expect_err("no task");
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
        assert_eq!(read(body, None).expect("a task").id, id, "{body}");
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
        assert!(read(body, None).is_err(), "{body}");
        let refusal = refusal(503, body);
        assert!(!refusal.may_have_task && refusal.task_hint.is_none(), "{body}");
    }
}

#[test]
fn decode_task_reads_state_and_url_where_services_have_them() {
    let read = |body: &str| {
        let task = read(body, Some("t")).expect("a task");
        (task.state, task.video)
    };
    let url = Some("https://a.test/v.mp4".to_owned());
    for body in [
        r#"{"id":"t","status":"completed","metadata":{"url":"https://a.test/v.mp4"}}"#,
        r#"{"id":"t","status":"completed","metadata":{"url":""},"url":"https://a.test/v.mp4"}"#,
        r#"{"id":"t","status":"completed","video_url":"https://a.test/v.mp4"}"#,
        r#"{"id":"t","status":"completed","content":{"video_url":"https://a.test/v.mp4"}}"#,
        r#"{"code":"success","data":{"task_id":"t","status":"COMPLETED","result_url":"https://a.test/v.mp4"}}"#,
        r#"{"output":{"task_id":"t","task_status":"completed","video_url":"https://a.test/v.mp4"}}"#,
    ] {
        assert_eq!(read(body), (TaskState::Completed, url.clone()), "{body}");
    }
}

#[test]
fn decode_poll_about_another_task_is_refused() {
    let body = r#"{"id":"other","object":"video","status":"completed","metadata":{"url":"https://example.com/b.mp4"}}"#;
    assert_eq!(
        read(body, Some("task_1")).expect_err("another task"),
        "the response is about another task, other"
    );
    for body in [
        r#"{"id":"internal","task_id":"task_1","status":"queued"}"#,
        r#"{"id":"request","data":{"id":"task_1","status":"queued"}}"#,
    ] {
        assert_eq!(read(body, Some("task_1")).expect("a task").word, "queued", "{body}");
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
        r#"{"status":"completed","metadata":{"url":"https://example.com/a.mp4"}}"#,
    ] {
        assert!(read(body, Some("task_1")).is_err(), "{body}");
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
        let reason = read(body, None).expect_err("either may be the task");
        assert!(ids.iter().all(|id| reason.contains(id)), "{body}: {reason}");
        let refusal = refusal(503, body);
        assert!(refusal.may_have_task && refusal.task_hint.is_none(), "{body}");
    }
    for (body, id) in [
        (r#"{"id":17,"task_id":"17","status":"queued"}"#, "17"),
        (r#"{"id":"t1","task_id":"","status":"queued"}"#, "t1"),
        (r#"{"id":"t1","status":"queued","request_id":"r1","job_id":"j1","user":{"id":"u1"}}"#, "t1"),
    ] {
        assert_eq!(read(body, None).expect("a task").id, id, "{body}");
    }
}
