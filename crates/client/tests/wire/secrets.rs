//! The key is in no error, response or debug output.

use serde_json::json;

use crate::server::{KEY, Server, answer, config, json_response, prepared};

#[tokio::test]
async fn echoed_key_is_redacted() {
    let server = Server::answering(|request| {
        let key = request.header("authorization").unwrap_or_default().to_owned();
        match request.method.as_str() {
            "POST" => {
                answer(401, &[], json!({ "error": { "message": format!("wrong key {key}") } }).to_string())
            }
            _ => json_response(200, &json!({ "id": "task_1", "status": "queued", "echo": key })),
        }
    })
    .await;
    let client = server.client();
    let refused = client.create(&prepared()).await.expect_err("refused");
    assert!(!format!("{refused} {refused:?}").contains(KEY), "{refused:?}");
    assert!(refused.to_string().contains("wrong key"), "{refused}");
    let task = client.get("task_1").await.expect("a task");
    assert!(!format!("{task:?}").contains(KEY), "{task:?}");
    assert!(!format!("{client:?} {:?}", config(&server.url)).contains(KEY));
}
