//! Tests of reading requests.

use super::*;
use serde_json::json;

const A: &str = "modela-video-2-0-260128";

fn parse(request: &Value) -> Result<VideoRequest, ApiError> {
    VideoRequest::parse(Contract::embedded(), request)
}

fn roles(request: &Value) -> Vec<(String, MediaRole)> {
    parse(request).unwrap().media.into_iter().map(|media| (media.param, media.role)).collect()
}

#[test]
fn absent_fields_have_defaults() {
    let request = parse(&json!({"model": A, "prompt": "sea"})).unwrap();
    assert_eq!(
        (request.seconds, request.resolution, request.aspect_ratio),
        (5.0, Resolution::P720, AspectRatio::FollowInput)
    );
    assert!(!request.fast && !request.generate_audio && !request.return_last_frame && request.seed.is_none());
    let fast = parse(&json!({"model": "modela-video-2-0-fast-260128", "prompt": "sea"})).unwrap();
    assert!(fast.fast);
}

#[test]
fn family_b_resolution_from_model_and_always_audio() {
    let request = parse(&json!({
        "model": "modelb-video-480p", "prompt": "sea", "size": "720x1280", "resolution": "1080p",
        "generate_audio": false, "seed": 3, "metadata": {"duration": 9}, "seconds": "1",
    }))
    .unwrap();
    assert_eq!(request.resolution, Resolution::P480);
    assert_eq!(request.aspect_ratio, AspectRatio::Fixed(Ratio::parse("9:16").unwrap()));
    // Fields of the other family have no effect.
    assert!(request.generate_audio && request.seed.is_none());
    assert!((request.seconds - 1.0).abs() < f64::EPSILON);
}

#[test]
fn family_a_reads_fields_from_metadata() {
    let request = parse(&json!({"model": A, "prompt": "sea", "metadata": {
        "duration": 7, "resolution": "480p", "ratio": "1:1", "generate_audio": true, "watermark": true,
        "camera_fixed": true, "return_last_frame": true, "seed": -5, "mood": "calm",
    }}))
    .unwrap();
    assert!((request.seconds - 7.0).abs() < f64::EPSILON);
    assert_eq!(request.resolution, Resolution::P480);
    assert_eq!(request.seed, Some(-5));
    assert!(request.generate_audio && request.watermark && request.camera_fixed && request.return_last_frame);
}

#[test]
fn family_a_size_alone_sets_resolution_and_ratio() {
    let request = parse(&json!({"model": A, "prompt": "sea", "size": "1080x1920"})).unwrap();
    assert_eq!(request.resolution, Resolution::P1080);
    assert_eq!(request.aspect_ratio, AspectRatio::Fixed(Ratio::parse("9:16").unwrap()));
    let both =
        json!({"model": A, "prompt": "sea", "size": "1080x1920", "resolution": "480p", "ratio": "4:3"});
    assert_eq!(parse(&both).unwrap().resolution, Resolution::P480);
    let error = parse(&json!({"model": A, "prompt": "sea", "size": "0x5"})).unwrap_err();
    assert_eq!((error.code.as_ref(), error.param.as_deref()), ("invalid_size", Some("size")));
}

#[test]
fn media_items_get_roles() {
    let item = |role: Option<&str>, kind: &str| {
        let mut item = json!({"type": kind, kind: {"url": "https://example.com/x"}});
        if let Some(role) = role {
            item["role"] = role.into();
        }
        item
    };
    let with = |content: Vec<Value>| json!({"model": A, "prompt": "p", "metadata": {"content": content}});
    let only = |content: Vec<Value>| -> Vec<MediaRole> {
        roles(&with(content)).into_iter().map(|(_, role)| role).collect()
    };
    assert_eq!(only(vec![item(None, "image_url")]), [MediaRole::FirstFrame]);
    assert_eq!(only(vec![item(None, "image_url"), item(None, "image_url")]), [MediaRole::ReferenceImage; 2]);
    assert_eq!(
        only(vec![item(Some("last_frame"), "image_url"), item(Some("first_frame"), "image_url")]),
        [MediaRole::LastFrame, MediaRole::FirstFrame]
    );
    assert_eq!(
        only(vec![item(None, "video_url"), item(None, "audio_url")]),
        [MediaRole::ReferenceVideo, MediaRole::ReferenceAudio]
    );
    // A lone image without a role is the first frame, whatever else comes with it.
    assert_eq!(
        only(vec![item(None, "image_url"), item(Some("last_frame"), "image_url"), item(None, "audio_url")]),
        [MediaRole::FirstFrame, MediaRole::LastFrame, MediaRole::ReferenceAudio]
    );
    assert_eq!(
        only(vec![item(None, "image_url"), item(Some("reference_image"), "image_url")]),
        [MediaRole::ReferenceImage; 2]
    );
    // Frames and references together, with and without roles.
    assert_eq!(
        only(vec![item(Some("first_frame"), "image_url"), item(Some("reference_audio"), "audio_url")]),
        only(vec![item(None, "image_url"), item(None, "audio_url")])
    );
    let roles_beside = |field: &str, value: Value| {
        let mut body = with(vec![item(None, "image_url")]);
        body[field] = value;
        roles(&body).into_iter().map(|(_, role)| role).collect::<Vec<_>>()
    };
    assert_eq!(
        roles_beside("image", "https://example.com/y".into()),
        [MediaRole::FirstFrame, MediaRole::ReferenceImage]
    );
    assert_eq!(roles_beside("ref_images", json!(["https://example.com/y"])), [MediaRole::ReferenceImage; 2]);
    let mut starts = with(vec![item(Some("first_frame"), "image_url")]);
    starts["image"] = "https://example.com/y".into();
    assert_eq!(
        roles(&starts),
        [
            ("image".to_owned(), MediaRole::ReferenceImage),
            ("metadata.content[0].image_url.url".to_owned(), MediaRole::FirstFrame)
        ]
    );
    let duplicate_frames =
        with(vec![item(Some("first_frame"), "image_url"), item(Some("first_frame"), "image_url")]);
    assert_eq!(parse(&duplicate_frames).unwrap_err().code, "conflicting_content");
}

#[test]
fn seed_beyond_64_bits_is_rejected() {
    let too_large: Value = serde_json::from_str("18446744073709551615").unwrap();
    let error = parse(&json!({"model": A, "prompt": "p", "seed": too_large})).unwrap_err();
    assert_eq!(error.code, "invalid_seed");
}
