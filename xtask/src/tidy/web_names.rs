//! Collects the names that a TypeScript source file declares: what follows `const`, `let`, `function`, `class`, `interface`, `type` and `enum`, members, parameters with a type, and the file's own name.
//!
//! A scanner, not a parser: it leaves out comments and the contents of texts, and takes a name before a colon for a member wherever it stands.

use std::path::Path;

use super::names::{Name, NameKind};

pub(super) fn names(file: &str, text: &str) -> Vec<Name> {
    let mut names = Vec::new();
    let mut add = |kind, text: &str| names.push(Name { file: file.to_owned(), kind, text: text.to_owned() });
    if let Some(stem) = Path::new(file).file_stem() {
        add(NameKind::Module, &stem.to_string_lossy());
    }
    let tokens = tokens(text);
    for (index, token) in tokens.iter().enumerate() {
        if !is_identifier(token) {
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| tokens.get(index)).map_or("", String::as_str);
        let after = tokens.get(index + 1).map_or("", String::as_str);
        match before {
            "const" if !token.contains(|c: char| c.is_lowercase()) => add(NameKind::Constant, token),
            "const" | "let" | "var" => add(NameKind::Variable, token),
            "function" => add(NameKind::Function, token),
            "class" | "interface" | "enum" => add(NameKind::Type, token),
            "type" if after == "=" || after == "<" => add(NameKind::Type, token),
            // `a ? b : c` has no comma, brace or parenthesis before `b`.
            "{" | "," | "(" | ";" | "readonly" | "#" if matches!(after, ":" | "?:") => {
                add(NameKind::Member, token);
            }
            _ => {}
        }
    }
    names
}

fn is_identifier(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
}

/// Identifiers and single other characters (`?:` as one), without comments and texts.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '`' => text_len(rest, first),
            '?' if rest.starts_with("?:") => {
                tokens.push("?:".to_owned());
                2
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' => {
                let len =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
                tokens.push(rest[..len].to_owned());
                len
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                c.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    tokens
}

/// The length of the text that starts with `quote`, both quotes included; to the end of the line where it does not end on it.
fn text_len(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if quote != '`' => return index,
            c if c == quote => return index + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lists_declarations_and_members() {
        let source = "/** const hidden */ const SETTLE_MS = 250;\n\
            export type State = { kind: \"lost: no\"; last?: number };\n\
            export interface Props { readonly open: boolean }\n\
            async function wait(page: Page) { const text = ok ? yes : no; } // function no\n\
            const TEXT = {\n  lost: \"a\",\n  refused: `b ${c}`,\n};\n";
        let all = names("web/src/a-file.ts", source);
        let all: Vec<String> = all.iter().map(|name| format!("{} {}", name.kind, name.text)).collect();
        let expected = [
            "module a-file",
            "constant SETTLE_MS",
            "type State",
            "JSON member kind",
            "JSON member last",
            "type Props",
            "JSON member open",
            "function wait",
            "JSON member page",
            "variable text",
            "constant TEXT",
            "JSON member lost",
            "JSON member refused",
        ];
        assert_eq!(all, expected);
    }
}
