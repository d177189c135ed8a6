//! Metadata of a film: title, description, chapters, and that it is synthetic.
//!
//! Chapters are written twice, because players read either form: as a text track that the video refers to (`QuickTime` File Format, "Chapter
//! lists") and as the list `chpl` (Nero). Tags are those of iTunes (`ilst`). The source of the frames is in a packet of XMP.

use super::boxes::BoxWriter;
use super::write::{OutputKind, OutputSample, OutputTrack};
use super::xmp;

/// Metadata of a film. Everything may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilmTags {
    pub title: Option<String>,
    /// One line about it.
    pub comment: Option<String>,
    /// What it is made of, in any number of lines.
    pub description: Option<String>,
    /// The program that has made it.
    pub encoder: Option<String>,
    /// Where its frames come from.
    pub source: Option<DigitalSource>,
    /// A name for each clip; without names there are no chapters.
    pub chapters: Vec<String>,
}

/// Where frames come from, in the words of IPTC's vocabulary of digital source types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DigitalSource {
    /// A model that was trained on sampled content.
    TrainedAlgorithmicMedia,
    /// A program without such a model, as the embedded service's.
    AlgorithmicMedia,
}

impl DigitalSource {
    /// Its term in the vocabulary.
    pub(super) fn term(self) -> &'static str {
        match self {
            Self::TrainedAlgorithmicMedia => "trainedAlgorithmicMedia",
            Self::AlgorithmicMedia => "algorithmicMedia",
        }
    }
}

/// `chpl` counts its chapters in one byte.
const MAX_LISTED: usize = 255;
/// The longest name of a chapter, in bytes: `chpl` has one byte for its length.
const MAX_NAME: usize = 255;

/// The form in which tags are stored.
#[derive(Default)]
pub(crate) struct StoredTags {
    /// The box `udta` of `moov`, or nothing.
    pub(super) user_data: Vec<u8>,
    /// Boxes after `moov`, or nothing.
    pub(super) after_index: Vec<u8>,
    /// The track of the chapters and the bytes of its samples.
    pub(super) chapters: Option<(OutputTrack, Vec<Vec<u8>>)>,
}

impl StoredTags {
    /// The tags of a film whose clips end at these times, in ticks. `cover` is its poster as JPEG.
    pub(crate) fn new(tags: &FilmTags, cover: Option<&[u8]>, ends: &[u64], timescale: u32) -> Self {
        let chapters = chapters(tags, ends);
        let mut user_data = BoxWriter::default();
        let has_metadata = has_texts(tags) || cover.is_some();
        if has_metadata || !chapters.is_empty() {
            user_data.child(*b"udta", |out| {
                if has_metadata {
                    metadata(out, tags, cover);
                }
                if !chapters.is_empty() {
                    chapter_list(out, &chapters, timescale);
                }
            });
        }
        Self {
            user_data: user_data.into_bytes(),
            after_index: xmp::film_box(tags),
            chapters: (!chapters.is_empty()).then(|| chapter_track(&chapters, timescale)),
        }
    }
}

/// A chapter from one time to another, in ticks.
struct Chapter {
    name: String,
    start: u64,
    end: u64,
}

/// The chapters that last. Neighbours of one name are one.
fn chapters(tags: &FilmTags, ends: &[u64]) -> Vec<Chapter> {
    let mut chapters: Vec<Chapter> = Vec::new();
    let mut start = 0;
    for (name, &end) in tags.chapters.iter().zip(ends) {
        let name = shortened(name);
        match chapters.last_mut() {
            Some(last) if last.name == name => last.end = end,
            _ if end > start => chapters.push(Chapter { name, start, end }),
            _ => {}
        }
        start = end;
    }
    chapters
}

/// At most [`MAX_NAME`] bytes of whole characters.
fn shortened(name: &str) -> String {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].to_owned()
}

fn texts(tags: &FilmTags) -> [(&'static [u8; 4], &Option<String>); 4] {
    [
        (b"\xa9nam", &tags.title),
        (b"\xa9cmt", &tags.comment),
        (b"ldes", &tags.description),
        (b"\xa9too", &tags.encoder),
    ]
}

fn has_texts(tags: &FilmTags) -> bool {
    texts(tags).iter().any(|(_, text)| text.is_some())
}

fn metadata(out: &mut BoxWriter, tags: &FilmTags, cover: Option<&[u8]>) {
    out.full(*b"meta", 0, 0, |out| {
        out.full(*b"hdlr", 0, 0, |out| {
            out.u32(0);
            out.bytes(b"mdirappl");
            out.zeros(9);
        });
        out.child(*b"ilst", |out| {
            for (name, text) in texts(tags) {
                let Some(text) = text else { continue };
                out.child(*name, |out| {
                    // Type 1 is UTF-8.
                    out.full(*b"data", 0, 1, |out| {
                        out.u32(0);
                        out.bytes(text.as_bytes());
                    });
                });
            }
            if let Some(cover) = cover {
                out.child(*b"covr", |out| {
                    // Type 13 is JPEG.
                    out.full(*b"data", 0, 13, |out| {
                        out.u32(0);
                        out.bytes(cover);
                    });
                });
            }
        });
    });
}

fn chapter_list(out: &mut BoxWriter, chapters: &[Chapter], timescale: u32) {
    let listed = &chapters[..chapters.len().min(MAX_LISTED)];
    out.full(*b"chpl", 1, 0, |out| {
        out.u32(0);
        out.u8(listed.len() as u8);
        for chapter in listed {
            // In units of 100 ns.
            let start = u128::from(chapter.start) * 10_000_000 / u128::from(timescale.max(1));
            out.u64(u64::try_from(start).unwrap_or(u64::MAX));
            out.u8(chapter.name.len() as u8);
            out.bytes(chapter.name.as_bytes());
        }
    });
}

fn chapter_track(chapters: &[Chapter], timescale: u32) -> (OutputTrack, Vec<Vec<u8>>) {
    let texts: Vec<Vec<u8>> = chapters
        .iter()
        .map(|chapter| {
            let mut out = BoxWriter::default();
            out.u16(chapter.name.len() as u16);
            out.bytes(chapter.name.as_bytes());
            // The text is UTF-8.
            out.child(*b"encd", |out| out.u32(0x100));
            out.into_bytes()
        })
        .collect();
    let samples = chapters
        .iter()
        .zip(&texts)
        .map(|(chapter, text)| OutputSample {
            size: text.len() as u32,
            duration: u32::try_from(chapter.end - chapter.start).unwrap_or(u32::MAX),
            offset: 0,
            is_sync: true,
        })
        .collect();
    let presented = chapters.last().map_or(0, |chapter| chapter.end);
    let track = OutputTrack {
        kind: OutputKind::Chapters,
        entry: text_entry(),
        timescale,
        samples,
        start: 0,
        presented,
    };
    (track, texts)
}

/// The sample entry of text that is not shown: `QuickTime`'s text sample description, all zero besides its font.
fn text_entry() -> Vec<u8> {
    let mut out = BoxWriter::default();
    out.child(*b"text", |out| {
        out.zeros(6);
        out.u16(1); // data_reference_index
        out.u32(1); // display flags: do not scale
        out.u16(0); // justification
        out.zeros(4 + 8); // background, box
        out.zeros(4); // range of the style
        out.u16(1); // font
        out.zeros(2 + 4); // size, color
        out.child(*b"ftab", |out| {
            out.u16(1);
            out.u16(1);
            out.u8(0);
        });
    });
    out.into_bytes()
}
