//! What the caller gets besides the film: its poster and its progress.

use super::*;

#[test]
fn poster_is_a_frame_of_the_film_in_both_ways_of_joining() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 60, 0, None);
    for size in [None, Some((128, 96))] {
        let path = folder.path().join("film.mp4");
        let options = JoinOptions { poster: Some(40), size, ..JoinOptions::default() };
        let report = join(&[part(&a, 10, 50)], &path, &options).unwrap();
        let jpeg = report.poster.unwrap();
        let image = crate::decode_image(&jpeg).unwrap();
        assert_eq!((image.width(), image.height()), size.unwrap_or(SIZE));
        // The frame 50 of the clip.
        assert!(image.pixels()[0].abs_diff(100) < 3, "{}", image.pixels()[0]);
        let bytes = fs::read(&path).unwrap();
        assert!(
            bytes.windows(4).any(|name| name == b"covr")
                && bytes.windows(jpeg.len()).any(|part| part == jpeg)
        );
        let beyond = JoinOptions { poster: Some(900), ..JoinOptions::default() };
        let last = join(&[part(&a, 10, 50)], &path, &beyond).unwrap().poster.unwrap();
        assert!(crate::decode_image(&last).unwrap().pixels()[0].abs_diff(118) < 3);
        assert_eq!(join(&[part(&a, 10, 50)], &path, &JoinOptions::default()).unwrap().poster, None);
    }
}

#[test]
fn progress_counts_copied_and_encoded_frames() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 100, 0, None);
    let seen = |clips: &[JoinClip], size| {
        let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let list = std::sync::Arc::clone(&seen);
        let progress =
            OnJoinProgress::new(move |progress| list.lock().unwrap().push((progress.done, progress.all)));
        let options = JoinOptions { progress: Some(progress), size, ..JoinOptions::default() };
        join(clips, &folder.path().join("film.mp4"), &options).unwrap();
        let seen = seen.lock().unwrap();
        seen.clone()
    };
    // Of the groups of 48 frames, those from 10 to 47 are encoded.
    let cut = seen(&[part(&a, 10, 90)], None);
    assert_eq!((cut.len(), cut.first(), cut.last()), (39, Some(&(52, 90)), Some(&(90, 90))));
    let all = seen(&[part(&a, 10, 90)], Some((128, 96)));
    assert_eq!((all.len(), all.first(), all.last()), (90, Some(&(1, 90)), Some(&(90, 90))));
}

/// The names that encoders write into their clips, and their bit rates, say nothing of how frames are decoded.
#[test]
fn clips_whose_entries_differ_in_hints_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["one.mp4", "two.mp4"].map(|name| {
        let path = clip(folder.path(), name, 12, 40, None);
        let mut bytes = fs::read(&path).unwrap();
        let entry = bytes.windows(4).position(|window| window == b"avc1").unwrap() - 4;
        // The name of the compressor: a length, and text.
        bytes[entry + 50..entry + 58].copy_from_slice(format!("\x07{name}").as_bytes());
        fs::write(&path, bytes).unwrap();
        path
    });
    let film = folder.path().join("film.mp4");
    let joined = join(&paths.map(JoinClip::whole), &film, &JoinOptions::default()).unwrap();
    assert_eq!((joined.copied_frames, joined.encoded_frames), (24, 0));
}
