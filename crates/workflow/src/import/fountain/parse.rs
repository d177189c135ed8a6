//! Fountain (<https://fountain.io/syntax>): the elements of a screenplay in plain text.

use super::text::{Line, lines, plain};
use crate::source::Span;

/// A screenplay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Screenplay {
    /// The title page: keys with their values on one line.
    pub(super) title_page: Vec<(String, String)>,
    pub(super) elements: Vec<Element>,
}

/// An element and the lines that it consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) kind: ElementKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    SceneHeading { text: String, number: Option<String> },
    Action(String),
    Speech(Speech),
    Transition(String),
    Centered(String),
    Lyrics(String),
    Section(String),
    Synopsis(String),
    Note(String),
    PageBreak,
}

/// A character's name with what the character says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Speech {
    /// The name without extensions.
    pub(super) name: String,
    /// What stands in parentheses behind the name, such as `V.O.`.
    pub(super) extensions: Vec<String>,
    /// Whether it is spoken at the same time as the speech before it.
    pub(super) is_dual: bool,
    pub(super) parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// How it is said, without its parentheses.
    Parenthetical(String),
    Line(String),
}

/// The keys that begin a title page. Others may follow.
const TITLE_KEYS: [&str; 12] = [
    "title",
    "credit",
    "author",
    "authors",
    "source",
    "notes",
    "draft date",
    "date",
    "contact",
    "copyright",
    "revision",
    "format",
];

/// What scene headings begin with.
const HEADINGS: [&str; 7] = ["INT./EXT", "INT/EXT", "EXT./INT", "EXT/INT", "I/E", "INT", "EXT"];

/// The elements of a text whose lines end with LF.
pub(super) fn parse(text: &str) -> Screenplay {
    let lines = lines(text);
    let mut parser = Parser { lines: &lines, next: 0, screenplay: Screenplay::default() };
    parser.title_page();
    parser.elements();
    parser.screenplay
}

struct Parser<'t> {
    lines: &'t [Line],
    next: usize,
    screenplay: Screenplay,
}

impl Parser<'_> {
    fn title_page(&mut self) {
        let key = |line: &Line| {
            let (key, value) = line.text.split_once(':')?;
            let is_key =
                !key.starts_with([' ', '\t']) && key.chars().all(|c| c.is_alphanumeric() || c == ' ');
            is_key.then(|| (key.trim().to_owned(), plain(value.trim())))
        };
        let first = self.lines.first().and_then(key);
        let Some((first, _)) = first else { return };
        if !TITLE_KEYS.contains(&first.to_lowercase().as_str()) {
            return;
        }
        while let Some(line) = self.lines.get(self.next).filter(|line| !line.is_blank()) {
            self.next += 1;
            if let Some(entry) = key(line) {
                self.screenplay.title_page.push(entry);
            } else if let Some((_, value)) = self.screenplay.title_page.last_mut() {
                if !value.is_empty() {
                    value.push_str(", ");
                }
                value.push_str(&plain(line.text.trim()));
            }
        }
    }

    fn elements(&mut self) {
        while let Some(line) = self.lines.get(self.next) {
            let after_blank = self.next == 0 || self.lines[self.next - 1].is_blank();
            let before_blank = self.lines.get(self.next + 1).is_none_or(Line::is_blank);
            let text = line.text.trim();
            self.next += 1;
            if text.is_empty() {
                self.notes(line);
            } else if let Some(name) = character(text, after_blank && !before_blank) {
                self.speech(name, line);
            } else {
                let kind = kind(text, after_blank, before_blank);
                let kind = kind.unwrap_or_else(|| {
                    let line = line.text.trim_end();
                    ElementKind::Action(plain(line.strip_prefix('!').unwrap_or(line)))
                });
                self.push(kind, line);
            }
        }
    }

    /// Adds an element; a line of action continues the one directly before it.
    fn push(&mut self, kind: ElementKind, line: &Line) {
        let is_next_line = self.next > 1 && !self.lines[self.next - 2].is_blank();
        let mut elements = self.screenplay.elements.iter_mut().rev();
        let before = elements.find(|element| !matches!(element.kind, ElementKind::Note(_)));
        match (before, &kind) {
            (Some(Element { kind: ElementKind::Action(before), span }), ElementKind::Action(text))
                if is_next_line =>
            {
                before.push('\n');
                before.push_str(text);
                *span = Span::new(span.start(), line.span.end());
            }
            _ => self.screenplay.elements.push(Element { kind, span: line.span }),
        }
        self.notes(line);
    }

    fn notes(&mut self, line: &Line) {
        let notes =
            line.notes.iter().map(|note| Element { kind: ElementKind::Note(note.clone()), span: line.span });
        self.screenplay.elements.extend(notes);
    }

    /// The lines below a character's name, up to a blank one. A line of two blanks is none.
    fn speech(&mut self, mut speech: Speech, name: &Line) {
        let first = self.next;
        while let Some(line) =
            self.lines.get(self.next).filter(|line| !line.is_blank() || line.text.starts_with("  "))
        {
            self.next += 1;
            let text = line.text.trim();
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            match (inner, speech.parts.last_mut()) {
                (Some(inner), _) => speech.parts.push(Part::Parenthetical(plain(inner.trim()))),
                (None, Some(Part::Line(before))) => {
                    before.push('\n');
                    before.push_str(&plain(text.strip_prefix('~').unwrap_or(text).trim()));
                }
                (None, _) => {
                    let text = text.strip_prefix('~').unwrap_or(text);
                    speech.parts.push(Part::Line(plain(text.trim())));
                }
            }
        }
        let span = Span::new(name.span.start(), self.lines[self.next - 1].span.end());
        self.screenplay.elements.push(Element { kind: ElementKind::Speech(speech), span });
        for line in std::iter::once(name).chain(&self.lines[first..self.next]) {
            self.notes(line);
        }
    }
}

/// The kind of a line that is not action; `None` if it is.
fn kind(text: &str, after_blank: bool, before_blank: bool) -> Option<ElementKind> {
    let owned = |text: &str| plain(text.trim());
    if text.len() >= 3 && text.bytes().all(|byte| byte == b'=') {
        return Some(ElementKind::PageBreak);
    }
    let rest = |mark: char| text.strip_prefix(mark);
    if let Some(rest) = rest('=') {
        return Some(ElementKind::Synopsis(owned(rest)));
    }
    if text.starts_with('#') {
        return Some(ElementKind::Section(owned(text.trim_start_matches('#'))));
    }
    if let Some(rest) = rest('~') {
        return Some(ElementKind::Lyrics(owned(rest)));
    }
    if let Some(rest) = rest('>') {
        return Some(match rest.strip_suffix('<') {
            Some(inner) => ElementKind::Centered(owned(inner)),
            None => ElementKind::Transition(owned(rest)),
        });
    }
    if let Some(rest) = rest('.').filter(|rest| rest.starts_with(char::is_alphanumeric)) {
        return Some(heading(rest));
    }
    if !after_blank || text.starts_with('!') {
        return None;
    }
    if begins_scene(text) {
        return Some(heading(text));
    }
    let is_transition = before_blank && is_upper(text) && text.ends_with("TO:");
    is_transition.then(|| ElementKind::Transition(owned(text)))
}

/// Whether a line begins like a scene heading.
fn begins_scene(text: &str) -> bool {
    let begins = |prefix: &str| {
        let head = text.get(..prefix.len())?;
        head.eq_ignore_ascii_case(prefix).then(|| text[prefix.len()..].starts_with(['.', ' ']))
    };
    HEADINGS.iter().chain(&["EST"]).any(|prefix| begins(prefix) == Some(true))
}

fn heading(text: &str) -> ElementKind {
    let numbered = text.trim_end().strip_suffix('#').and_then(|rest| rest.rsplit_once('#'));
    let is_number = |number: &&str| {
        !number.is_empty() && number.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.'))
    };
    match numbered.filter(|(_, number)| is_number(number)) {
        Some((text, number)) => {
            ElementKind::SceneHeading { text: plain(text.trim()), number: Some(number.to_owned()) }
        }
        None => ElementKind::SceneHeading { text: plain(text.trim()), number: None },
    }
}

/// The character of a line that names one: in capitals between a blank line and one that is not, or marked by `@`.
fn character(text: &str, can_be_named: bool) -> Option<Speech> {
    if !can_be_named {
        return None;
    }
    let is_dual = text.ends_with('^');
    let text = text.trim_end_matches('^').trim_end();
    let forced = text.strip_prefix('@');
    let text = forced.unwrap_or(text).trim();
    let (name, rest) = text.find('(').map_or((text, ""), |open| text.split_at(open));
    let name = name.trim();
    let is_marked = text.starts_with(['!', '.', '>', '~', '#', '=']);
    if forced.is_none() && (!is_upper(name) || is_marked || begins_scene(text) || text.ends_with("TO:")) {
        return None;
    }
    let extensions = extensions(rest)?;
    if name.is_empty() {
        return None;
    }
    Some(Speech { name: plain(name), extensions, is_dual, parts: Vec::new() })
}

/// What stands in parentheses behind a name; `None` if other text does.
fn extensions(text: &str) -> Option<Vec<String>> {
    let mut extensions = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (inner, after) = rest.strip_prefix('(')?.split_once(')')?;
        extensions.extend(Some(inner.trim().to_owned()).filter(|inner| !inner.is_empty()));
        rest = after.trim_start();
    }
    Some(extensions)
}

/// Whether a text has capitals, and no other letters with case.
fn is_upper(text: &str) -> bool {
    text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of a text, one a line.
    fn elements(text: &str) -> Vec<String> {
        let shown = |kind: ElementKind| match kind {
            ElementKind::SceneHeading { text, number } => format!("scene {text} {number:?}"),
            ElementKind::Action(text) => format!("action {text:?}"),
            ElementKind::Speech(Speech { name, extensions, is_dual, parts }) => {
                format!("{name} {extensions:?}{} {parts:?}", if is_dual { " dual" } else { "" })
            }
            ElementKind::Transition(text) => format!("transition {text}"),
            ElementKind::Centered(text) => format!("centered {text}"),
            ElementKind::Lyrics(text) => format!("lyrics {text}"),
            ElementKind::Section(text) => format!("section {text}"),
            ElementKind::Synopsis(text) => format!("synopsis {text}"),
            ElementKind::Note(text) => format!("note {text}"),
            ElementKind::PageBreak => "page break".to_owned(),
        };
        parse(text).elements.into_iter().map(|element| shown(element.kind)).collect()
    }

    #[test]
    fn scene_headings() {
        for (text, expected) in [
            ("INT. HOUSE - DAY", "scene INT. HOUSE - DAY None"),
            ("ext. brick's pool - day", "scene ext. brick's pool - day None"),
            ("INT./EXT. CAR", "scene INT./EXT. CAR None"),
            ("I/E CAR", "scene I/E CAR None"),
            ("EST. LONDON", "scene EST. LONDON None"),
            (".SNIPER SCOPE POV", "scene SNIPER SCOPE POV None"),
            (
                "INT. HOUSE - DAY - FLASHBACK (1944) #110A#",
                "scene INT. HOUSE - DAY - FLASHBACK (1944) Some(\"110A\")",
            ),
            ("INT. HOUSE #I-1-A#", "scene INT. HOUSE Some(\"I-1-A\")"),
            ("...where the second half goes.", "action \"...where the second half goes.\""),
            ("INTERESTING, he said.", "action \"INTERESTING, he said.\""),
        ] {
            assert_eq!(elements(&format!("\n{text}\n")), [expected], "{text}");
        }
    }

    #[test]
    fn speeches() {
        for (text, expected) in [
            ("STEEL\nThe man's a myth!", r#"STEEL [] [Line("The man's a myth!")]"#),
            ("MOM (O.S.)\nLuke!", r#"MOM ["O.S."] [Line("Luke!")]"#),
            ("HANS (on the radio)\nWhat?", r#"HANS ["on the radio"] [Line("What?")]"#),
            ("@McCLANE\nYippie ki-yay!", r#"McCLANE [] [Line("Yippie ki-yay!")]"#),
            ("STEEL ^\nScrew.", r#"STEEL [] dual [Line("Screw.")]"#),
            (
                "R2D2\n(beeps)\nBeep.\n(low)\nBoop.",
                r#"R2D2 [] [Parenthetical("beeps"), Line("Beep."), Parenthetical("low"), Line("Boop.")]"#,
            ),
            ("DEALER\nTen.\n  \nTwo.", r#"DEALER [] [Line("Ten.\n\nTwo.")]"#),
            ("CHOIR\n~Willy Wonka!", r#"CHOIR [] [Line("Willy Wonka!")]"#),
            ("ОЛЬГА\nДа.", r#"ОЛЬГА [] [Line("Да.")]"#),
        ] {
            assert_eq!(elements(text), [expected], "{text}");
        }
    }

    #[test]
    fn lines_that_name_nobody_are_action() {
        for text in
            ["23\nskidoo", "MARA (60) walks.\nOn.", "!SCANNING THE AISLES\nNow.", "Steel\nsays", "海斗\nはい"]
        {
            let actual = elements(text);
            assert!(matches!(actual.as_slice(), [only] if only.starts_with("action ")), "{actual:?}");
        }
        // Nothing follows the name, and no blank line is before it.
        assert_eq!(
            elements("BOB\n\nHe goes.\nJIM\nHe stays."),
            [r#"action "BOB""#, r#"action "He goes.\nJIM\nHe stays.""#]
        );
    }

    #[test]
    fn other_elements() {
        let text = "CUT TO:\n\n> Burn to White.\n\n> THE END <\n\n# Act\n\n## Sequence\n\n= It begins.\n\n===\n\n~La la\n\nA [[note]] b.\nc.\n";
        assert_eq!(
            elements(text),
            [
                "transition CUT TO:",
                "transition Burn to White.",
                "centered THE END",
                "section Act",
                "section Sequence",
                "synopsis It begins.",
                "page break",
                "lyrics La la",
                r#"action "A  b.\nc.""#,
                "note note"
            ]
        );
    }

    #[test]
    fn title_page_is_at_the_beginning_only() {
        let page = parse(
            "Title:\n    _**BRICK & STEEL**_\n    FULL RETIRED\nDraft date: 1/20/2012\n\nTitle: not this\n",
        );
        let expected = [("Title", "BRICK & STEEL, FULL RETIRED"), ("Draft date", "1/20/2012")];
        assert_eq!(page.title_page, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(page.elements.len(), 1);
        assert!(parse("FADE IN:\n\nA dark room.\n").title_page.is_empty());
    }
}
