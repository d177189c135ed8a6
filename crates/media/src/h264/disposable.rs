//! Pictures to which no other refers (`nal_ref_idc` 0, H.264 7.4.1): decoders may leave them out, and those whose macroblocks are all skipped
//! hold nothing that could be damaged.

use super::bits::{BitReader, unescape};
use super::header::NAL_SLICE;
use super::parameters::Sps;
use super::slice_header::{SliceHeaders, SliceKind};

/// Supplemental information, an access unit delimiter and filler data: decoders pass over them.
const NO_PICTURE: [u8; 3] = [6, 9, 12];

/// Bytes of a slice that may be a header and a number.
const MAX_SKIPPED_LEN: usize = 64;

/// Whether a sample is a picture to which no other refers.
pub(super) fn is_disposable<'a>(units: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut has_picture = false;
    for unit in units {
        match unit.first() {
            Some(&NAL_SLICE) => has_picture = true,
            Some(header) if NO_PICTURE.contains(header) => {}
            _ => return false,
        }
    }
    has_picture
}

/// Recognizes B pictures in which every macroblock is skipped, coded with CAVLC: a header and a number in each slice.
#[derive(Clone, Debug)]
pub(super) struct SkippedPictures {
    headers: SliceHeaders,
    macroblocks: u64,
}

impl SkippedPictures {
    /// For a stream with this parameter set and these headers; `None` where it is coded otherwise.
    pub(super) fn new(sps: &Sps, headers: &SliceHeaders) -> Option<Self> {
        (!headers.is_cabac).then(|| Self { headers: headers.clone(), macroblocks: sps.macroblocks })
    }

    /// Whether a sample is such a picture, whole.
    pub(super) fn recognize<'a>(&self, units: impl Iterator<Item = &'a [u8]>) -> bool {
        let mut covered = 0;
        for unit in units {
            match self.skipped_in(unit) {
                Some((first, count)) if first == covered => covered += count,
                _ => return false,
            }
        }
        covered == self.macroblocks
    }

    /// The first macroblock of a slice, and how many it skips; `None` for one that holds anything else.
    fn skipped_in(&self, unit: &[u8]) -> Option<(u64, u64)> {
        let (&NAL_SLICE, payload) = unit.split_first()? else { return None };
        if payload.len() > MAX_SKIPPED_LEN {
            return None;
        }
        let rbsp = unescape(payload);
        let header = self.headers.read(NAL_SLICE, &rbsp)?;
        if header.kind != SliceKind::B || header.is_reordered {
            return None;
        }
        let mut r = BitReader::new(&rbsp);
        r.skip(header.len);
        let count = r.unsigned()?; // mb_skip_run
        // rbsp_trailing_bits, and nothing after them.
        let ends = r.bit()? && r.position().div_ceil(8) == rbsp.len();
        while !r.position().is_multiple_of(8) {
            if r.bit()? {
                return None;
            }
        }
        ends.then_some((u64::from(header.first_macroblock), u64::from(count)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::tests::{spec, stripes};
    use super::super::encode::{CodedPicture, Effort, StreamSpec, VideoEncoder};
    use super::*;

    /// Stripes that move, every fourth picture coded; and the recognizer of their stream.
    fn stream(effort: Effort) -> (Vec<CodedPicture>, Option<SkippedPictures>) {
        let mut encoder = VideoEncoder::new(StreamSpec { effort, ..spec() }).unwrap();
        let mut pictures = vec![encoder.encode(&stripes(0)).unwrap()];
        for phase in 1..6 {
            pictures.extend(encoder.encode_after(&stripes(phase), 3).unwrap());
        }
        let sets = encoder.parameter_sets().unwrap();
        let sps = Sps::parse(&sets.sps).unwrap();
        let recognizer = SkippedPictures::new(&sps, &SliceHeaders::new(&sps, &sets.pps).unwrap());
        (pictures, recognizer)
    }

    /// The one unit of a picture.
    fn unit(picture: &CodedPicture) -> &[u8] {
        &picture.bytes[4..]
    }

    #[test]
    fn interpolated_pictures_are_recognized_and_no_others() {
        let (pictures, recognizer) = stream(Effort::Draft);
        let recognizer = recognizer.expect("it is coded with CAVLC");
        let skipped = |unit| recognizer.recognize(std::iter::once(unit));
        assert_eq!(pictures.iter().filter(|picture| picture.delay == 0).count(), 15);
        for picture in &pictures {
            assert_eq!(skipped(unit(picture)), picture.delay == 0);
            assert_eq!(is_disposable(std::iter::once(unit(picture))), picture.delay == 0);
        }
        let interpolated = unit(pictures.iter().find(|picture| picture.delay == 0).unwrap());
        for length in 0..interpolated.len() {
            assert!(!skipped(&interpolated[..length]), "the first {length} bytes");
        }
        assert!(!skipped(&[interpolated, &[0x80]].concat()));
        assert!(!recognizer.recognize([interpolated; 2].into_iter()), "twice the macroblocks");
        assert!(!recognizer.recognize(std::iter::empty()) && !is_disposable(std::iter::empty()));
    }

    #[test]
    fn arithmetic_coding_is_not_read() {
        let (pictures, recognizer) = stream(Effort::Full);
        assert!(recognizer.is_none());
        assert!(
            pictures
                .iter()
                .all(|picture| is_disposable(std::iter::once(unit(picture))) == (picture.delay == 0))
        );
    }
}
