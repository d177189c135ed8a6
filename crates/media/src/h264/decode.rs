//! Decoding of H.264 samples as MP4 stores them.

use rusty_h264::{Decoder, YuvFrame};

use super::header::{NAL_PPS, NAL_SLICE, NAL_SPS};
use super::parameters::Sps;
use super::slice_header::SliceHeaders;
use crate::MediaError;
use crate::catch_panic::catch_panic;
use crate::color::ColorSpace;
use crate::frame_size::MAX_SIDE;

/// Supplemental information, an access unit delimiter and filler data: decoders pass over them.
const NO_PICTURE: [u8; 3] = [6, 9, 12];

/// The decoder configuration of an `avc1` or `avc3` sample entry.
#[derive(Clone, Debug)]
pub(crate) struct DecoderConfig {
    /// Bytes of the length in front of each NAL unit: 1, 2 or 4.
    length_size: usize,
    /// The parameter sets as a byte stream with start codes.
    parameter_sets: Vec<u8>,
    pub(crate) sps: Sps,
    /// Reads the headers of slices that refer to the first picture parameter set; `None` where they are of another kind.
    headers: Option<SliceHeaders>,
}

impl DecoderConfig {
    /// From the payload of an `avcC` box.
    pub(crate) fn parse(avcc: &[u8]) -> Result<Self, MediaError> {
        Self::read(avcc).ok_or_else(|| MediaError::damaged("the H.264 configuration is invalid"))
    }

    fn read(avcc: &[u8]) -> Option<Self> {
        let length_size = usize::from(avcc.get(4)? & 3) + 1;
        let mut parameter_sets = Vec::new();
        let mut first = None;
        let mut first_picture_set = None;
        let mut rest = avcc.get(5..)?;
        for mask in [0x1f, 0xff] {
            let count = rest.first()? & mask;
            rest = &rest[1..];
            for _ in 0..count {
                let length = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
                let unit = rest.get(2..2 + length)?;
                rest = &rest[2 + length..];
                first = first.or_else(|| Sps::parse(unit));
                let is_picture_set = unit.first().is_some_and(|header| header & 0x1f == NAL_PPS);
                first_picture_set = first_picture_set.or(is_picture_set.then_some(unit));
                parameter_sets.extend([0, 0, 0, 1]);
                parameter_sets.extend_from_slice(unit);
            }
        }
        let sps = first?;
        let headers = first_picture_set.and_then(|unit| SliceHeaders::new(&sps, unit));
        (length_size != 3).then_some(Self { length_size, parameter_sets, sps, headers })
    }

    /// The NAL units of a sample, without their lengths. `None` in place of one that is longer than the sample.
    fn units<'a>(&self, sample: &'a [u8]) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let length_size = self.length_size;
        let mut rest = Some(sample).filter(|sample| !sample.is_empty());
        std::iter::from_fn(move || {
            let sample = rest.take()?;
            let unit = sample.split_at_checked(length_size).and_then(|(length, tail)| {
                let length = length.iter().fold(0usize, |n, &byte| n << 8 | usize::from(byte));
                tail.split_at_checked(length)
            });
            let Some((unit, tail)) = unit else { return Some(None) };
            rest = Some(tail).filter(|tail| !tail.is_empty());
            Some(Some(unit))
        })
    }

    /// Whether the decoder here handles such a stream, and wants to.
    pub(crate) fn check(&self) -> Result<(), MediaError> {
        let sps = &self.sps;
        if sps.width.max(sps.height) > MAX_SIDE {
            return Err(MediaError::TooLarge {
                what: format!("a frame of {}x{}", sps.width, sps.height),
                limit: format!("{MAX_SIDE} pixels a side"),
            });
        }
        let unusual = match sps {
            Sps { has_eight_bits: false, .. } => "H.264 video with more than 8 bits",
            Sps { is_four_two_zero: false, .. } => "H.264 video other than 4:2:0",
            Sps { is_progressive: false, .. } => "interlaced H.264 video",
            _ => return Ok(()),
        };
        Err(MediaError::needs(unusual))
    }

    /// The transfer characteristics that the stream names.
    pub(crate) fn transfer(&self) -> Option<u16> {
        self.sps.color.map(|color| u16::from(color[1]))
    }

    /// The color of the stream; the file's own `colr` box, where there is one, is the caller's to prefer.
    pub(crate) fn color(&self, container: Option<(u16, bool)>) -> ColorSpace {
        let (matrix, full_range) = match container {
            Some((matrix, full_range)) => (Some(matrix), full_range),
            None => (self.sps.color.map(|color| u16::from(color[2])), self.sps.full_range.unwrap_or(false)),
        };
        ColorSpace::from_code_points(matrix, full_range, self.sps.height)
    }
}

/// Decodes one sample after the other, in decoding order.
pub(crate) struct VideoDecoder {
    decoder: Decoder,
    config: DecoderConfig,
    stream: Vec<u8>,
}

impl VideoDecoder {
    pub(crate) fn new(config: &DecoderConfig) -> Result<Self, MediaError> {
        config.check()?;
        let mut decoder = Decoder::new();
        catch_panic(|| decoder.decode(&config.parameter_sets))?.map_err(|error| refuse(&error))?;
        Ok(Self { decoder, config: config.clone(), stream: Vec::new() })
    }

    /// Whether a sample is a picture to which no other refers (`nal_ref_idc` 0, H.264 7.4.1): others can be decoded without it.
    pub(crate) fn is_disposable(&self, sample: &[u8]) -> bool {
        let mut has_picture = false;
        for unit in self.config.units(sample) {
            match unit.and_then(<[u8]>::first) {
                Some(&NAL_SLICE) => has_picture = true,
                Some(header) if NO_PICTURE.contains(header) => {}
                _ => return false,
            }
        }
        has_picture
    }

    /// The picture of a sample. A sample without one is damaged.
    pub(crate) fn decode(&mut self, sample: &[u8]) -> Result<YuvFrame, MediaError> {
        self.decode_sample(sample, false)
    }

    fn decode_sample(&mut self, sample: &[u8], without_filter: bool) -> Result<YuvFrame, MediaError> {
        self.stream.clear();
        for unit in self.config.units(sample) {
            let unit =
                unit.ok_or_else(|| MediaError::damaged("a frame's units are longer than the frame"))?;
            let kind = unit.first().map(|header| header & 0x1f);
            // A parameter set within the stream may ask for another picture altogether.
            if kind == Some(NAL_SPS) {
                let sps =
                    Sps::parse(unit).ok_or_else(|| MediaError::damaged("a parameter set is invalid"))?;
                if (sps.width, sps.height) != (self.config.sps.width, self.config.sps.height) {
                    return Err(MediaError::needs("H.264 video that changes its size"));
                }
            }
            if matches!(kind, Some(NAL_SPS | NAL_PPS)) {
                // It may also ask for other headers.
                self.config.headers = None;
            }
            self.stream.extend([0, 0, 0, 1]);
            let begin = self.stream.len();
            self.stream.extend_from_slice(unit);
            if let Some(headers) = self.config.headers.as_ref().filter(|_| without_filter) {
                headers.turn_off_filter(&mut self.stream[begin..]);
            }
        }
        let frame = catch_panic(|| self.decoder.decode(&self.stream))?
            .map_err(|error| refuse(&error))?
            .ok_or_else(|| MediaError::damaged("a sample holds no frame"))?;
        let chroma = frame.width.div_ceil(2) * frame.height.div_ceil(2);
        let has_stream_size = frame.width == self.config.sps.width as usize
            && frame.height == self.config.sps.height as usize
            && frame.y.len() == frame.width * frame.height
            && frame.u.len() >= chroma
            && frame.v.len() >= chroma;
        if has_stream_size {
            Ok(frame)
        } else {
            Err(MediaError::damaged("a frame is not of the size that the file states"))
        }
    }
}

/// Decodes samples for their errors only.
///
/// Which bits a picture has does not depend on any pixel (H.264 7.3), so its errors are the same without the deblocking filter, which is a third of
/// the work; its pixels are not.
pub(crate) struct VideoChecker(VideoDecoder);

impl VideoChecker {
    /// Goes on where the decoder is.
    pub(crate) fn new(decoder: VideoDecoder) -> Self {
        Self(decoder)
    }

    /// Checks the next sample.
    pub(crate) fn check(&mut self, sample: &[u8]) -> Result<(), MediaError> {
        self.0.decode_sample(sample, true).map(drop)
    }
}

fn refuse(error: &rusty_h264::DecodeError) -> MediaError {
    match error {
        rusty_h264::DecodeError::Unsupported(what) => {
            MediaError::needs(format!("this kind of H.264 video ({what})"))
        }
        other => MediaError::Damaged(format!("the video cannot be decoded: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::tests::{spec, stripes};
    use super::super::encode::{Effort, StreamSpec, VideoEncoder};
    use super::*;

    /// Stripes that move, every other picture a repetition; and their configuration.
    fn stream(effort: Effort) -> (Vec<Vec<u8>>, DecoderConfig) {
        let mut encoder = VideoEncoder::new(StreamSpec { effort, ..spec() }).unwrap();
        let mut samples = Vec::new();
        for phase in 0..5 {
            samples.extend([encoder.encode(&stripes(phase)).unwrap().bytes, encoder.repeat().bytes]);
        }
        let sets = encoder.parameter_sets().unwrap();
        let mut avcc = vec![1, sets.sps[1], sets.sps[2], sets.sps[3], 0xff];
        for (count, unit) in [(0xe1, &sets.sps), (1, &sets.pps)] {
            avcc.push(count);
            avcc.extend(u16::try_from(unit.len()).unwrap().to_be_bytes());
            avcc.extend_from_slice(unit);
        }
        (samples, DecoderConfig::parse(&avcc).unwrap())
    }

    #[test]
    fn checked_pictures_are_not_filtered() {
        for effort in [Effort::Draft, Effort::Full] {
            let (samples, config) = stream(effort);
            let mut decoder = VideoDecoder::new(&config).unwrap();
            let mut checker = VideoDecoder::new(&config).unwrap();
            let mut differing = 0;
            for sample in &samples {
                let filtered = decoder.decode(sample).unwrap();
                differing += usize::from(checker.decode_sample(sample, true).unwrap().y != filtered.y);
            }
            assert!(differing > samples.len() / 2, "{effort:?}: {differing} of {}", samples.len());
        }
    }

    #[test]
    fn repetitions_are_disposable_and_no_others() {
        for effort in [Effort::Draft, Effort::Full] {
            let (samples, config) = stream(effort);
            let decoder = VideoDecoder::new(&config).unwrap();
            for (number, sample) in samples.iter().enumerate() {
                assert_eq!(decoder.is_disposable(sample), number % 2 == 1);
                assert!(!decoder.is_disposable(&sample[..sample.len() - 1]));
            }
            assert!(!decoder.is_disposable(&[]));
        }
    }

    #[test]
    fn checks_find_the_damage_that_decoding_finds() {
        let mut damaged = 0;
        for effort in [Effort::Draft, Effort::Full] {
            let (samples, config) = stream(effort);
            let mut state = 1_u64;
            for round in 0..100 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let random = (state >> 33) as usize;
                let mut samples = samples.clone();
                let which = random % samples.len();
                let sample = &mut samples[which];
                // After the length and the header of the unit.
                let position = 5 + random / 16 % (sample.len() - 5);
                sample[position] ^= 1 << (round % 8);
                let mut decoder = VideoDecoder::new(&config).unwrap();
                let decoded = samples.iter().try_for_each(|sample| decoder.decode(sample).map(drop));
                let mut checker = VideoChecker::new(VideoDecoder::new(&config).unwrap());
                let checked = samples.iter().try_for_each(|sample| checker.check(sample));
                assert_eq!(
                    decoded.as_ref().map_err(ToString::to_string),
                    checked.as_ref().map_err(ToString::to_string),
                    "{effort:?}: sample {which}, byte {position}"
                );
                damaged += usize::from(decoded.is_err());
            }
        }
        assert!(damaged > 12, "{damaged}");
    }
}
