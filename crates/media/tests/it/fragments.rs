//! Fragmented MP4 files: probed, decoded and joined as the same clip in one piece.

use media::{
    Ffmpeg, JoinClip, JoinOptions, MediaError, first_frame_bytes, join, last_frame_bytes, probe_bytes,
};

use crate::boxes::{Base, Fragments, fragmented};
use crate::fixtures::{PLAIN, Recipe};

const BASES: [Base; 2] = [Base::Moof, Base::Absolute];

fn clip() -> Vec<u8> {
    Recipe { size: (64, 48), frames: 30, sound: Some((16_000, 1)), ..PLAIN }.make()
}

#[test]
fn fragmented_clip_has_the_same_frames_and_sound() {
    let clip = clip();
    let (expected, first, last) =
        (probe_bytes(&clip).unwrap(), first_frame_bytes(&clip).unwrap(), last_frame_bytes(&clip).unwrap());
    let spec = media::AudioDecodeSpec {
        sample_rate: 16_000,
        channels: 1,
        max_duration: std::time::Duration::from_secs(9),
    };
    let sound = media::decode_audio(&clip, &Ffmpeg::default(), spec).unwrap().samples;
    for form in BASES.map(|base| Fragments { base, samples: 7 }) {
        let file = fragmented(&clip, form);
        let probe = probe_bytes(&file).unwrap_or_else(|error| panic!("{form:?}: {error}"));
        assert_eq!(probe.video, expected.video, "{form:?}");
        assert_eq!(first_frame_bytes(&file).unwrap(), first, "{form:?}");
        assert_eq!(last_frame_bytes(&file).unwrap(), last, "{form:?}");
        let decoded = media::decode_audio(&file, &Ffmpeg::default(), spec).unwrap().samples;
        // The file does not say where the last packet's padding begins.
        assert!(decoded.len() >= sound.len() && decoded[..sound.len()] == sound, "{form:?}");
    }
}

#[test]
fn fragmented_clips_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip();
    let paths: Vec<_> = BASES
        .into_iter()
        .map(|base| {
            let path = folder.path().join(format!("{base:?}.mp4"));
            std::fs::write(&path, fragmented(&clip, Fragments { base, samples: 4 })).unwrap();
            path
        })
        .collect();
    let film = folder.path().join("film.mp4");
    let clips: Vec<JoinClip> = paths.into_iter().map(JoinClip::whole).collect();
    let report = join(&clips, &film, &JoinOptions::default()).unwrap();
    assert_eq!((report.copied_frames, report.encoded_frames), (60, 0));
    assert_eq!(media::last_frame(&film).unwrap(), last_frame_bytes(&clip).unwrap());
}

#[test]
fn fragment_cut_off_is_incomplete() {
    let file = fragmented(&clip(), Fragments { base: Base::Absolute, samples: 7 });
    for missing in [1, 100] {
        let error = probe_bytes(&file[..file.len() - missing]).unwrap_err();
        assert!(matches!(&error, MediaError::Damaged(reason) if reason.contains("incomplete")), "{error}");
    }
}

#[test]
fn fragment_with_any_bytes_does_not_panic() {
    let clip = Recipe { size: (64, 48), frames: 4, sound: Some((16_000, 1)), ..PLAIN }.make();
    for base in BASES {
        let file = fragmented(&clip, Fragments { base, samples: 2 });
        let moof = file.windows(4).position(|name| name == b"moof").unwrap();
        for position in moof..(moof + 240).min(file.len()) {
            for value in [0, 0x7f, 0xff] {
                let mut bytes = file.clone();
                bytes[position] = value;
                // Whatever the outcome, it is one.
                drop(probe_bytes(&bytes).and_then(|_| last_frame_bytes(&bytes)));
            }
        }
    }
}
