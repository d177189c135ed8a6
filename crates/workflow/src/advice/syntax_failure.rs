//! What the parser refuses: the mistake that led to it, by its class and the lines around it.

use super::lines::Lines;
use super::{brackets, indentation, quotes, tabs};
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use crate::yaml::SyntaxClass;

/// The mistake, with what was probably meant; else the parser's own message.
pub(super) fn diagnostic(class: SyntaxClass, message: &str, span: Span, source: &Source) -> Diagnostic {
    let lines = Lines::new(source, span);
    let mistake = lines.and_then(|lines| match class {
        SyntaxClass::Tab => tabs::mistake(&lines),
        SyntaxClass::OpenQuote => brackets::mistake(&lines).or_else(|| indentation::mistake(&lines)),
        SyntaxClass::Quoted => brackets::mistake(&lines).or_else(|| quotes::ended_early(&lines)),
        SyntaxClass::Brackets => brackets::mistake(&lines).or_else(|| quotes::missing(&lines)),
        SyntaxClass::Unquoted => quotes::missing(&lines)
            .or_else(|| quotes::colon_in_text(&lines))
            .or_else(|| indentation::key_without_space(&lines))
            .or_else(|| indentation::too_deep(&lines)),
        SyntaxClass::Indentation => tabs::mistake(&lines)
            .or_else(|| quotes::missing(&lines))
            .or_else(|| brackets::mistake(&lines))
            .or_else(|| indentation::key_without_space(&lines))
            .or_else(|| indentation::mistake(&lines)),
        SyntaxClass::Other => None,
    });
    mistake.unwrap_or_else(|| Diagnostic::error("yaml-syntax", span, message).help(help(class)))
}

fn help(class: SyntaxClass) -> &'static str {
    match class {
        SyntaxClass::Tab => "replace each tab with two spaces",
        SyntaxClass::OpenQuote => "is a quote missing at the end of the text above?",
        SyntaxClass::Quoted => "put the whole text in single quotes, and write an apostrophe in it twice",
        SyntaxClass::Brackets => {
            "in brackets, entries are separated by commas, and text with `: `, `,`, `[` or `{` in it needs quotes"
        }
        SyntaxClass::Unquoted => {
            "text that has `: ` in it, or begins with a character that YAML reserves, is put in quotes"
        }
        SyntaxClass::Indentation | SyntaxClass::Other => {
            "a line is `key: value` or an item `- value`, indented like the lines beside it; other text is put in quotes, or below `key: >-`"
        }
    }
}
