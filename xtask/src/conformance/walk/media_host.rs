//! A host of media on loopback, for requests with URLs.

use std::net::SocketAddr;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::routing::get;
use media::{RgbImage, encode_png};

use crate::stub_video;

/// A picture of 4:3.
pub(super) fn picture() -> Vec<u8> {
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

/// Starts the host; it ends with the runtime.
pub(super) async fn start() -> Result<SocketAddr, String> {
    let (picture, clip, sound) = (picture(), stub_video::clip()?, sound());
    let serve = |bytes: Vec<u8>| get(move || async move { bytes });
    let app = Router::new()
        .route("/a.png", serve(picture))
        .route("/a.mp4", serve(clip))
        .route("/a.wav", serve(sound))
        .route("/login", get(|| async { StatusCode::UNAUTHORIZED }))
        .route("/forbidden", get(|| async { StatusCode::FORBIDDEN }))
        .route("/challenge", get(|| async { "<!doctype html><title>Are you a robot?</title>" }))
        .route("/cookie", get(|| async { Redirect::temporary("/login") }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(address)
}
