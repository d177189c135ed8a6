//! Finished files: `/content` with the key, `/files` without, ranges, and what follows expiry.

use std::time::Duration;

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{TestRenderer, TestServer, error_summary, request};

async fn rendered(server: &TestServer) -> (Value, String) {
    let mut body = request("the sea");
    body["return_last_frame"] = json!(true);
    let task = server.make(&body).await;
    let content = format!("/v1/videos/{}/content", task["id"].as_str().unwrap());
    (task, content)
}

#[tokio::test]
async fn video_is_served_by_content_and_by_url() {
    let server = TestServer::open(TestRenderer::free()).await;
    let (task, content) = rendered(&server).await;
    let by_key = server.ask(Method::GET, &content).send().await.unwrap();
    assert_eq!(by_key.status(), StatusCode::OK);
    let headers = by_key.headers().clone();
    assert_eq!(headers[header::CONTENT_TYPE], "video/mp4");
    assert_eq!(headers[header::ACCEPT_RANGES], "bytes");
    let bytes = by_key.bytes().await.unwrap();
    assert_eq!(headers[header::CONTENT_LENGTH], bytes.len().to_string());
    assert!(bytes.starts_with(b"the sea "));

    let by_url = server.http.get(task["metadata"]["url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(by_url.headers()[header::ETAG], headers[header::ETAG]);
    assert_eq!(by_url.bytes().await.unwrap(), bytes);

    let frame = server.http.get(task["metadata"]["last_frame_url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(frame.headers()[header::CONTENT_TYPE], "image/png");
    let image = media::decode_image(&frame.bytes().await.unwrap()).unwrap();
    assert_eq!((image.width(), image.height()), (64, 36));

    // A token opens its own file only.
    let video = task["metadata"]["url"].as_str().unwrap();
    let crossed = server.http.get(video.replace(".mp4", ".png")).send().await.unwrap();
    assert_eq!(error_summary(crossed).await, "404 file_not_found -");
    server.service.shutdown().await;
}

#[tokio::test]
async fn head_has_length_without_body() {
    let server = TestServer::open(TestRenderer::free()).await;
    let (_, content) = rendered(&server).await;
    let head = server.ask(Method::HEAD, &content).send().await.unwrap();
    assert_eq!(head.status(), StatusCode::OK);
    let length: usize = head.headers()[header::CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
    assert!(length > 30_000);
    assert!(head.bytes().await.unwrap().is_empty());
    let ranged = server.ask(Method::HEAD, &content).header(header::RANGE, "bytes=0-1").send().await.unwrap();
    assert_eq!(ranged.status(), StatusCode::OK);
    server.service.shutdown().await;
}

#[tokio::test]
async fn range_request_resumes_download() {
    let server = TestServer::open(TestRenderer::free()).await;
    let (_, content) = rendered(&server).await;
    let response = server.ask(Method::GET, &content).send().await.unwrap();
    let etag = response.headers()[header::ETAG].clone();
    let video = response.bytes().await.unwrap();
    let part = async |range: &str, condition: &str| {
        let ask = server.ask(Method::GET, &content).header(header::RANGE, range);
        ask.header(header::IF_RANGE, condition).send().await.unwrap()
    };
    let rest = part("bytes=1000-", etag.to_str().unwrap()).await;
    assert_eq!(rest.status(), StatusCode::PARTIAL_CONTENT);
    let expected = format!("bytes 1000-{}/{}", video.len() - 1, video.len());
    assert_eq!(rest.headers()[header::CONTENT_RANGE], expected);
    assert_eq!(rest.bytes().await.unwrap(), video[1000..]);
    let middle = part("bytes=10-19", etag.to_str().unwrap()).await;
    assert_eq!(middle.headers()[header::CONTENT_LENGTH], "10");
    assert_eq!(middle.bytes().await.unwrap(), video[10..20]);
    let stale = part("bytes=1000-", "\"other\"").await;
    assert_eq!(stale.status(), StatusCode::OK);
    assert_eq!(stale.bytes().await.unwrap(), video);

    let beyond =
        server.ask(Method::GET, &content).header(header::RANGE, "bytes=9999999-").send().await.unwrap();
    assert_eq!(beyond.headers()[header::CONTENT_RANGE], format!("bytes */{}", video.len()));
    assert_eq!(error_summary(beyond).await, "416 invalid_range -");
    let same = server.ask(Method::GET, &content).header(header::IF_NONE_MATCH, etag).send().await.unwrap();
    assert_eq!(same.status(), StatusCode::NOT_MODIFIED);
    assert!(same.bytes().await.unwrap().is_empty());
    server.service.shutdown().await;
}

#[tokio::test]
async fn content_of_unfinished_task_is_rejected() {
    let server = TestServer::open(TestRenderer::held_at(5)).await;
    let id = server.create(&request("not yet")).await["id"].clone();
    let path = format!("/v1/videos/{}/content", id.as_str().unwrap());
    let early = server.ask(Method::GET, &path).send().await.unwrap();
    assert_eq!(error_summary(early).await, "409 task_not_completed task_id");
    server.service.shutdown().await;
}

#[tokio::test]
async fn content_has_one_variant() {
    let server = TestServer::open(TestRenderer::free()).await;
    let (_, content) = rendered(&server).await;
    let get =
        async |query: &str| server.ask(Method::GET, &format!("{content}?{query}")).send().await.unwrap();
    for query in ["variant=video", "other=thumbnail", ""] {
        assert_eq!(get(query).await.status(), StatusCode::OK, "{query}");
    }
    for query in ["variant=thumbnail", "variant=spritesheet", "variant=video&variant=", "x=1&variant=gif"] {
        assert_eq!(error_summary(get(query).await).await, "400 unsupported_variant variant", "{query}");
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn files_expire_then_task_is_purged() {
    let hour = Duration::from_hours(1);
    let server = TestServer::with(TestRenderer::free(), |config| {
        config.retention.files = hour;
        config.retention.record = 2 * hour;
    })
    .await;
    let (task, content) = rendered(&server).await;
    let (video, frame) =
        (task["metadata"]["url"].as_str().unwrap(), task["metadata"]["last_frame_url"].as_str().unwrap());
    let status = async |url: &str| server.http.get(url).send().await.unwrap().status().as_u16();
    server.clock.advance(Duration::from_millis(3_599_999));
    assert_eq!([status(video).await, status(frame).await], [200, 200]);
    server.clock.advance(Duration::from_millis(1));
    assert_eq!([status(video).await, status(frame).await], [410, 410]);
    let gone = server.ask(Method::GET, &content).send().await.unwrap();
    assert_eq!(error_summary(gone).await, "410 file_expired -");
    assert_eq!(server.task(&task["id"]).await["status"], "completed");
    // An expired frame is no input either.
    let mut next = request("and on");
    next["image"] = json!(frame);
    assert_eq!(error_summary(server.post(&next).await).await, "400 expired_media image");

    server.clock.advance(2 * hour);
    assert_eq!([status(video).await, status(frame).await], [404, 404]);
    let gone = server.ask(Method::GET, &content).send().await.unwrap();
    assert_eq!(error_summary(gone).await, "404 task_not_found task_id");
    server.service.shutdown().await;
}
