//! Lines of text: shaped, broken and drawn.

use std::collections::BTreeSet;

use cosmic_text::{
    Attrs, Buffer, Ellipsize, EllipsizeHeightLimit, Family, LayoutRun, Metrics, Shaping, Weight, Wrap,
};
use ttf_parser::Face;

use crate::fonts::{FAMILY, Fonts};
use crate::mask::Mask;
use crate::outline;

/// The longest text that is drawn, in characters: more than fills a frame.
const MAX_CHARACTERS: usize = 4_000;

/// The longest text that is searched for missing characters, in characters.
const MAX_EXAMINED: usize = 1_000_000;

/// How a text is set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Size of the font in pixels, from 4 to 1000.
    pub size: f32,
    /// Bold where the font has it: Latin, Greek and Cyrillic.
    pub is_bold: bool,
    /// Where lines begin.
    pub align: Align,
    /// The widest line in pixels; longer ones are broken.
    pub width: u32,
    /// The largest number of lines; the last one ends with an ellipsis where there are more.
    pub lines: usize,
}

/// Where lines begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At the left, or at the right where the text begins with a script that is written from the right.
    Start,
    Center,
}

/// A text as it was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnText {
    /// The ink. As wide as [`Style::width`], as high as the lines.
    pub mask: Mask,
    /// Characters that no font has, in order of their code points: emoji are left out, and a box stands for any other.
    pub missing: Vec<char>,
}

impl Fonts {
    /// Draws a text, the paragraphs of which are separated by line ends. Control characters are left out.
    pub fn draw(&mut self, text: &str, style: &Style) -> DrawnText {
        let size = if style.size.is_nan() { 4.0 } else { style.size.clamp(4.0, 1_000.0) };
        let line_height = (size * 1.35).ceil();
        let width = style.width.max(1);
        let mut text: String =
            text.chars().filter(|c| *c == '\n' || !c.is_control()).take(MAX_CHARACTERS).collect();
        let mut missing = BTreeSet::new();
        if text.chars().any(is_emoji) {
            missing.extend(self.missing(&text).into_iter().filter(|c| is_emoji(*c)));
            text.retain(|c| !missing.contains(&c));
        }
        let mut buffer = Buffer::new(&mut self.system, Metrics::new(size, line_height));
        buffer.set_wrap(Wrap::WordOrGlyph);
        buffer.set_ellipsize(Ellipsize::End(EllipsizeHeightLimit::Lines(style.lines.max(1))));
        buffer.set_size(Some(width as f32), None);
        let align = match style.align {
            Align::Start => None,
            Align::Center => Some(cosmic_text::Align::Center),
        };
        buffer.set_text(&text, &self.attributes(style.is_bold), Shaping::Advanced, align);
        buffer.shape_until_scroll(&mut self.system, false);
        let runs: Vec<LayoutRun<'_>> = buffer.layout_runs().take(style.lines.max(1)).collect();
        let mut mask = Mask::new(width, (runs.len().max(1) as f32 * line_height) as u32);
        for run in &runs {
            self.draw_run(run, style.align, &mut mask);
            collect_missing(run, &mut missing);
        }
        DrawnText { mask, missing: missing.into_iter().collect() }
    }

    /// The characters of a text that no font has, in order of their code points. What is beyond a million characters is not looked at.
    pub fn missing(&mut self, text: &str) -> Vec<char> {
        let lines: BTreeSet<&str> = text.lines().collect();
        let mut missing = BTreeSet::new();
        let mut left = MAX_EXAMINED;
        for line in lines {
            let line: String = line.chars().filter(|c| !c.is_control()).take(left).collect();
            left -= line.chars().count();
            let mut buffer = Buffer::new(&mut self.system, Metrics::new(16.0, 20.0));
            buffer.set_wrap(Wrap::None);
            buffer.set_text(&line, &self.attributes(false), Shaping::Advanced, None);
            buffer.shape_until_scroll(&mut self.system, false);
            buffer.layout_runs().for_each(|run| collect_missing(&run, &mut missing));
        }
        missing.into_iter().collect()
    }

    fn attributes(&self, is_bold: bool) -> Attrs<'_> {
        let family = self.added.first().map_or(FAMILY, String::as_str);
        let weight = if is_bold { Weight::BOLD } else { Weight::NORMAL };
        Attrs::new().family(Family::Name(family)).weight(weight)
    }

    fn draw_run(&mut self, run: &LayoutRun<'_>, align: Align, mask: &mut Mask) {
        let space = leading_space(run);
        let shift = match (align, run.rtl) {
            (Align::Start, false) => -space,
            (Align::Start, true) => space,
            (Align::Center, false) => -space / 2.0,
            (Align::Center, true) => space / 2.0,
        };
        for glyph in run.glyphs {
            let Some(index) = self.system.db().face(glyph.font_id).map(|face| face.index) else { continue };
            let Some(font) = self.system.get_font(glyph.font_id, glyph.font_weight) else { continue };
            let Ok(face) = Face::parse(font.data(), index) else { continue };
            let scale = glyph.font_size / f32::from(face.units_per_em());
            let x = shift + glyph.x + glyph.font_size * glyph.x_offset;
            let y = run.line_y + glyph.y - glyph.font_size * glyph.y_offset;
            outline::draw(&face, glyph.glyph_id, scale, (x, y), mask);
        }
    }
}

/// Pictures that few fonts have: symbols, dingbats, emoji and their modifiers (Unicode Standard, the blocks in use).
fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0x2600..=0x27bf | 0x2b00..=0x2bff | 0xfe0f | 0x1f000..=0x1faff)
}

/// The width of the spaces that a line begins with, where a paragraph goes on in it: a line that ends with an ellipsis keeps those at which
/// it was broken.
fn leading_space(run: &LayoutRun<'_>) -> f32 {
    let mut glyphs: Vec<_> = run.glyphs.iter().collect();
    glyphs.sort_by_key(|glyph| glyph.start);
    if glyphs.first().is_none_or(|first| first.start == 0) {
        return 0.0;
    }
    let is_space = |text: &str| !text.is_empty() && text.chars().all(char::is_whitespace);
    let spaces = glyphs.iter().take_while(|glyph| run.text.get(glyph.start..glyph.end).is_some_and(is_space));
    spaces.map(|glyph| glyph.w).sum()
}

/// The characters of a line for which no font has a glyph.
fn collect_missing(run: &LayoutRun<'_>, missing: &mut BTreeSet<char>) {
    for glyph in run.glyphs.iter().filter(|glyph| glyph.glyph_id == 0) {
        let cluster = run.text.get(glyph.start..glyph.end).unwrap_or_default();
        missing.extend(cluster.chars().filter(|c| !c.is_whitespace()));
    }
}
