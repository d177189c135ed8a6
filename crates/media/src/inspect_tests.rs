//! Tests of the media gate.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::{ClipSpec, ClipWriter, FrameRate, RgbImage, encode_png};

fn clip(frames: usize) -> Vec<u8> {
    let mut clip = ClipWriter::new(ClipSpec::new(64, 48, FrameRate::CINEMA)).unwrap();
    (0..frames).for_each(|_| clip.push_frame(&RgbImage::new(64, 48)).unwrap());
    clip.finish().unwrap()
}

#[test]
fn inspect_accepts_images_video_and_audio() {
    let png = inspect(&encode_png(&RgbImage::new(40, 30))).unwrap();
    assert_eq!((png.kind(), png.size, png.is_native), (MediaKind::Image, Some((40, 30)), true));
    let video = inspect(&clip(4)).unwrap();
    assert_eq!((video.media_type, video.size), (MediaType::Mp4, Some((64, 48))));
    let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\0\0\0\0\x02\0\x10\0".to_vec();
    wav.extend(b"data\x04\0\0\0abcd");
    let sound = inspect(&wav).unwrap();
    assert_eq!((sound.kind(), sound.duration), (MediaKind::Audio, Some(sound_of(2))));
}

#[test]
fn inspect_refuses_other_formats_and_damage() {
    let message = |bytes: &[u8]| inspect(bytes).unwrap_err().to_string();
    assert!(message(b"GIF89a").ends_with("expected a PNG, JPEG or WebP image, found a GIF image"));
    assert!(message(b"%PDF-1.7").ends_with("expected an image, a video or audio, found a PDF document"));
    assert!(message(b"\x1a\x45\xdf\xa3").ends_with("found a WebM or Matroska video"));
    assert!(matches!(inspect(b"\x89PNG\r\n\x1a\nnonsense"), Err(MediaError::Damaged(_))));
    let png = encode_png(&RgbImage::new(40, 30));
    assert!(matches!(inspect(&png[..png.len() / 2]), Err(MediaError::Damaged(_))));
    let video = clip(4);
    assert!(inspect(&video[..video.len() - 20]).is_err());
}

/// Bytes with zeros after them, as many as there are to be; counts what is read.
struct ZeroPadded {
    bytes: Cursor<Vec<u8>>,
    length: u64,
    position: u64,
    read: Arc<AtomicU64>,
}

impl Read for ZeroPadded {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.length - self.position).unwrap();
        let count = to.len().min(rest);
        to[..count].fill(0);
        self.bytes.set_position(self.position);
        let _real = self.bytes.read(&mut to[..count])?;
        self.position += count as u64;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for ZeroPadded {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::Current(by) => self.position.saturating_add_signed(by),
            SeekFrom::End(by) => self.length.saturating_add_signed(by),
        }
        .min(self.length);
        Ok(self.position)
    }
}

/// The result for a file of this length that begins with these bytes, and how much of it was read.
fn inspect_padded(bytes: Vec<u8>, length: u64) -> (Result<InputInfo, MediaError>, u64) {
    let read = Arc::new(AtomicU64::new(0));
    let source = ZeroPadded { bytes: Cursor::new(bytes), length, position: 0, read: Arc::clone(&read) };
    let inspected = inspect_source(source);
    (inspected, read.load(Ordering::Relaxed))
}

/// A WAV file of 16 bits that claims this many bytes of samples.
fn wav(data: u32) -> Vec<u8> {
    let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\0\0\0\0\x02\0\x10\0data".to_vec();
    wav.extend(data.to_le_bytes());
    wav
}

/// How long so many samples are at 8 kHz.
fn sound_of(samples: u64) -> Duration {
    Duration::from_micros(samples * 125)
}

#[test]
fn large_files_are_inspected_in_parts() {
    const LARGE: u64 = 400 << 20;
    let clip = clip(4);
    let mut padded = clip.clone();
    padded.extend((LARGE as u32 - clip.len() as u32).to_be_bytes());
    padded.extend(b"free");
    let (inspected, read) = inspect_padded(padded, LARGE);
    assert_eq!(inspected.unwrap(), inspect(&clip).unwrap());
    assert!(read < 1 << 20, "{read} bytes of a video were read");

    let (inspected, read) = inspect_padded(wav(LARGE as u32), LARGE);
    let expected = InputInfo::native_audio(MediaType::Wav, sound_of((LARGE - 44) / 2), 0);
    assert_eq!(inspected.unwrap(), expected);
    assert!(read < 1 << 20, "{read} bytes of a sound were read");

    let (inspected, read) = inspect_padded(encode_png(&RgbImage::new(40, 30)), LARGE);
    assert_eq!(inspected.unwrap_err().to_string(), "an image of 400 MiB is too large: the limit is 64 MiB");
    assert!(read < 1 << 20, "{read} bytes of an image were read");
}

#[test]
fn files_in_parts_have_the_results_of_files_in_memory() {
    let (video, png) = (clip(4), encode_png(&RgbImage::new(40, 30)));
    let cut = |bytes: &[u8], count: usize| bytes[..bytes.len() - count].to_vec();
    for bytes in [
        video.clone(),
        cut(&video, 20),
        cut(&video, video.len() - 12),
        png.clone(),
        cut(&png, 9),
        [wav(4), vec![1; 4]].concat(),
        wav(0),
        b"RIFF\0\0\0\0WAVE".to_vec(),
        b"\xff\xfb\x90\x64 no frames".to_vec(),
        b"fLaC\0".to_vec(),
        b"GIF89a".to_vec(),
        b"%PDF-1.7".to_vec(),
        Vec::new(),
    ] {
        let length = bytes.len() as u64;
        let text = |inspected: Result<InputInfo, MediaError>| inspected.map_err(|error| error.to_string());
        let expected = text(inspect(&bytes));
        assert_eq!(text(inspect_padded(bytes, length).0), expected);
    }
}

#[test]
fn inspect_decodes_the_sound_of_m4a() {
    let mut clip = ClipWriter::new(ClipSpec::new(64, 48, FrameRate::CINEMA).with_audio(16_000, 1)).unwrap();
    (0..24).for_each(|_| clip.push_frame(&RgbImage::new(64, 48)).unwrap());
    clip.push_audio(&(0..16_000).map(|i| (i as f32 * 0.1).sin() * 0.5).collect::<Vec<_>>()).unwrap();
    let mut m4a = clip.finish().unwrap();
    m4a[8..12].copy_from_slice(b"M4A ");
    let intact = inspect(&m4a).unwrap();
    assert_eq!((intact.kind(), intact.is_native), (MediaKind::Audio, true));
    let data = m4a.windows(4).position(|name| name == b"mdat").unwrap() + 4;
    let (middle, end) = (data + (m4a.len() - data) / 3, m4a.len());
    m4a[middle..end].fill(0xff);
    assert!(matches!(inspect(&m4a), Err(MediaError::Damaged(_))));
}
