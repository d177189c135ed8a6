//! MP3 and FLAC are decoded without ffmpeg.

use std::path::PathBuf;
use std::time::Duration;

use media::{AudioBuffer, AudioDecodeSpec, Ffmpeg, MediaError, decode_audio, inspect, sound_duration};

/// Two seconds of 440 Hz: 22.05 kHz at 32 kbit/s, with an ID3 tag; 16 kHz.
const TONES: [(&str, &[u8]); 2] =
    [("tone.mp3", include_bytes!("sounds/tone.mp3")), ("tone.flac", include_bytes!("sounds/tone.flac"))];

fn decode(bytes: &[u8], seconds: u64) -> Result<AudioBuffer, MediaError> {
    let max_duration = Duration::from_secs(seconds);
    let spec = AudioDecodeSpec { sample_rate: 48_000, channels: 1, max_duration };
    decode_audio(bytes, &Ffmpeg::default(), spec)
}

/// Periods in a second of it.
fn periods(sound: &[f32]) -> usize {
    sound[24_000..72_000].windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count()
}

fn level(sound: &[f32]) -> f32 {
    (sound.iter().map(|sample| sample * sample).sum::<f32>() / sound.len() as f32).sqrt()
}

#[test]
fn mp3_and_flac_are_decoded_without_ffmpeg() {
    for (name, bytes) in TONES {
        let info = inspect(bytes).unwrap();
        assert!(info.is_native, "{name}");
        assert_eq!(info.duration, Some(Duration::from_secs(2)), "{name}");
        let sound = decode(bytes, 60).unwrap().samples;
        // Without what an encoder of MP3 adds at both ends.
        assert_eq!(sound.len(), 96_000, "{name}");
        assert!((439..=441).contains(&periods(&sound)), "{name}: {}", periods(&sound));
        // ffmpeg's sine has an amplitude of an eighth.
        assert!((level(&sound[24_000..72_000]) - 0.125 / 2_f32.sqrt()).abs() < 0.01, "{name}");
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/sounds").join(name);
        assert_eq!(sound_duration(&path, &Ffmpeg::default()).unwrap(), Duration::from_secs(2), "{name}");
    }
}

#[test]
fn longer_sound_is_refused() {
    for (name, bytes) in TONES {
        let refused = decode(bytes, 1).unwrap_err();
        assert!(matches!(refused, MediaError::TooLarge { .. }), "{name}: {refused}");
    }
}

#[test]
fn short_damage_is_silent_and_long_damage_is_refused() {
    for (name, bytes) in TONES {
        let damaged = |length: usize| {
            let mut damaged = bytes.to_vec();
            let from = bytes.len() / 4;
            damaged[from..from + length].fill(0x55);
            damaged
        };
        let length = decode(&damaged(8), 60).unwrap().samples.len();
        assert!(length.abs_diff(96_000) < 6_000, "{name}: {length}");
        let refused = decode(&damaged(bytes.len() * 2 / 3), 60).map(|sound| sound.samples.len());
        assert!(matches!(refused, Err(MediaError::Damaged(_))), "{name}: {refused:?}");
    }
}

/// Neither a panic nor more than the stream's own length, and what passes the media gate can be joined.
#[test]
fn damaged_streams_are_decoded_in_bounds() {
    for (name, bytes) in TONES {
        let bounded = |bytes: &[u8], damage: String| {
            let decoded = decode(bytes, 3);
            let is_usable = inspect(bytes).is_ok_and(|info| info.is_native);
            assert_eq!(is_usable, decoded.is_ok(), "{name}, {damage}: {decoded:?}");
            if let Ok(sound) = decoded {
                assert!(sound.samples.len() <= 3 * 48_000, "{name}, {damage}: {}", sound.samples.len());
            }
        };
        for length in (0..bytes.len()).step_by(bytes.len() / 60) {
            bounded(&bytes[..length], format!("{length} bytes"));
        }
        for position in (0..400).step_by(3).chain((400..bytes.len()).step_by(bytes.len() / 60)) {
            let mut damaged = bytes.to_vec();
            damaged[position] ^= 0xff;
            bounded(&damaged, format!("byte {position}"));
        }
    }
}
