//! H.264 High encoding in groups of pictures, at constant quality under a cap on the rate.
//!
//! Each group has one quantiser. Easy pictures are coded at [`BASE_QP`]; where that would exceed the cap the group is cut short and the next one
//! is coded more coarsely. So the file of an easy clip is small, and rain at night does not fill the disk.

use rusty_h264::{ChromaFormat, Encoder, EncoderConfig, Preset, Profile, YuvFrame};

use super::bits::nal_units;
use super::header::{
    NAL_IDR, NAL_PPS, NAL_SLICE, NAL_SPS, ParameterSetIds, SliceContext, VideoSignal, rewrite_slice,
    with_initial_qp, with_vui,
};
use crate::{FrameRate, MediaError};

/// The quantiser of easy pictures: skies stay free of visible bands and blocks.
const BASE_QP: u8 = 23;
/// Maximum quantizer; a bit rate cap that needs a coarser one is exceeded instead.
const WORST_QP: u8 = 38;
const REFERENCE_FRAMES: u32 = 1;
/// A group shorter than this many pictures says too little about the rate.
const MIN_GROUP: u64 = 6;

/// Parameters of a stream.
#[derive(Clone, Copy)]
pub(crate) struct StreamSpec {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rate: FrameRate,
    pub(crate) bits_per_second: u32,
    pub(crate) ids: ParameterSetIds,
    pub(crate) signal: VideoSignal,
}

/// One coded picture, as MP4 stores it: NAL units, each behind its length in four bytes.
pub(crate) struct CodedPicture {
    pub(crate) bytes: Vec<u8>,
    /// Decoding may begin here.
    pub(crate) sync: bool,
}

/// The parameter sets of a stream: NAL units without start codes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ParameterSets {
    pub(crate) sps: Vec<u8>,
    pub(crate) pps: Vec<u8>,
}

pub(crate) struct VideoEncoder {
    spec: StreamSpec,
    parameter_sets: ParameterSets,
    encoder: Encoder,
    /// The quantiser that the current group's own parameter set names.
    qp: u8,
    group: Group,
    groups: u32,
    /// A slice that repeats the picture before it, as the encoder codes it with a quantiser.
    repetition: Option<(u8, Vec<u8>)>,
}

/// Bookkeeping of the current group of pictures.
#[derive(Default)]
struct Group {
    pictures: u64,
    /// Pictures that others refer to: all but the repetitions.
    references: u64,
    bits: u64,
}

impl VideoEncoder {
    /// Both sides are even and at most 8192; the caller checked that.
    pub(crate) fn new(spec: StreamSpec) -> Result<Self, MediaError> {
        let encoder = group_encoder(&spec, BASE_QP)?;
        let parameter_sets = parameter_sets(&spec)?;
        Ok(Self {
            spec,
            parameter_sets,
            encoder,
            qp: BASE_QP,
            group: Group::default(),
            groups: 0,
            repetition: None,
        })
    }

    /// Depends on the [`StreamSpec`] only, not on the pictures.
    pub(crate) fn parameter_sets(&self) -> &ParameterSets {
        &self.parameter_sets
    }

    /// Lets the next picture begin a new group: worthwhile if the picture changes completely.
    pub(crate) fn cut(&mut self) -> Result<(), MediaError> {
        if self.group.pictures > 0 { self.next_group() } else { Ok(()) }
    }

    /// Encodes the next picture in display order, which is also the decoding order.
    pub(crate) fn encode(&mut self, frame: &YuvFrame) -> Result<CodedPicture, MediaError> {
        if self.group.pictures >= self.group_length() || self.over_budget() {
            self.next_group()?;
        }
        let stream = self.encoder.try_encode(frame).map_err(|error| failed(&error))?;
        let picture = self.repackage(&stream, None)?;
        self.group.references += 1;
        self.count(&picture);
        Ok(picture)
    }

    /// Repeats the picture before, exactly and in a few bytes: every macroblock is skipped (H.264 7.3.4), and no other picture refers to it.
    pub(crate) fn repeat(&mut self) -> Result<CodedPicture, MediaError> {
        let slice = match self.repetition.take() {
            Some((qp, slice)) if qp == self.qp => slice,
            _ => repetition(&self.spec, self.qp)?,
        };
        // The number of the next picture that others refer to (H.264 7.4.3).
        let picture = self.repackage(&slice, Some((self.group.references % 16) as u32))?;
        self.repetition = Some((self.qp, slice));
        self.count(&picture);
        Ok(picture)
    }

    fn count(&mut self, picture: &CodedPicture) {
        self.group.pictures += 1;
        self.group.bits += picture.bytes.len() as u64 * 8;
    }

    /// Two seconds.
    fn group_length(&self) -> u64 {
        ((self.spec.rate.as_f64() * 2.0).round() as u64).clamp(2, 250)
    }

    fn budget_per_picture(&self) -> f64 {
        f64::from(self.spec.bits_per_second) / self.spec.rate.as_f64()
    }

    /// The group has exceeded its share and more than one second's bits, and the quantizer can still change.
    fn over_budget(&self) -> bool {
        let spent = self.group.bits as f64;
        let allowed = self.budget_per_picture() * self.group.pictures as f64 * 1.2;
        self.qp < WORST_QP
            && self.group.pictures >= MIN_GROUP
            && spent > f64::from(self.spec.bits_per_second) * 0.6
            && spent > allowed
    }

    /// Six steps of the quantiser halve the rate, roughly.
    fn next_qp(&self) -> u8 {
        let share = self.group.bits as f64 / (self.budget_per_picture() * self.group.pictures.max(1) as f64);
        let steps = 6.0 * share.max(1.0 / 1024.0).log2();
        let qp = f64::from(self.qp);
        let next = if share > 1.0 {
            qp + steps.ceil()
        } else if share < 0.8 {
            // Down in small steps: a sudden change in quality is visible.
            qp + (steps + 1.0).round().clamp(-3.0, 0.0)
        } else {
            qp
        };
        next.clamp(f64::from(BASE_QP), f64::from(WORST_QP)) as u8
    }

    fn next_group(&mut self) -> Result<(), MediaError> {
        self.qp = self.next_qp();
        self.encoder = group_encoder(&self.spec, self.qp)?;
        self.group = Group::default();
        self.groups += 1;
        Ok(())
    }

    /// From the encoder's byte stream to an MP4 sample: parameter sets out, slice headers put right, lengths in front.
    fn repackage(&self, stream: &[u8], held: Option<u32>) -> Result<CodedPicture, MediaError> {
        let context = SliceContext {
            coded_initial_qp: i32::from(self.qp),
            weighted_prediction: true,
            picture_set: self.spec.ids.picture,
            idr_picture_id: self.groups % 2,
            picture_order: (2 * self.group.pictures % 256) as u32,
            held,
        };
        let mut picture = CodedPicture { bytes: Vec::with_capacity(stream.len() + 16), sync: false };
        for unit in nal_units(stream) {
            match unit[0] & 0x1f {
                NAL_SPS | NAL_PPS => {}
                kind @ (NAL_SLICE | NAL_IDR) => {
                    let start = picture.bytes.len();
                    picture.bytes.extend([0; 4]);
                    rewrite_slice(unit, &context, &mut picture.bytes)
                        .ok_or_else(|| unexpected("a slice header of unknown form"))?;
                    let length = (picture.bytes.len() - start - 4) as u32;
                    picture.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
                    picture.sync = kind == NAL_IDR;
                }
                _ => return Err(unexpected("a unit of unknown kind")),
            }
        }
        if picture.bytes.is_empty() {
            return Err(unexpected("no picture"));
        }
        Ok(picture)
    }
}

/// An encoder for one group. Every field that changes the syntax is set here, so that no default and no environment decides it.
fn group_encoder(spec: &StreamSpec, qp: u8) -> Result<Encoder, MediaError> {
    let mut config = EncoderConfig::new(spec.width as usize, spec.height as usize);
    config.profile = Profile::High;
    config.chroma = ChromaFormat::Yuv420;
    config.cabac = true;
    config.cabac_init_idc = 0;
    config.transform_8x8 = true;
    config.weightp = true;
    config.bframes = 0;
    config.num_ref_frames = REFERENCE_FRAMES;
    config.preset = Preset::Fast;
    // Measured on moving landscapes: half the time for the same size.
    config.tune_satd_q = 0.0;
    config.level_idc = lowest_level(spec);
    config.qp = qp;
    config.bitrate = 0;
    config.framerate = spec.rate.as_f64() as f32;
    config.gop_size = 300;
    config.scenecut = 0;
    // One picture out for each one in: groups may then end at any time, and no frames pile up.
    config.mbtree = false;
    config.lookahead = 0;
    Encoder::new(config).map_err(|error| failed(&error))
}

/// The slice of a picture that equals the one before it, as a byte stream. It depends on the size and the quantiser only.
fn repetition(spec: &StreamSpec, qp: u8) -> Result<Vec<u8>, MediaError> {
    let mut trial = group_encoder(spec, qp)?;
    let black = YuvFrame::black(spec.width as usize, spec.height as usize);
    let mut encode = || trial.try_encode(&black).map_err(|error| failed(&error));
    encode()?;
    encode()
}

/// The parameter sets as they are written, taken from a trial picture.
fn parameter_sets(spec: &StreamSpec) -> Result<ParameterSets, MediaError> {
    let mut trial = group_encoder(spec, BASE_QP)?;
    let black = YuvFrame::black(spec.width as usize, spec.height as usize);
    let stream = trial.try_encode(&black).map_err(|error| failed(&error))?;
    let unit = |kind: u8| nal_units(&stream).find(|unit| unit[0] & 0x1f == kind);
    let sps = unit(NAL_SPS)
        .and_then(|sps| with_vui(sps, spec.ids, spec.signal, spec.rate, REFERENCE_FRAMES))
        .ok_or_else(|| unexpected("no sequence parameter set"))?;
    let (pps, _) = unit(NAL_PPS)
        .and_then(|pps| with_initial_qp(pps, spec.ids))
        .ok_or_else(|| unexpected("no picture parameter set"))?;
    Ok(ParameterSets { sps, pps })
}

/// `level_idc` by macroblocks per second (H.264 table A-1); the encoder raises it further where the picture's size asks for it.
fn lowest_level(spec: &StreamSpec) -> u8 {
    const MACROBLOCKS_PER_SECOND: [(u8, f64); 9] = [
        (30, 40_500.0),
        (31, 108_000.0),
        (32, 216_000.0),
        (40, 245_760.0),
        (42, 522_240.0),
        (50, 589_824.0),
        (51, 983_040.0),
        (52, 2_073_600.0),
        (60, 4_177_920.0),
    ];
    let macroblocks = f64::from(spec.width.div_ceil(16)) * f64::from(spec.height.div_ceil(16));
    let per_second = macroblocks * spec.rate.as_f64();
    MACROBLOCKS_PER_SECOND.iter().find(|(_, most)| per_second <= *most).map_or(62, |(level, _)| *level)
}

fn failed(error: &rusty_h264::EncodeError) -> MediaError {
    MediaError::Encode { codec: "H.264", reason: error.to_string() }
}

fn unexpected(what: &str) -> MediaError {
    MediaError::Encode { codec: "H.264", reason: format!("it wrote {what}") }
}

#[cfg(test)]
mod tests {
    use rusty_h264::Decoder;

    use super::*;

    fn spec() -> StreamSpec {
        StreamSpec {
            width: 160,
            height: 96,
            rate: FrameRate::CINEMA,
            bits_per_second: 6_000_000,
            ids: ParameterSetIds::default(),
            signal: VideoSignal::WRITTEN,
        }
    }

    fn stripes(phase: usize) -> YuvFrame {
        let mut frame = YuvFrame::black(160, 96);
        for (i, y) in frame.y.iter_mut().enumerate() {
            *y = 60 + ((i % 160 * 3 + i / 160 * 5 + phase * 7) % 120) as u8;
        }
        frame
    }

    /// Decodes pictures as a player does, one after the other.
    fn decode(sets: &ParameterSets, pictures: &[CodedPicture]) -> Vec<YuvFrame> {
        let mut decoder = Decoder::new();
        let unit = |bytes: &[u8]| [&[0, 0, 0, 1], bytes].concat();
        decoder.decode(&[unit(&sets.sps), unit(&sets.pps)].concat()).expect("the sets are in order");
        pictures
            .iter()
            .map(|picture| {
                let decoded = decoder.decode(&unit(&picture.bytes[4..])).expect("the picture is in order");
                decoded.expect("there is a picture")
            })
            .collect()
    }

    #[test]
    fn repeated_pictures_decode_to_the_same_pixels() {
        let mut encoder = VideoEncoder::new(spec()).expect("the spec is supported");
        let mut pictures = Vec::new();
        // More reference pictures than `frame_num` counts, and more repetitions than `pic_order_cnt_lsb` does.
        for phase in 0..20 {
            pictures.push(encoder.encode(&stripes(phase)).expect("it encodes"));
            for _ in 0..7 {
                pictures.push(encoder.repeat().expect("it repeats"));
            }
        }
        let decoded = decode(encoder.parameter_sets(), &pictures);
        for group in decoded.chunks(8) {
            assert!(group.iter().all(|picture| picture.y == group[0].y && picture.u == group[0].u));
        }
        assert!(decoded[8].y != decoded[0].y);
        let repetitions = pictures.iter().enumerate().filter(|(place, _)| place % 8 != 0);
        assert!(repetitions.map(|(_, picture)| picture.bytes.len()).max() < Some(64));
    }

    #[test]
    fn repetitions_do_not_change_other_pictures() {
        let encode = |repeat: bool| {
            let mut encoder = VideoEncoder::new(spec()).expect("the spec is supported");
            let mut pictures = Vec::new();
            for phase in 0..6 {
                pictures.push(encoder.encode(&stripes(phase)).expect("it encodes"));
                if repeat {
                    encoder.repeat().expect("it repeats");
                }
            }
            decode(encoder.parameter_sets(), &pictures)
        };
        let (plain, spaced) = (encode(false), encode(true));
        assert!(plain.iter().zip(&spaced).all(|(a, b)| a.y == b.y));
    }
}
