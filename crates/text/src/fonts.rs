//! The fonts that text is drawn with.

use std::sync::Arc;

use cosmic_text::{FontSystem, fontdb};

use crate::fallback::EmbeddedFallback;

/// The family of text for which nothing else is asked.
pub(crate) const FAMILY: &str = "Noto Sans";

/// The largest font file that is read, in bytes: a collection of CJK fonts has 20 to 30 MiB.
pub const MAX_FONT_BYTES: usize = 64 << 20;

/// The most fonts of a collection: those of CJK families have some ten.
const MAX_COLLECTION: u32 = 256;

/// Subsets of Noto fonts; `fonts/README.md` says how they are made.
const EMBEDDED: [&[u8]; 7] = [
    include_bytes!("../fonts/NotoSans-Regular.ttf"),
    include_bytes!("../fonts/NotoSans-Bold.ttf"),
    include_bytes!("../fonts/NotoSansArabic-Regular.ttf"),
    include_bytes!("../fonts/NotoSansDevanagari-Regular.ttf"),
    include_bytes!("../fonts/NotoSansHebrew-Regular.ttf"),
    include_bytes!("../fonts/NotoSansThai-Regular.ttf"),
    include_bytes!("../fonts/NotoSansCJK-Regular.otf"),
];

/// Why a font cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FontError {
    /// It is larger than any font.
    #[error("it has {bytes} bytes; a font has at most {MAX_FONT_BYTES}")]
    TooLarge { bytes: usize },
    /// It is not a font, or damaged.
    #[error("it is not a TrueType or OpenType font (TTF, OTF, TTC)")]
    NotAFont,
}

/// A set of fonts: the embedded ones, which serve Latin, Greek, Cyrillic, Arabic, Devanagari, Hebrew, Thai and the common characters of
/// Chinese, Japanese and Korean, and those that are added.
pub struct Fonts {
    pub(crate) system: FontSystem,
    /// Families of added fonts, which come first.
    pub(crate) added: Vec<String>,
}

impl Fonts {
    pub fn embedded() -> Self {
        let mut database = fontdb::Database::new();
        for font in EMBEDDED {
            database.load_font_source(fontdb::Source::Binary(Arc::new(font)));
        }
        // Line breaking and shaping of Han characters depend on the language; English leaves them to the script.
        let system =
            FontSystem::new_with_locale_and_db_and_fallback("en-US".to_owned(), database, EmbeddedFallback);
        Self { system, added: Vec::new() }
    }

    /// Adds a font or a collection of them. Text is drawn with it where it has the characters, before the embedded ones.
    ///
    /// # Errors
    /// When it is no font.
    pub fn add(&mut self, file: Vec<u8>) -> Result<(), FontError> {
        if file.len() > MAX_FONT_BYTES {
            return Err(FontError::TooLarge { bytes: file.len() });
        }
        if !has_plausible_count(&file) {
            return Err(FontError::NotAFont);
        }
        let faces = self.system.db_mut().load_font_source(fontdb::Source::Binary(Arc::new(file)));
        let family = faces.first().and_then(|id| self.system.db().face(*id)?.families.first().cloned());
        let (family, _) = family.ok_or(FontError::NotAFont)?;
        self.added.push(family);
        Ok(())
    }
}

/// Whether a collection has as many fonts as it may have. What parses it allocates for as many as it says (OpenType 1.9, "Font Collections").
fn has_plausible_count(file: &[u8]) -> bool {
    match file {
        [b't', b't', b'c', b'f', _, _, _, _, a, b, c, d, ..] => {
            u32::from_be_bytes([*a, *b, *c, *d]) <= MAX_COLLECTION
        }
        _ => true,
    }
}

impl std::fmt::Debug for Fonts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fonts").field("added", &self.added).finish_non_exhaustive()
    }
}
