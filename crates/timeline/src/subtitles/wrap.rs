//! Wrapping of subtitles.

/// The most letters of a line.
const MAX_LETTERS: usize = 42;
/// The most of Chinese, Japanese and Korean.
const MAX_WIDE_LETTERS: usize = 16;

/// The most letters of a last line that nobody wants alone.
const MAX_ORPHAN: usize = 2;

/// Text as lines, of which `lines` are a cue that begins with `before` other letters. Breaks between words, and between letters of scripts that
/// have no spaces.
pub(super) fn wrapped(text: &str, before: usize, lines: usize) -> Vec<String> {
    let wide = text.chars().filter(|c| is_wide(*c)).count();
    let max = if wide * 2 > text.chars().filter(|c| !c.is_whitespace()).count() {
        MAX_WIDE_LETTERS
    } else {
        MAX_LETTERS
    };
    let before = before.min(max / 2);
    let widest = greedy(text, max, before, lines);
    let is_orphan =
        |lines: &[String]| lines.len() > 1 && lines[lines.len() - 1].chars().count() <= MAX_ORPHAN;
    if !is_orphan(&widest) {
        return widest;
    }
    let narrower = (max / 2..max).rev().map(|max| greedy(text, max, before.min(max / 2), lines));
    narrower.take_while(|other| other.len() == widest.len()).find(|other| !is_orphan(other)).unwrap_or(widest)
}

/// Text in lines of at most `max` letters, each as full as it can be.
fn greedy(text: &str, max: usize, before: usize, lines_of_cue: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = before;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        let mut pending_space = !line.is_empty();
        for piece in pieces(word, max) {
            let letters = piece.chars().count();
            if length + usize::from(pending_space) + letters > max && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                length = if lines.len().is_multiple_of(lines_of_cue) { before } else { 0 };
                pending_space = false;
            }
            if std::mem::take(&mut pending_space) {
                line.push(' ');
                length += 1;
            }
            line.push_str(&piece);
            length += letters;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The parts of a word between which a line may break: single wide letters with the punctuation that follows them, and pieces of what is
/// longer than a line.
fn pieces(word: &str, max: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let (mut was_wide, mut length) = (false, 0);
    for c in word.chars() {
        let wide = is_wide(c);
        let joins = !pieces.is_empty()
            && length < max
            && (is_closing(c) || !(wide || was_wide && c.is_alphanumeric()));
        match pieces.last_mut() {
            Some(piece) if joins => {
                piece.push(c);
                length += 1;
            }
            _ => {
                pieces.push(c.to_string());
                length = 1;
            }
        }
        was_wide = wide;
    }
    pieces
}

/// Letters that are as wide as high: Chinese, Japanese, Korean (Unicode Standard Annex 11, the blocks in use).
fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe4f | 0xff00..=0xff60 | 0x20000..=0x3fffd)
}

/// Punctuation that does not begin a line.
fn is_closing(c: char) -> bool {
    "。，、．！？：；）」』】》〉…,.!?:;)".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str) -> Vec<String> {
        super::wrapped(text, 0, 2)
    }

    #[test]
    fn text_is_wrapped_by_script() {
        assert_eq!(
            wrapped("The keeper climbs the stairs once more, and  the lamp\nis lit before the storm."),
            ["The keeper climbs the stairs once more,", "and the lamp is lit before the storm."]
        );
        assert_eq!(
            wrapped("守塔人又一次爬上楼梯，在暴风雨来临之前，点亮了那盏灯。"),
            ["守塔人又一次爬上楼梯，在暴风雨来", "临之前，点亮了那盏灯。"]
        );
        assert_eq!(
            wrapped("父さん、できるだけ早く来てください。"),
            ["父さん、できるだけ早く来てくだ", "さい。"]
        );
        let named = super::wrapped("Really? A line that is much too long to be read at once", 5, 2);
        assert_eq!(named, ["Really? A line that is much too long", "to be read at once"]);
        assert_eq!(wrapped(&"x".repeat(50)), ["x".repeat(42), "x".repeat(8)]);
        assert_eq!(wrapped(" \n\u{7} "), [""; 0]);
        for line in wrapped(&"灯 light, ".repeat(40)) {
            assert!(line.chars().count() <= MAX_LETTERS, "{line}");
        }
    }
}
