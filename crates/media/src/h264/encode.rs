//! H.264 High encoding in groups of pictures, at constant quality under a limit on the bit rate.
//!
//! Each group has one quantiser. Easy pictures are coded at that of the [`Effort`]; where that would exceed the limit the group is cut short and the next one
//! is coded more coarsely. So the file of an easy clip is small, and rain at night does not fill the disk.

use rusty_h264::{ChromaFormat, Encoder, EncoderConfig, Preset, Profile, YuvFrame};

use super::bits::nal_units;
use super::header::{
    NAL_IDR, NAL_PPS, NAL_SLICE, NAL_SPS, ParameterSetIds, REFERENCE_FRAMES, SliceContext, VideoSignal,
    rewrite_slice, with_initial_qp, with_vui,
};
use super::repetition::Repetition;
use crate::{FrameRate, MediaError};

/// How much time and how many bits pictures may take. Streams of different effort have different parameter sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// For pictures that are shown as they are: arithmetic coding, and bits where they are seen.
    #[default]
    Full,
    /// For previews: a third of the time, by variable-length codes and fewer choices.
    Draft,
}

impl Effort {
    /// The quantizer of easy pictures: skies stay free of visible bands and blocks.
    fn base_qp(self) -> u8 {
        match self {
            Self::Full => 23,
            Self::Draft => 24,
        }
    }
}

/// Maximum quantizer; a bit rate limit that needs a coarser one is exceeded instead.
const WORST_QP: u8 = 38;
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
    pub(crate) effort: Effort,
}

/// One coded picture, as MP4 stores it: NAL units, each after its length in four bytes.
pub(crate) struct CodedPicture {
    pub(crate) bytes: Vec<u8>,
    /// Decoding may begin here.
    pub(crate) is_sync: bool,
}

/// The parameter sets of a stream: NAL units without start codes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ParameterSets {
    pub(crate) sps: Vec<u8>,
    pub(crate) pps: Vec<u8>,
}

pub(crate) struct VideoEncoder {
    spec: StreamSpec,
    /// Once a picture is encoded.
    parameter_sets: Option<ParameterSets>,
    encoder: Encoder,
    /// The quantiser that the current group's own parameter set names.
    qp: u8,
    group: Group,
    groups: u32,
}

/// Bookkeeping of the current group of pictures.
#[derive(Default)]
struct Group {
    pictures: u64,
    /// Pictures that others refer to: all but repetitions.
    references: u64,
    bits: u64,
}

impl VideoEncoder {
    /// Both sides are even and at most 8192; the caller checked that.
    pub(crate) fn new(spec: StreamSpec) -> Result<Self, MediaError> {
        let qp = spec.effort.base_qp();
        let encoder = group_encoder(&spec, qp)?;
        Ok(Self { spec, parameter_sets: None, encoder, qp, group: Group::default(), groups: 0 })
    }

    /// Depends on the [`StreamSpec`] only, not on the pictures.
    pub(crate) fn parameter_sets(&self) -> Result<ParameterSets, MediaError> {
        if let Some(sets) = &self.parameter_sets {
            return Ok(sets.clone());
        }
        let mut trial = group_encoder(&self.spec, self.spec.effort.base_qp())?;
        let black = YuvFrame::black(self.spec.width as usize, self.spec.height as usize);
        let stream = trial.try_encode(&black).map_err(|error| failed(&error))?;
        parameter_sets(&self.spec, &stream)
    }

    /// Lets the next picture begin a new group: worthwhile if the picture changes completely.
    pub(crate) fn cut(&mut self) -> Result<(), MediaError> {
        if self.group.pictures > 0 { self.next_group() } else { Ok(()) }
    }

    /// Encodes the next picture.
    pub(crate) fn encode(&mut self, frame: &YuvFrame) -> Result<CodedPicture, MediaError> {
        if self.group.pictures >= self.group_length() || self.over_budget() {
            self.next_group()?;
        }
        let stream = self.encoder.try_encode(frame).map_err(|error| failed(&error))?;
        if self.parameter_sets.is_none() {
            self.parameter_sets = Some(parameter_sets(&self.spec, &stream)?);
        }
        let picture = self.repackage(&stream)?;
        self.group.references += 1;
        self.count(&picture);
        Ok(picture)
    }

    /// Repeats the picture before, exactly and in a few bytes. No other picture refers to it.
    pub(crate) fn repeat(&mut self) -> CodedPicture {
        let unit = Repetition {
            is_cabac: self.spec.effort == Effort::Full,
            macroblocks: self.spec.width.div_ceil(16) * self.spec.height.div_ceil(16),
            picture_set: self.spec.ids.picture,
            frame_number: (self.group.references % 16) as u32,
            picture_order: self.picture_order(),
        }
        .unit();
        let bytes = [&(unit.len() as u32).to_be_bytes()[..], &unit].concat();
        let picture = CodedPicture { bytes, is_sync: false };
        self.count(&picture);
        picture
    }

    fn count(&mut self, picture: &CodedPicture) {
        self.group.pictures += 1;
        self.group.bits += picture.bytes.len() as u64 * 8;
    }

    /// `pic_order_cnt_lsb` of the next picture.
    fn picture_order(&self) -> u32 {
        (2 * self.group.pictures % 256) as u32
    }

    /// Two seconds, or three of drafts: a picture that needs no other takes as long as several that do.
    fn group_length(&self) -> u64 {
        let seconds = if self.spec.effort == Effort::Full { 2.0 } else { 3.0 };
        ((self.spec.rate.as_f64() * seconds).round() as u64).clamp(2, 250)
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
        next.clamp(f64::from(self.spec.effort.base_qp()), f64::from(WORST_QP)) as u8
    }

    fn next_group(&mut self) -> Result<(), MediaError> {
        self.qp = self.next_qp();
        self.encoder = group_encoder(&self.spec, self.qp)?;
        self.group = Group::default();
        self.groups += 1;
        Ok(())
    }

    /// From the encoder's byte stream to an MP4 sample: parameter sets out, slice headers put right, lengths in front.
    fn repackage(&self, stream: &[u8]) -> Result<CodedPicture, MediaError> {
        let context = SliceContext {
            coded_initial_qp: i32::from(self.qp),
            has_weighted_prediction: true,
            is_cabac: self.spec.effort == Effort::Full,
            picture_set: self.spec.ids.picture,
            idr_picture_id: self.groups % 2,
            picture_order: self.picture_order(),
        };
        let mut picture = CodedPicture { bytes: Vec::with_capacity(stream.len() + 16), is_sync: false };
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
                    picture.is_sync = kind == NAL_IDR;
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
    config.cabac_init_idc = 0;
    match spec.effort {
        Effort::Full => {
            config.cabac = true;
            config.transform_8x8 = true;
        }
        Effort::Draft => {
            config.cabac = false;
            config.transform_8x8 = false;
            config.aq_strength = 0.0;
            // Without the analysis of each picture that would choose another value.
            config.tune_lme_hi = None;
            // Rain and snow take 3 % less time with few intra macroblocks in P pictures, for 4 % more bits.
            config.tune_intra_penalty = 300.0;
        }
    }
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

/// The parameter sets as they are written, from those in front of a picture.
fn parameter_sets(spec: &StreamSpec, stream: &[u8]) -> Result<ParameterSets, MediaError> {
    let unit = |kind: u8| nal_units(stream).find(|unit| unit[0] & 0x1f == kind);
    let sps = unit(NAL_SPS)
        .and_then(|sps| with_vui(sps, spec.ids, spec.signal, spec.rate))
        .ok_or_else(|| unexpected("no sequence parameter set"))?;
    let pps = unit(NAL_PPS)
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
    MACROBLOCKS_PER_SECOND.iter().find(|(_, max)| per_second <= *max).map_or(62, |(level, _)| *level)
}

fn failed(error: &rusty_h264::EncodeError) -> MediaError {
    MediaError::Encode { codec: "H.264", reason: error.to_string() }
}

fn unexpected(unit: &str) -> MediaError {
    MediaError::Encode { codec: "H.264", reason: format!("it wrote {unit}") }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
pub(super) mod tests;
