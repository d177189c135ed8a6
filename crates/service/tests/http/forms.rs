//! Extensions for OpenAI-style clients: `multipart/form-data`, `GET /v1/models`.

use reqwest::{Method, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{A, B, TestRenderer, TestServer, data_uri, error_summary, png};

/// What openai-python 3.54 sends for `videos.create` with extra fields, without a file. Lines end in CR LF on the wire; `IMAGE` stands for a
/// data URI.
const PYTHON_FIELDS: &str = r#"--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="prompt"

a lamp, 灯塔
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="model"

modela-video-2-0-260128
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="seconds"

4
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="size"

1280x720
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="generate_audio"

true
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="seed"

7
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="metadata[mood]"

calm
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="metadata[content][][type]"

image_url
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="metadata[content][][role]"

first_frame
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="metadata[content][][image_url][url]"

IMAGE
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="ref_images[]"

IMAGE
--17bc6c1417d35cc6d3d0152ce8c7f4ec
Content-Disposition: form-data; name="ref_images[]"

IMAGE
--17bc6c1417d35cc6d3d0152ce8c7f4ec--
"#;

/// The same with `input_reference`; `FILE` stands for the bytes of the file.
const PYTHON_FILE: &str = r#"--c6292797c1a92adef7ea951d99f74782
Content-Disposition: form-data; name="prompt"

p
--c6292797c1a92adef7ea951d99f74782
Content-Disposition: form-data; name="model"

modelb-video-480p
--c6292797c1a92adef7ea951d99f74782
Content-Disposition: form-data; name="seconds"

4
--c6292797c1a92adef7ea951d99f74782
Content-Disposition: form-data; name="input_reference"; filename="a.png"
Content-Type: image/png

FILE
--c6292797c1a92adef7ea951d99f74782--
"#;

/// What openai-node 6.49 sends, likewise.
const NODE_FIELDS: &str = r#"------formdata-undici-091976268790
Content-Disposition: form-data; name="model"

modela-video-2-0-260128
------formdata-undici-091976268790
Content-Disposition: form-data; name="prompt"

a lamp, 灯塔
------formdata-undici-091976268790
Content-Disposition: form-data; name="seconds"

4
------formdata-undici-091976268790
Content-Disposition: form-data; name="generate_audio"

true
------formdata-undici-091976268790
Content-Disposition: form-data; name="seed"

7
------formdata-undici-091976268790
Content-Disposition: form-data; name="ref_images[]"

IMAGE
------formdata-undici-091976268790
Content-Disposition: form-data; name="ref_images[]"

IMAGE
------formdata-undici-091976268790
Content-Disposition: form-data; name="metadata[mood]"

calm
------formdata-undici-091976268790
Content-Disposition: form-data; name="metadata[content][][type]"

image_url
------formdata-undici-091976268790
Content-Disposition: form-data; name="metadata[content][][role]"

first_frame
------formdata-undici-091976268790
Content-Disposition: form-data; name="metadata[content][][image_url][url]"

IMAGE
------formdata-undici-091976268790
Content-Disposition: form-data; name="metadata[content][][type]"

audio_url
------formdata-undici-091976268790
Content-Disposition: form-data; name="metadata[content][][audio_url][url]"

SOUND
------formdata-undici-091976268790--
"#;

/// The same with `input_reference`.
const NODE_FILE: &str = r#"------formdata-undici-061917236829
Content-Disposition: form-data; name="model"

modelb-video-480p
------formdata-undici-061917236829
Content-Disposition: form-data; name="prompt"

p
------formdata-undici-061917236829
Content-Disposition: form-data; name="seconds"

4
------formdata-undici-061917236829
Content-Disposition: form-data; name="input_reference"; filename="a.png"
Content-Type: image/png

FILE
------formdata-undici-061917236829--
"#;

/// Sends a form; its first line is its boundary.
async fn post_form(server: &TestServer, form: &[u8]) -> Response {
    let line = form.split(|byte| *byte == b'\r').next().unwrap();
    let boundary = std::str::from_utf8(line).unwrap().strip_prefix("--").unwrap();
    let post = server
        .ask(Method::POST, "/v1/videos")
        .header(header::CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"));
    post.body(form.to_vec()).send().await.unwrap()
}

/// A form as it is on the wire.
fn form(text: &str, replacements: &[(&str, &[u8])]) -> Vec<u8> {
    let mut form = text.replace('\n', "\r\n").into_bytes();
    for (name, bytes) in replacements {
        while let Some(start) = form.windows(name.len()).position(|window| window == name.as_bytes()) {
            form.splice(start..start + name.len(), bytes.iter().copied());
        }
    }
    form
}

async fn accepted(server: &TestServer, form: &[u8]) -> Value {
    let response = post_form(server, form).await;
    let status = response.status();
    let task: Value = response.json().await.unwrap();
    assert_eq!(status, StatusCode::OK, "{task}");
    server.ended(&task["id"]).await
}

const RED: [u8; 3] = [200, 10, 20];

#[tokio::test]
async fn forms_of_openai_clients_are_requests() {
    let renderer = TestRenderer::free();
    let server = TestServer::open(renderer.clone()).await;
    let image = png(30, 20, RED);
    let uri = data_uri(&image);
    let sound = data_uri(&wav()).replace("image/png", "audio/wav");
    for text in [PYTHON_FIELDS, NODE_FIELDS] {
        let task =
            accepted(&server, &form(text, &[("IMAGE", uri.as_bytes()), ("SOUND", sound.as_bytes())])).await;
        assert_eq!((&task["status"], &task["seconds"]), (&json!("completed"), &json!("4")));
        let job = renderer.last_job();
        assert_eq!((job.prompt.as_str(), job.seed, job.generate_audio), ("a lamp, 灯塔", 7, true));
        assert_eq!(job.first_frame.unwrap().pixel(0, 0), RED);
        assert_eq!((job.references.len(), job.reference_audio.is_some()), (2, text == NODE_FIELDS));
    }
    for text in [PYTHON_FILE, NODE_FILE] {
        accepted(&server, &form(text, &[("FILE", &image)])).await;
        let job = renderer.last_job();
        assert_eq!((job.first_frame.unwrap().pixel(0, 0), job.references.len()), (RED, 0));
        // In family A, which has no such field, it is the first frame as well.
        accepted(&server, &form(text, &[(B, A.as_bytes()), ("FILE", &image)])).await;
        assert_eq!(renderer.last_job().first_frame.unwrap().pixel(0, 0), RED);
    }
    server.service.shutdown().await;
}

/// One sample of silence, 16-bit mono WAV at 8 kHz.
fn wav() -> Vec<u8> {
    let mut file =
        b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data".to_vec();
    file.extend(1_600_u32.to_le_bytes());
    file.resize(file.len() + 1_600, 0);
    file
}

#[tokio::test]
async fn forms_are_checked_like_json() {
    let server = TestServer::with(TestRenderer::free(), |config| config.limits.body.bytes = 200_000).await;
    let summary = async |text: &str| {
        let text = format!("--x\n{}\n--x--\n", text.trim().replace("\n--\n", "\n--x\n"));
        let text = text.replace("> ", "Content-Disposition: form-data; name=").replace(" = ", "\n\n");
        error_summary(post_form(&server, &form(&text, &[])).await).await
    };
    let model = format!("> model = {A}\n--\n> prompt = p");
    assert_eq!(summary(&format!("{model}\n--\n> seconds = 99")).await, "400 invalid_duration seconds");
    assert_eq!(summary(&format!("{model}\n--\n> secnods = 9")).await, "400 unknown_parameter secnods");
    assert_eq!(summary(&format!("{model}\n--\n> seed = many")).await, "400 invalid_type seed");
    assert_eq!(summary(&format!("{model}\n--\n> prompt = q")).await, "400 invalid_form prompt");
    assert_eq!(summary("> model = sora-2\n--\n> prompt = p").await, "400 unknown_model model");
    assert_eq!(
        summary(&format!("{model}\n--\n> input_reference; filename=a = no image")).await,
        "400 invalid_image image"
    );
    assert_eq!(summary(&format!("{model}\n--\n> x = {}", "y".repeat(200_000))).await, "413 body_too_large -");
    // openai-python sends members of several items in an order that does not say which belong together.
    let ambiguous = "> metadata[content][][type] = image_url\n--\n> metadata[content][][type] = audio_url\n--\n\
                     > metadata[content][][image_url][url] = https://example.com/a\n--\n> metadata[content][][audio_url][url] = https://example.com/b";
    assert_eq!(
        summary(&format!("{model}\n--\n{ambiguous}")).await,
        "400 missing_parameter metadata.content[0].image_url"
    );
    let post = server.ask(Method::POST, "/v1/videos").header(header::CONTENT_TYPE, "multipart/form-data");
    assert_eq!(error_summary(post.body("--x--").send().await.unwrap()).await, "400 invalid_form -");
    // A browser's or curl's default.
    let post = server.ask(Method::POST, "/v1/videos").body("model=m&prompt=p");
    let post = post.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let error: Value = post.send().await.unwrap().json().await.unwrap();
    assert!(
        error["error"]["message"].as_str().unwrap().contains("-H 'Content-Type: application/json'"),
        "{error}"
    );
    server.service.shutdown().await;
}

#[tokio::test]
async fn models_are_listed_for_keys() {
    let server = TestServer::open(TestRenderer::free()).await;
    let list: Value = server.ask(Method::GET, "/v1/models").send().await.unwrap().json().await.unwrap();
    insta::assert_json_snapshot!("models", list);
    let model: Value =
        server.ask(Method::GET, &format!("/v1/models/{B}")).send().await.unwrap().json().await.unwrap();
    assert_eq!(model, json!({"id": B, "object": "model", "created": 0, "owned_by": "video-service"}));
    let unknown = server.ask(Method::GET, "/v1/models/sora-2").send().await.unwrap();
    assert_eq!(error_summary(unknown).await, "404 model_not_found model");
    for path in ["/v1/models", "/v1/models/sora-2"] {
        let response = server.http.get(server.url(path)).send().await.unwrap();
        assert_eq!(error_summary(response).await, "401 missing_api_key -");
    }
    server.service.shutdown().await;
}
