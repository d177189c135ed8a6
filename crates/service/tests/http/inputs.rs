//! What a request says reaches the renderer (spec 2.2 to 2.4).

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Redirect},
    routing::get,
};
use media::{ClipSpec, ClipWriter, Ffmpeg, FrameRate, RgbImage};
use serde_json::{Value, json};

use crate::support::{A, B, TIMEOUT, TestRenderer, TestServer, data_uri, error_summary, png, request};

const RED: [u8; 3] = [200, 10, 20];
const BLUE: [u8; 3] = [10, 20, 200];

#[tokio::test]
async fn family_a_fields_reach_the_job() {
    let renderer = TestRenderer::free();
    let server = TestServer::open(renderer.clone()).await;
    let task = server
        .make(&json!({
            "model": "modela-video-2-0-fast-260128", "prompt": "all of it", "duration": 4.5, "resolution": "720p",
            "ratio": "1:1", "generate_audio": true, "watermark": true, "camera_fixed": true, "seed": -1, "n": 1,
            "response_format": "url", "user": "u1", "metadata": {"mood": "calm"}, "unheard_of": [1],
            "image": data_uri(&png(30, 20, RED)), "ref_images": [data_uri(&png(20, 30, BLUE))],
        }))
        .await;
    assert_eq!((task["seconds"].as_str(), task["size"].as_str()), (Some("4.5"), Some("960x960")));
    let job = renderer.last_job();
    assert_eq!((job.width, job.height, job.frame_rate), (960, 960, 24));
    assert_eq!(job.frames_total(), 108);
    assert_eq!(job.seed, u64::MAX);
    assert!(job.fast);
    assert!(job.generate_audio && job.watermark && job.camera_fixed);
    assert_eq!(job.first_frame.unwrap().pixel(0, 0), RED);
    assert_eq!(job.references.len(), 1);
    assert_eq!(job.references[0].pixel(0, 0), BLUE);
    assert!(job.last_frame.is_none());
    server.service.shutdown().await;
}

#[tokio::test]
async fn family_b_resolution_from_model_and_ratio_from_image() {
    let renderer = TestRenderer::free();
    let server = TestServer::open(renderer.clone()).await;
    let task = server
        .make(&json!({"model": B, "prompt": "p", "input_reference": data_uri(&png(90, 160, RED)), "resolution": "1080p"}))
        .await;
    assert_eq!((task["seconds"].as_str(), task["size"].as_str()), (Some("5"), Some("480x854")));
    assert!(renderer.last_job().first_frame.is_some() && renderer.last_job().generate_audio);
    let task = server
        .make(&json!({"model": "modelb-video-720p", "prompt": "p", "size": "600x440", "seconds": "1",
            "images": [data_uri(&png(90, 160, RED)), data_uri(&png(90, 160, BLUE))]}))
        .await;
    assert_eq!(task["size"], "1108x832");
    assert_eq!(renderer.last_job().references.len(), 2);
    assert!(!renderer.last_job().fast);
    server.service.shutdown().await;
}

#[tokio::test]
async fn same_request_and_seed_render_equal_bytes() {
    let server = TestServer::open(TestRenderer::free()).await;
    let bytes = async |body: &Value| {
        let task = server.make(body).await;
        server
            .http
            .get(task["metadata"]["url"].as_str().unwrap())
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap()
    };
    let mut seeded = request("same");
    seeded["seed"] = json!(11);
    assert_eq!(bytes(&seeded).await, bytes(&seeded).await);
    assert_ne!(bytes(&request("same")).await, bytes(&request("same")).await);
    server.service.shutdown().await;
}

#[tokio::test]
async fn own_last_frame_url_is_accepted_as_first_frame() {
    let renderer = TestRenderer::free();
    let server = TestServer::open(renderer.clone()).await;
    let mut first = request("first");
    first["return_last_frame"] = json!(true);
    first["seed"] = json!(77);
    let first = server.make(&first).await;
    let url = first["metadata"]["last_frame_url"].as_str().unwrap();
    // An embedded service had another port when it gave that URL out.
    let old = url.replace(&server.service.local_addr().port().to_string(), "1");
    for url in [url, &old] {
        let content = json!([{"type": "image_url", "role": "first_frame", "image_url": {"url": url}}]);
        server.make(&json!({"model": A, "prompt": "next", "metadata": {"content": content}})).await;
        assert_eq!(renderer.last_job().first_frame.unwrap().pixel(0, 0), [77; 3]);
    }
    server.service.shutdown().await;
}

/// A host of media on loopback.
async fn host() -> SocketAddr {
    let image = || async { ([(header::CONTENT_TYPE, "image/png")], png(40, 30, RED)) };
    let app = Router::new()
        .route("/red.png", get(image))
        .route("/moved", get(|| async { Redirect::temporary("/red.png") }))
        .route("/round", get(|| async { Redirect::temporary("/round") }))
        .route("/metadata", get(|| async { Redirect::temporary("http://169.254.169.254/latest") }))
        .route(
            "/login",
            get(|headers: HeaderMap| async move {
                let host = headers[header::HOST].to_str().unwrap().to_owned();
                Redirect::temporary(&format!("http://me:secret@{host}/red.png"))
            }),
        )
        .route(
            "/agent",
            get(|headers: HeaderMap| async move {
                let named = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
                let named = named.is_some_and(|agent| {
                    agent.starts_with(concat!("runner/", env!("CARGO_PKG_VERSION"), " (+"))
                });
                if named {
                    Redirect::temporary("/red.png").into_response()
                } else {
                    StatusCode::FORBIDDEN.into_response()
                }
            }),
        )
        .route("/file", get(|| async { [(header::LOCATION, "file:///etc/passwd")].into_response() }))
        .route("/page", get(|| async { "<html>sign in</html>" }))
        .route("/missing", get(|| async { StatusCode::NOT_FOUND }))
        .route("/large", get(|| async { vec![0_u8; 300_000] }))
        .route(
            "/endless",
            get(|| async {
                let zeros = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![0_u8; 10_000]));
                axum::body::Body::from_stream(zeros)
            }),
        )
        .route("/never", get(|| async { std::future::pending::<()>().await }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

#[tokio::test]
async fn media_urls_are_fetched_within_limits() {
    let host = host().await;
    let renderer = TestRenderer::free();
    let server = TestServer::with(renderer.clone(), |config| {
        config.allow_private_media = true;
        config.limits.media.image_bytes = 200_000;
        config.limits.media.fetch_timeout = TIMEOUT;
    })
    .await;
    for path in ["red.png", "moved", "agent"] {
        server.make(&json!({"model": B, "prompt": path, "image": format!("http://{host}/{path}")})).await;
        assert_eq!(renderer.last_job().first_frame.unwrap().pixel(0, 0), RED);
    }
    server
        .make(
            &json!({"model": B, "prompt": "n", "image": format!("http://localhost:{}/red.png", host.port())}),
        )
        .await;
    let answer = async |path: &str| {
        let body = json!({"model": B, "prompt": "p", "image": format!("http://{host}/{path}")});
        error_summary(server.post(&body).await).await
    };
    assert_eq!(answer("round").await, "400 media_unreachable image");
    assert_eq!(answer("missing").await, "400 media_unreachable image");
    assert_eq!(answer("login").await, "400 media_unreachable image");
    assert_eq!(answer("page").await, "400 invalid_image image");
    assert_eq!(answer("large").await, "400 media_too_large image");
    assert_eq!(answer("endless").await, "400 media_too_large image");
    let closed = json!({"model": B, "prompt": "p", "image": "http://127.0.0.1:1/x.png"});
    assert_eq!(error_summary(server.post(&closed).await).await, "400 media_unreachable image");
    server.service.shutdown().await;
}

#[tokio::test]
async fn media_url_that_never_responds_times_out() {
    let host = host().await;
    let server = TestServer::with(TestRenderer::free(), |config| {
        config.allow_private_media = true;
        config.limits.media.fetch_timeout = Duration::from_millis(500);
    })
    .await;
    let body = json!({"model": B, "prompt": "p", "image": format!("http://{host}/never")});
    assert_eq!(error_summary(server.post(&body).await).await, "400 media_unreachable image");
    server.service.shutdown().await;
}

#[tokio::test]
async fn media_urls_in_private_networks_are_rejected() {
    let host = host().await;
    let server = TestServer::open(TestRenderer::free()).await;
    for url in [
        format!("http://{host}/red.png"),
        format!("http://localhost:{}/red.png", host.port()),
        format!("http://2130706433:{}/red.png", host.port()),
        format!("http://[::ffff:127.0.0.1]:{}/red.png", host.port()),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://[fd00::1]/".to_owned(),
        format!("http://{host}/files/00000000000000000000000000.png"),
    ] {
        let answer =
            error_summary(server.post(&json!({"model": B, "prompt": "p", "image": url})).await).await;
        assert_eq!(answer, "400 media_not_public image", "{url}");
    }
    let login = json!({"model": B, "prompt": "p", "image": "https://me:secret@example.com/a.png"});
    assert_eq!(error_summary(server.post(&login).await).await, "400 invalid_url image");
    server.service.shutdown().await;
}

#[tokio::test]
async fn too_many_media_items_are_rejected() {
    let server = TestServer::open(TestRenderer::free()).await;
    let image = data_uri(&png(20, 20, RED));
    let many: Vec<&str> = (0..17).map(|_| image.as_str()).collect();
    let answer = error_summary(server.post(&json!({"model": B, "prompt": "p", "images": many})).await).await;
    assert_eq!(answer, "400 too_many_assets images[16]");
    server.service.shutdown().await;
}

#[tokio::test]
async fn bare_base64_is_accepted_and_equal_inputs_share_a_file() {
    let renderer = TestRenderer::free();
    let server = TestServer::open(renderer.clone()).await;
    let uri = data_uri(&png(20, 20, BLUE));
    let bare = uri.split_once(',').unwrap().1;
    server.make(&json!({"model": B, "prompt": "p", "images": [bare, uri]})).await;
    let job = renderer.last_job();
    assert_eq!(job.references.iter().map(|image| image.pixel(1, 1)).collect::<Vec<_>>(), [BLUE; 2]);
    let inputs = std::fs::read_dir(server.folder.path().join("data/inputs")).unwrap();
    assert_eq!(inputs.count(), 1);
    drop(Arc::clone(&renderer));
    server.service.shutdown().await;
}

/// A film of one second that fades from red to blue.
fn film() -> Vec<u8> {
    let spec = ClipSpec::new(64, 48, FrameRate::new(4, 1).unwrap());
    let mut clip = ClipWriter::new(spec).unwrap();
    for color in [RED, RED, BLUE, BLUE] {
        clip.push_frame(&RgbImage::from_pixels(64, 48, color.repeat(64 * 48)).unwrap()).unwrap();
    }
    clip.finish().unwrap()
}

#[tokio::test]
async fn reference_video_gives_frames_and_ratio() {
    let renderer = TestRenderer::free();
    let server = TestServer::open(renderer.clone()).await;
    let request = |url: &str| {
        let content = json!([{"type": "video_url", "role": "reference_video", "video_url": {"url": url}}]);
        json!({"model": A, "prompt": "p", "resolution": "480p", "ratio": "adaptive", "metadata": {"content": content}})
    };
    let task = server.make(&request(&data_uri(&film()))).await;
    assert_eq!((task["status"].as_str(), task["size"].as_str()), (Some("completed"), Some("740x554")));
    let job = renderer.last_job();
    let colors: Vec<[u8; 3]> = job.references.iter().map(|image| image.pixel(30, 20)).collect();
    let near = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) < 12);
    assert!(near(colors[0], RED) && near(colors[1], BLUE), "{colors:?}");
    let mut truncated = film();
    truncated.truncate(truncated.len() / 2);
    let param = "metadata.content[0].video_url.url";
    for bytes in [truncated, png(64, 48, RED)] {
        let answer = error_summary(server.post(&request(&data_uri(&bytes))).await).await;
        assert_eq!(answer, format!("400 invalid_video {param}"));
    }
    server.service.shutdown().await;
}

/// 16-bit mono WAV at 8 kHz.
fn wav(samples: &[i16]) -> Vec<u8> {
    let mut file =
        b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data".to_vec();
    file.extend((samples.len() as u32 * 2).to_le_bytes());
    file.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    file
}

#[tokio::test]
async fn reference_audio_is_decoded_or_rejected() {
    let renderer = TestRenderer::free();
    let server = TestServer::open(renderer.clone()).await;
    let body = |sounds: &[&[u8]]| {
        let items = sounds.iter().map(|sound| {
            let url = data_uri(sound).replace("image/png", "audio/wav");
            json!({"type": "audio_url", "role": "reference_audio", "audio_url": {"url": url}})
        });
        let mut body = request("heard");
        // The document does not allow audio as the only reference: an image comes with it.
        let image = json!({"type": "image_url", "role": "reference_image", "image_url": {"url": data_uri(&png(30, 20, RED))}});
        body["metadata"] = json!({"content": std::iter::once(image).chain(items).collect::<Vec<_>>()});
        body
    };
    server.make(&body(&[&wav(&[16_384; 800]), &wav(&[-16_384; 400])])).await;
    let sound = renderer.last_job().reference_audio.expect("the sound");
    assert_eq!((sound.sample_rate, sound.channels, sound.samples.len()), (48_000, 2, 7_200 * 2));
    assert!((sound.samples[4_800] - 0.5).abs() < 0.01 && (sound.samples[12_000] + 0.5).abs() < 0.01);
    for broken in [b"ID3\x04 no sound".as_slice(), b"RIFF\0\0\0\0WAVEfmt ", b"\0\0\0\x18ftypM4A ", &wav(&[])]
    {
        let summary = error_summary(server.post(&body(&[broken])).await).await;
        assert!(summary.starts_with("400 invalid_audio metadata.content"), "{summary}");
    }
    server.service.shutdown().await;
}

/// AAC in ADTS, which is decoded with ffmpeg: two frames.
fn adts() -> Vec<u8> {
    [0xff, 0xf1, 0x50, 0x80, 0x01, 0x3f, 0xfc, 0, 0].repeat(2)
}

#[cfg(unix)]
#[tokio::test]
async fn errors_of_media_have_no_paths_of_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let [script, ffmpeg] = ["script", "ffmpeg"].map(|name| folder.path().join(name));
    let text = "#!/bin/sh\nfor word; do case $word in file:*) echo \"[mp3 @ 0x55d0c8] $word: Invalid data\" >&2;; esac; done\nexit 1\n";
    std::fs::write(&script, text).unwrap();
    // Another program writes what is executed: children that other tests start at this moment have our open files until they execute theirs.
    let copied = std::process::Command::new("install").args(["-m", "755"]).args([&script, &ffmpeg]).status();
    assert!(copied.unwrap().success());
    let server =
        TestServer::with(TestRenderer::free(), |config| config.ffmpeg = Ffmpeg::with_ffmpeg(ffmpeg)).await;
    let message = async |kind: &str, bytes: &[u8]| {
        let content = json!([{"type": kind, kind: {"url": data_uri(bytes)}}]);
        let response =
            server.post(&json!({"model": A, "prompt": "p", "metadata": {"content": content}})).await;
        let body: Value = response.json().await.unwrap();
        body["error"]["message"].as_str().unwrap_or("accepted").to_owned()
    };
    assert_eq!(message("audio_url", &adts()).await, "ffmpeg failed: the file: Invalid data");
    let mut messages = Vec::new();
    // Each box of the index claims more entries than it has.
    for name in [b"stco", b"stsz", b"stts", b"stsc", b"stsd", b"mvhd", b"tkhd", b"hdlr"] {
        let mut broken = film();
        let start = broken.windows(4).position(|window| window == name).unwrap();
        broken[start + 4..start + 16].fill(0xff);
        messages.push(format!("{}: {}", String::from_utf8_lossy(name), message("video_url", &broken).await));
    }
    let messages = messages.join("\n");
    assert!(!messages.contains("src/") && !messages.contains(".rs"), "{messages}");
    insta::assert_snapshot!("broken_boxes", messages);
    server.service.shutdown().await;
}

/// A PNG whose header says that it has so many pixels a side, with so many bits for each of four channels.
fn png_header(side: u32, bits: u8) -> Vec<u8> {
    let mut chunk = b"IHDR".to_vec();
    chunk.extend(side.to_be_bytes());
    chunk.extend(side.to_be_bytes());
    chunk.extend([bits, 6, 0, 0, 0]);
    let crc = !chunk.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    });
    let ends = &png(16, 16, RED);
    // The pixels of a small image after the header of a large one: what decodes them fails, what reads the header does not.
    let head = [b"\x89PNG\r\n\x1a\n", &13_u32.to_be_bytes()[..], &chunk, &crc.to_be_bytes()].concat();
    [&head, &ends[33..]].concat()
}

#[tokio::test]
async fn images_are_refused_by_their_header() {
    let server = TestServer::open(TestRenderer::free()).await;
    for (side, bits, expected) in [
        (6_001, 8, "400 invalid_image_size image"),
        (8_000, 8, "400 invalid_image_size image"),
        // More pixels, or more bytes of pixels, than are decoded.
        (30_000, 8, "400 invalid_image image"),
        (8_190, 16, "400 invalid_image image"),
        (5_990, 16, "400 invalid_image image"),
    ] {
        let mut body = request("p");
        body["image"] = json!(data_uri(&png_header(side, bits)));
        // Many at once, as an attacker sends them.
        let answers = (0..6).map(|_| async { error_summary(server.post(&body).await).await });
        for answer in futures_join(answers).await {
            assert_eq!(answer, expected, "{side} pixels of {bits} bits");
        }
    }
    server.service.shutdown().await;
}

/// Polls all futures until each has ended.
async fn futures_join<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = pending.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, slot) in pending.iter_mut().zip(&mut done) {
            if slot.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *slot = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
