//! A host of media on loopback, for requests with URLs.

use axum::Router;
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::routing::get;
use media::{RgbImage, encode_png};

use crate::http::{listen, serve};
use crate::stub_video;

/// An image of 4:3.
pub(super) fn image() -> Vec<u8> {
    encode_png(&RgbImage::new(64, 48))
}

/// Half a second of silence: 16-bit mono WAV at 8 kHz.
pub(super) fn sound() -> Vec<u8> {
    let mut file =
        b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data".to_vec();
    file.extend(8_000_u32.to_le_bytes());
    file.resize(file.len() + 8_000, 0);
    file
}

/// Starts the host; it ends with the runtime. Returns its URL, without a slash at its end.
pub(super) async fn start() -> Result<String, String> {
    let (image, clip, sound) = (image(), stub_video::clip()?, sound());
    let file = |bytes: Vec<u8>| get(move || async move { bytes });
    let app = Router::new()
        .route("/a.png", file(image))
        .route("/a.mp4", file(clip))
        .route("/a.wav", file(sound))
        .route("/login", get(|| async { StatusCode::UNAUTHORIZED }))
        .route("/forbidden", get(|| async { StatusCode::FORBIDDEN }))
        .route("/challenge", get(|| async { "<!doctype html><title>Are you a robot?</title>" }))
        .route("/cookie", get(|| async { Redirect::temporary("/login") }));
    let (listener, url) = listen().await?;
    serve(listener, app);
    Ok(url.trim_end_matches('/').to_owned())
}
