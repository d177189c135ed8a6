//! Lines of dialogue in the cell of a table.

use super::listing::SpokenLine;

/// Characters of the name before a colon that are taken for a speaker, at most.
const MAX_SPEAKER_CHARS: usize = 30;

/// The lines in a cell: one for each of its lines, with a speaker where it says `Keeper: Who is there?`.
pub(super) fn lines(cell: &str) -> Vec<SpokenLine> {
    let lines = cell.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.map(spoken).collect()
}

fn spoken(line: &str) -> SpokenLine {
    let unattributed = || SpokenLine { speaker: None, text: unquoted(line).to_owned() };
    let Some((name, text)) = line.split_once([':', '：']) else { return unattributed() };
    let (name, text) = (name.trim(), text.trim());
    let is_name = name.chars().count() <= MAX_SPEAKER_CHARS
        && name.split_whitespace().count() <= 3
        && name.chars().next().is_some_and(|first| first.is_alphabetic() && !first.is_lowercase())
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '\'' | '’' | '(' | ')'));
    if is_name && !text.is_empty() {
        SpokenLine { speaker: Some(name.to_owned()), text: unquoted(text).to_owned() }
    } else {
        unattributed()
    }
}

/// Text without the quotes around it.
fn unquoted(text: &str) -> &str {
    let quotes = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』')];
    let inner = |(open, close)| {
        text.strip_prefix(open)?.strip_suffix(close).filter(|inner| !inner.contains([open, close]))
    };
    quotes.into_iter().find_map(inner).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_becomes_lines_with_speakers() {
        let read = |cell: &str| -> Vec<(Option<String>, String)> {
            lines(cell).into_iter().map(|line| (line.speaker, line.text)).collect()
        };
        let line = |speaker: Option<&str>, text: &str| (speaker.map(str::to_owned), text.to_owned());
        assert_eq!(read("“Not yet.”"), [line(None, "Not yet.")]);
        assert_eq!(
            read("KEEPER (V.O.): Who is there?\n\nBoy: „Me.“"),
            [line(Some("KEEPER (V.O.)"), "Who is there?"), line(Some("Boy"), "Me.")]
        );
        assert_eq!(read("海斗：「はい」"), [line(Some("海斗"), "はい")]);
        for cell in ["at 12:30", "he says: go", "One two three four: go", "Who: ", "12:30 it is"] {
            assert_eq!(read(cell), [line(None, cell.trim())], "{cell}");
        }
        assert_eq!(read(" \n "), []);
    }
}
