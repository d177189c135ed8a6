//! Decoding of WAV files.

use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use crate::MediaError;
use crate::audio_buffer::AudioBuffer;

/// How a sample is stored.
#[derive(Clone, Copy)]
enum Coding {
    Unsigned8,
    Signed16,
    Signed24,
    Signed32,
    Float32,
}

struct Format {
    coding: Coding,
    channels: u16,
    sample_rate: u32,
}

/// The audio of a WAV file: PCM of 8 to 32 bits, or 32-bit floating point.
///
/// # Errors
/// [`MediaError::NeedsFfmpeg`] for other codings, [`MediaError::Damaged`] for an invalid header.
pub(crate) fn decode(bytes: &[u8]) -> Result<AudioBuffer, MediaError> {
    let mut format = None;
    let mut rest = bytes.get(12..).unwrap_or_default();
    while let Some((header, after)) = rest.split_at_checked(8) {
        let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        // Interrupted recorders leave a size of zero or of the maximum: the actual data counts.
        let body = &after[..size.min(after.len())];
        match &header[..4] {
            b"fmt " => format = Some(read_format(body)?),
            b"data" => {
                let format =
                    format.ok_or_else(|| MediaError::damaged("its samples come before their format"))?;
                return Ok(samples(&format, if size == 0 { after } else { body }));
            }
            _ => {}
        }
        // Chunks begin at even offsets.
        rest = after.get(size.saturating_add(size % 2)..).unwrap_or_default();
    }
    Err(MediaError::damaged("the WAV file holds no samples"))
}

/// How long a WAV file plays. Its samples are not read.
///
/// # Errors
/// As [`decode`], and when it cannot be read.
pub(crate) fn duration(file: &mut (impl Read + Seek)) -> Result<Duration, MediaError> {
    let io = || MediaError::io("cannot read the sound");
    let end = file.seek(SeekFrom::End(0)).map_err(io())?;
    let (mut position, mut format) = (12, None);
    while position + 8 <= end {
        let mut header = [0; 8];
        file.seek(SeekFrom::Start(position)).and_then(|_| file.read_exact(&mut header)).map_err(io())?;
        let size = u64::from(u32::from_le_bytes([header[4], header[5], header[6], header[7]]));
        position += 8;
        match &header[..4] {
            b"fmt " => {
                let mut body = Vec::new();
                file.take(size.min(64)).read_to_end(&mut body).map_err(io())?;
                format = Some(read_format(&body)?);
            }
            b"data" => {
                let format: Format =
                    format.ok_or_else(|| MediaError::damaged("its samples come before their format"))?;
                let rest = end - position;
                let bytes = if size == 0 { rest } else { size.min(rest) };
                let frames = bytes / (format.coding.bytes() * u64::from(format.channels));
                return Ok(Duration::from_nanos(
                    u64::try_from(u128::from(frames) * 1_000_000_000 / u128::from(format.sample_rate))
                        .unwrap_or(u64::MAX),
                ));
            }
            _ => {}
        }
        position = position.saturating_add(size).saturating_add(size % 2);
    }
    Err(MediaError::damaged("the WAV file holds no samples"))
}

impl Coding {
    /// Bytes of a sample.
    fn bytes(self) -> u64 {
        match self {
            Self::Unsigned8 => 1,
            Self::Signed16 => 2,
            Self::Signed24 => 3,
            Self::Signed32 | Self::Float32 => 4,
        }
    }
}

fn read_format(body: &[u8]) -> Result<Format, MediaError> {
    let short =
        |offset: usize| body.get(offset..offset + 2).map(|field| u16::from_le_bytes([field[0], field[1]]));
    let (Some(tag), Some(channels), Some(rate), Some(bits)) = (short(0), short(2), body.get(4..8), short(14))
    else {
        return Err(MediaError::damaged("the WAV file's format is cut short"));
    };
    // The extensible form has the real format tag at the beginning of its GUID.
    let tag = if tag == 0xfffe { short(24).unwrap_or(tag) } else { tag };
    let coding = match (tag, bits) {
        (1, 8) => Coding::Unsigned8,
        (1, 16) => Coding::Signed16,
        (1, 24) => Coding::Signed24,
        (1, 32) => Coding::Signed32,
        (3, 32) => Coding::Float32,
        _ => return Err(MediaError::needs(format!("WAV sound of format {tag} with {bits} bits"))),
    };
    let sample_rate = u32::from_le_bytes([rate[0], rate[1], rate[2], rate[3]]);
    if !(1..=8).contains(&channels) || !(1_000..=384_000).contains(&sample_rate) {
        return Err(MediaError::damaged("the WAV file has an impossible rate or number of channels"));
    }
    Ok(Format { coding, channels, sample_rate })
}

fn samples(format: &Format, bytes: &[u8]) -> AudioBuffer {
    let finite = |value: f32| if value.is_finite() { value.clamp(-1.0, 1.0) } else { 0.0 };
    let mut samples: Vec<f32> = match format.coding {
        Coding::Unsigned8 => bytes.iter().map(|byte| (f32::from(*byte) - 128.0) / 128.0).collect(),
        Coding::Signed16 => {
            bytes.chunks_exact(2).map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0).collect()
        }
        Coding::Signed24 => bytes
            .chunks_exact(3)
            .map(|b| (i32::from_le_bytes([0, b[0], b[1], b[2]]) >> 8) as f32 / 8_388_608.0)
            .collect(),
        Coding::Signed32 => bytes
            .chunks_exact(4)
            .map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32 / 2_147_483_648.0)
            .collect(),
        Coding::Float32 => {
            bytes.chunks_exact(4).map(|b| finite(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect()
        }
    };
    let complete_len = samples.len() - samples.len() % usize::from(format.channels);
    samples.truncate(complete_len);
    AudioBuffer { sample_rate: format.sample_rate, channels: format.channels, samples }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn file(tag: u16, bits: u16, channels: u16, data: &[u8]) -> Vec<u8> {
        let mut file = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt \x10\0\0\0".to_vec();
        file.extend(tag.to_le_bytes());
        file.extend(channels.to_le_bytes());
        file.extend(8_000_u32.to_le_bytes());
        file.extend([0; 6]);
        file.extend(bits.to_le_bytes());
        file.extend(b"data");
        file.extend((data.len() as u32).to_le_bytes());
        file.extend(data);
        file
    }

    #[test]
    fn decode_wav_of_every_sample_format() {
        let samples = |tag, bits, data: &[u8]| decode(&file(tag, bits, 1, data)).unwrap().samples;
        assert_eq!(samples(1, 8, &[0, 128, 192]), [-1.0, 0.0, 0.5]);
        assert_eq!(samples(1, 16, &[0, 0x80, 0, 0x40]), [-1.0, 0.5]);
        assert_eq!(samples(1, 24, &[0, 0, 0x80, 0, 0, 0x40]), [-1.0, 0.5]);
        assert_eq!(samples(1, 32, &[0, 0, 0, 0x40]), [0.5]);
        assert_eq!(samples(3, 32, &[0.25_f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat()), [0.25, 0.0]);
    }

    #[test]
    fn decode_wav_partial_frame_is_dropped_and_bad_header_refused() {
        let stereo = decode(&file(1, 16, 2, &[0; 7])).unwrap();
        assert_eq!((stereo.channels, stereo.sample_rate, stereo.samples.len()), (2, 8_000, 2));
        assert!(matches!(decode(&file(2, 4, 1, &[0])), Err(MediaError::NeedsFfmpeg { .. })));
        assert!(matches!(decode(&file(1, 16, 0, &[0])), Err(MediaError::Damaged(_))));
        let complete = file(1, 16, 1, &[0; 4]);
        for length in 0..complete.len() - 4 {
            assert!(decode(&complete[..length]).map_or(true, |sound| sound.samples.is_empty()), "{length}");
        }
    }

    #[test]
    fn duration_is_read_from_the_header() {
        let duration_of =
            |bytes: Vec<u8>| duration(&mut std::io::Cursor::new(bytes)).map_err(|error| error.to_string());
        assert_eq!(duration_of(file(1, 16, 2, &vec![0; 32_000])), Ok(Duration::from_secs(1)));
        assert_eq!(duration_of(file(3, 32, 1, &vec![0; 16_000])), Ok(Duration::from_millis(500)));
        // An interrupted recorder leaves the size of the maximum.
        let mut cut = file(1, 8, 1, &[0; 4_000]);
        let position = cut.len() - 4_004;
        cut[position..position + 4].fill(0xff);
        assert_eq!(duration_of(cut), Ok(Duration::from_millis(500)));
        assert!(duration_of(b"RIFF\0\0\0\0WAVE".to_vec()).is_err());
        assert!(duration_of(file(7, 16, 1, &[0; 4])).is_err());
    }
}
