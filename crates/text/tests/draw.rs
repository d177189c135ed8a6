//! What text looks like, as far as numbers can say.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use text::{Align, FontError, Fonts, Mask, Style};

const STYLE: Style = Style { size: 32.0, is_bold: false, align: Align::Start, width: 640, lines: 9 };

/// Where the ink lies from left to right.
fn ink(mask: &Mask) -> std::ops::Range<u32> {
    mask.ink().expect("ink").0
}

#[test]
fn scripts_of_the_embedded_fonts_have_their_characters() {
    let mut fonts = Fonts::embedded();
    for text in [
        "The keeper’s lamp — 3 × “déjà vu”, łódź, İstanbul, Việt Nam",
        "Ελληνικά, кириллица, Ґанок",
        "العربية 123، سماء",
        "עברית, שלום",
        "हिन्दी, क्षत्रिय, श्री",
        "ภาษาไทย น้ำ",
        "灯塔的守护者，暴风雨。 燈台守りは嵐の中 ランプ 등대지기의 밤",
    ] {
        let drawn = fonts.draw(text, &STYLE);
        assert_eq!(drawn.missing, Vec::<char>::new(), "{text}");
        assert!(drawn.mask.ink().is_some(), "{text}");
    }
}

#[test]
fn bold_text_falls_back_to_other_scripts() {
    let mut fonts = Fonts::embedded();
    let bold = Style { is_bold: true, ..STYLE };
    let drawn = fonts.draw("Lamp 灯塔 مصباح", &bold);
    assert_eq!(drawn.missing, Vec::<char>::new());
    let covered =
        |mask: &Mask| (0..mask.height()).flat_map(|y| mask.row(y)).map(|v| u64::from(*v)).sum::<u64>();
    let (bold, regular) = (fonts.draw("Lamp", &bold).mask, fonts.draw("Lamp", &STYLE).mask);
    assert!(covered(&bold) * 4 > covered(&regular) * 5);
}

#[test]
fn missing_characters_are_named() {
    let mut fonts = Fonts::embedded();
    let drawn = fonts.draw("a 🏮 ꦗ\u{7}", &STYLE);
    assert_eq!(drawn.missing, ['ꦗ', '🏮']);
    assert!(drawn.mask.ink().is_some(), "boxes");
}

#[test]
fn lines_begin_where_their_script_does() {
    let mut fonts = Fonts::embedded();
    assert!(ink(&fonts.draw("left", &STYLE).mask).start < 8);
    assert!(ink(&fonts.draw("שלום", &STYLE).mask).end > 630);
    let center = Style { align: Align::Center, ..STYLE };
    for text in ["middle", "שלום"] {
        let ink = ink(&fonts.draw(text, &center).mask);
        assert!(ink.start.abs_diff(640 - ink.end) < 6, "{text}: {ink:?}");
    }
}

#[test]
fn long_lines_are_broken_and_end_with_an_ellipsis() {
    let mut fonts = Fonts::embedded();
    let text = "a very long prompt about a lighthouse in a storm ".repeat(4);
    let line_height = fonts.draw("one", &STYLE).mask.height();
    assert_eq!(fonts.draw("one\ntwo", &STYLE).mask.height(), 2 * line_height);
    let narrow = Style { width: 200, lines: 2, ..STYLE };
    let drawn = fonts.draw(&text, &narrow);
    assert_eq!(drawn.mask.height(), 2 * line_height);
    assert!(ink(&drawn.mask).end <= 200);
    let unbroken = fonts.draw(&"w".repeat(60), &narrow);
    assert_eq!(unbroken.mask.height(), 2 * line_height, "words without a space are broken too");
    let words = Style { width: 200, lines: 1, ..STYLE };
    let ellipsis = fonts.draw("pier pier pier pier pier pier", &words).mask;
    assert_eq!(ellipsis.height(), line_height);
    assert_ne!(ellipsis, fonts.draw("pier pier pier", &words).mask);
}

#[test]
fn line_with_the_ellipsis_begins_where_the_others_do() {
    let mut fonts = Fonts::embedded();
    let style = Style { lines: 2, width: 300, ..STYLE };
    let line = |mask: &Mask, bottom: bool| {
        let half = mask.height() / 2;
        let rows = if bottom { half..mask.height() } else { 0..half };
        let columns =
            |y: u32| mask.row(y).iter().enumerate().filter(|(_, ink)| **ink > 0).map(|(x, _)| x as u32);
        let inked: Vec<u32> = rows.flat_map(columns).collect();
        (*inked.iter().min().expect("ink"), *inked.iter().max().expect("ink"))
    };
    let latin = fonts.draw(&"hhhh hhhh ".repeat(20), &style).mask;
    assert_eq!(line(&latin, false).0, line(&latin, true).0);
    let hebrew = fonts.draw(&"הההה הההה ".repeat(20), &style).mask;
    assert!(
        line(&hebrew, false).1.abs_diff(line(&hebrew, true).1) <= 1,
        "{:?}",
        (line(&hebrew, false), line(&hebrew, true))
    );
}

#[test]
fn text_without_ink_and_extreme_styles_are_drawn() {
    let mut fonts = Fonts::embedded();
    for text in ["", " ", "\n\n", "\u{200b}", "\u{202e}\u{0}"] {
        assert_eq!(fonts.draw(text, &STYLE).mask.ink(), None, "{text:?}");
    }
    for (size, width, lines) in [(0.0, 0, 0), (f32::NAN, 10, 1), (5_000.0, 64, 1), (4.0, 1, 1_000)] {
        let drawn = fonts.draw("Lamp\u{301}\u{301}\u{301}", &Style { size, width, lines, ..STYLE });
        assert!(drawn.mask.height() > 0, "{size}");
    }
}

#[test]
fn fonts_of_files_come_first_and_damaged_ones_are_refused() {
    let mut fonts = Fonts::embedded();
    assert_eq!(fonts.add(b"<html>".to_vec()), Err(FontError::NotAFont));
    assert_eq!(fonts.add(Vec::new()), Err(FontError::NotAFont));
    // A collection that says that it has four billion fonts, and one of as many as may be tried.
    for count in [u32::MAX, 0x7000_0002, 257, 256] {
        let collection =
            [b"ttcf\0\x01\0\0".as_slice(), &count.to_be_bytes(), &[0, 0, 0, 12].repeat(1_000)].concat();
        assert_eq!(fonts.add(collection), Err(FontError::NotAFont), "{count}");
    }
    let regular = fonts.draw("Lamp", &STYLE).mask;
    fonts.add(include_bytes!("../fonts/NotoSansThai-Regular.ttf").to_vec()).expect("a font");
    let drawn = fonts.draw("Lamp", &STYLE);
    assert_eq!((drawn.mask, drawn.missing), (regular, Vec::new()), "other fonts have what it lacks");
}

#[test]
fn truncated_fonts_do_not_panic() {
    let font: &[u8] = include_bytes!("../fonts/NotoSansHebrew-Regular.ttf");
    for length in (0..font.len()).step_by(997) {
        let mut fonts = Fonts::embedded();
        if fonts.add(font[..length].to_vec()).is_ok() {
            let _ink = fonts.draw("שלום lamp", &STYLE);
        }
    }
}

/// A box in the place of a smile says nothing; other characters are missed.
#[test]
fn emoji_without_a_font_are_left_out() {
    let mut fonts = Fonts::embedded();
    let style = Style { size: 32.0, is_bold: false, align: Align::Start, width: 400, lines: 1 };
    let plain = fonts.draw("Really?", &style);
    let smiling = fonts.draw("Really?😀\u{fe0f}", &style);
    assert_eq!((smiling.mask, smiling.missing.contains(&'😀')), (plain.mask, true));
}
