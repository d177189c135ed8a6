//! Decoding of MP3 and FLAC.

use std::io::Cursor;
use std::time::Duration;

use symphonia::core::audio::Channels;
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::default::codecs::{FlacDecoder, MpaDecoder};
use symphonia::default::formats::{FlacReader, MpaReader};

use crate::audio_buffer::{AudioBuffer, MAX_SAMPLES, too_long};
use crate::audio_stream::{self, after_id3};
use crate::catch_panic::catch_panic;
use crate::{MediaError, MediaType, rate};

/// One of so many parts of a stream may be missing: it is silent. Cut streams begin with a frame that needs the one before it.
const MAX_SILENT_PART: u64 = 20;
/// The most channels that are decoded.
const MAX_CHANNELS: usize = 8;

/// The audio of an MP3 or FLAC stream; more than `max` is refused. Parts that cannot be decoded are silent.
///
/// # Errors
/// [`MediaError::TooLarge`] above `max`, [`MediaError::Damaged`] where more than a twentieth cannot be decoded or half of the bytes of MP3 are no frames, and
/// [`MediaError::NeedsFfmpeg`] for another type or an unusual stream.
pub(crate) fn decode(media_type: MediaType, bytes: &[u8], max: Duration) -> Result<AudioBuffer, MediaError> {
    catch_panic(|| Stream::open(media_type, bytes)?.decode(max))?
}

/// How long an MP3 or FLAC stream plays. It is read and not decoded.
///
/// # Errors
/// As [`decode`].
pub(crate) fn duration(media_type: MediaType, bytes: &[u8]) -> Result<Duration, MediaError> {
    catch_panic(|| Stream::open(media_type, bytes)?.duration())?
}

/// How long an MP3 or FLAC stream plays, and its number of samples of all channels. It is decoded whole, in memory that does not depend on
/// its length.
///
/// # Errors
/// As [`decode`]; [`MediaError::Damaged`] without a sample.
pub(crate) fn decode_whole(media_type: MediaType, bytes: &[u8]) -> Result<(Duration, u64), MediaError> {
    catch_panic(|| {
        let mut stream = Stream::open(media_type, bytes)?;
        let frames = stream.read(u64::MAX, |_, _| {})?;
        if frames == 0 {
            return Err(MediaError::damaged("it has no samples"));
        }
        Ok((rate::duration(u128::from(frames), stream.sample_rate), frames * u64::from(stream.channels)))
    })?
}

struct Stream<'a> {
    reader: Box<dyn FormatReader + 'a>,
    decoder: Box<dyn AudioDecoder>,
    sample_rate: u32,
    channels: u16,
    /// How many samples of each channel a FLAC stream says that it has. MP3 may hold a guess.
    stated_frames: Option<u64>,
}

impl<'a> Stream<'a> {
    fn open(media_type: MediaType, bytes: &'a [u8]) -> Result<Self, MediaError> {
        let source =
            |bytes| MediaSourceStream::new(Box::new(Cursor::new(bytes)), MediaSourceStreamOptions::default());
        let options = FormatOptions::default();
        let reader: Box<dyn FormatReader + 'a> = match media_type {
            MediaType::Mp3 => {
                // What is no frame is skipped, however much it is.
                audio_stream::check(media_type, bytes)?;
                Box::new(MpaReader::try_new(source(after_id3(bytes)), options).map_err(unreadable)?)
            }
            MediaType::Flac => Box::new(FlacReader::try_new(source(bytes), options).map_err(unreadable)?),
            _ => return Err(MediaError::needs("audio in this format")),
        };
        let track = reader.tracks().first();
        let stated = track.and_then(|track| track.num_frames).filter(|_| media_type == MediaType::Flac);
        let params = track.and_then(|track| track.codec_params.as_ref()).and_then(|params| params.audio());
        let params = params.ok_or_else(|| MediaError::damaged("the stream does not say how it is coded"))?;
        let sample_rate = params.sample_rate.filter(|rate| (1_000..=384_000).contains(rate));
        let channels = params.channels.as_ref().map(Channels::count);
        let channels = channels.filter(|count| (1..=MAX_CHANNELS).contains(count));
        let (Some(sample_rate), Some(channels)) = (sample_rate, channels) else {
            return Err(MediaError::damaged("the stream has an impossible rate or number of channels"));
        };
        let options = AudioDecoderOptions::default();
        let decoder: Box<dyn AudioDecoder> = match media_type {
            MediaType::Mp3 => Box::new(MpaDecoder::try_new(params, &options).map_err(unreadable)?),
            _ => Box::new(FlacDecoder::try_new(params, &options).map_err(unreadable)?),
        };
        Ok(Self { reader, decoder, sample_rate, channels: channels as u16, stated_frames: stated })
    }

    fn decode(mut self, max: Duration) -> Result<AudioBuffer, MediaError> {
        let (sample_rate, channels) = (self.sample_rate, self.channels);
        let max_frames = max.as_secs().saturating_mul(u64::from(sample_rate));
        let mut samples = Vec::<f32>::new();
        self.read(max_frames, |silent, part| {
            samples.resize(samples.len() + silent as usize * usize::from(channels), 0.0);
            samples.extend(part.iter().map(|sample| sample.clamp(-1.0, 1.0)));
        })?;
        Ok(AudioBuffer { sample_rate, channels, samples })
    }

    /// Decodes all of the stream. `receive` is given each part: how many samples of each channel are silent before it, and its interleaved
    /// samples. Returns the number of samples of each channel.
    fn read(&mut self, max_frames: u64, mut receive: impl FnMut(u64, &[f32])) -> Result<u64, MediaError> {
        let channels = usize::from(self.channels);
        let (mut frames, mut undecoded_frames, mut next) = (0_u64, 0_u64, None);
        let mut part = Vec::<f32>::new();
        while let Some(packet) = self.reader.next_packet().or_else(end)? {
            let length = packet.dur.get() + packet.trim_start.get() + packet.trim_end.get();
            // Frames whose checksum is wrong are left out by the reader.
            let gap = next.map_or(0, |next: i64| packet.pts.get().saturating_sub(next).max(0) as u64);
            next = Some(packet.pts.get().saturating_add(i64::try_from(length).unwrap_or(i64::MAX)));
            part.clear();
            let silent = match self.decoder.decode(&packet) {
                Ok(decoded) => {
                    if decoded.spec().rate() != self.sample_rate
                        || decoded.spec().channels().count() != channels
                    {
                        return Err(MediaError::needs(
                            "sound that changes its rate or its channels on the way",
                        ));
                    }
                    decoded.copy_to_vec_interleaved(&mut part);
                    gap
                }
                Err(Error::DecodeError(_) | Error::IoError(_)) => gap.saturating_add(packet.dur.get()),
                Err(error) => return Err(unreadable(error)),
            };
            undecoded_frames = undecoded_frames.saturating_add(silent);
            frames = frames.saturating_add((part.len() / channels) as u64).saturating_add(silent);
            if frames.saturating_mul(channels as u64) > MAX_SAMPLES as u64 {
                return Err(too_long());
            }
            if frames > max_frames {
                let limit = format!("{} s", max_frames / u64::from(self.sample_rate));
                return Err(MediaError::TooLarge { what: "the sound".to_owned(), limit });
            }
            receive(silent, &part);
        }
        // The stream ends before it should.
        let missing = self.stated_frames.map_or(0, |stated| stated.saturating_sub(frames));
        let (undecoded, all) = (undecoded_frames.saturating_add(missing), frames.saturating_add(missing));
        if undecoded.saturating_mul(MAX_SILENT_PART) > all {
            return Err(MediaError::Damaged(format!("{undecoded} of {all} samples cannot be decoded")));
        }
        Ok(frames)
    }

    fn duration(mut self) -> Result<Duration, MediaError> {
        let (mut first, mut last, mut presented_end) = (None, None, 0);
        while let Some(packet) = self.reader.next_packet().or_else(end)? {
            let start = packet.pts.get();
            // How long a packet is before its trims is stated by the start of the next one.
            let length = last.map_or(packet.dur.get() as i64, |last: i64| start.saturating_sub(last));
            let trimmed = i64::try_from(packet.trim_end.get()).unwrap_or(i64::MAX);
            presented_end = presented_end.max(start.saturating_add(length).saturating_sub(trimmed));
            first.get_or_insert(start.max(0));
            last = Some(start);
        }
        let counted = presented_end.saturating_sub(first.unwrap_or_default()).max(0) as u64;
        let frames = u128::from(self.stated_frames.unwrap_or(counted));
        Ok(rate::duration(frames, self.sample_rate))
    }
}

/// A stream that ends within a frame ends before it.
fn end<T>(error: Error) -> Result<Option<T>, MediaError> {
    match error {
        Error::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        error => Err(unreadable(error)),
    }
}

fn unreadable(error: Error) -> MediaError {
    match error {
        Error::Unsupported(what) => MediaError::needs(format!("this stream ({what})")),
        error => MediaError::Damaged(format!("the stream cannot be decoded: {error}")),
    }
}
