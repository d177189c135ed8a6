//! Reads from the tokens of macros what they declare: types, variants with their texts, functions, constants; and the keys of `json!` objects.

use syn::buffer::Cursor;

use super::names::NameKind;

/// The names that the invocation of a macro declares, or, of a definition, those of its own text.
///
/// A keyword names what follows it. In an invocation, `Name = "text"` is a variant with its text, and any other name of a type's form that starts an entry is a type.
pub(super) fn declarations(tokens: Cursor<'_>, is_definition: bool) -> Vec<(NameKind, String)> {
    let mut names = Vec::new();
    collect(tokens, is_definition, &mut names);
    names
}

fn collect(mut tokens: Cursor<'_>, is_definition: bool, names: &mut Vec<(NameKind, String)>) {
    let mut is_start = true;
    while !tokens.eof() {
        if let Some((inner, _, _, rest)) = tokens.any_group() {
            collect(inner, is_definition, names);
            // What follows an attribute starts an entry.
            tokens = rest;
            continue;
        }
        if let Some((ident, rest)) = tokens.ident() {
            tokens = rest;
            let declared = match ident.to_string().as_str() {
                "struct" | "enum" | "trait" | "union" | "type" => Some(NameKind::Type),
                "fn" => Some(NameKind::Function),
                "const" | "static" => Some(NameKind::Constant),
                "mod" => Some(NameKind::Module),
                _ => None,
            };
            if let Some((kind, (name, rest))) = declared.zip(tokens.ident()) {
                // `const fn` declares what follows `fn`.
                if name != "fn" {
                    names.push((kind, name.to_string()));
                    tokens = rest;
                }
            } else if is_start && !is_definition && is_camel_case(&ident.to_string()) {
                entry(&ident.to_string(), tokens, names);
            }
            is_start = false;
            continue;
        }
        let (is_separator, rest) = match tokens.punct() {
            Some((punct, rest)) => (matches!(punct.as_char(), ',' | ';' | '#'), rest),
            None => match tokens.token_tree() {
                Some((_, rest)) => (false, rest),
                None => return,
            },
        };
        is_start = is_separator;
        tokens = rest;
    }
}

/// The entry of a macro's list that starts with `name`.
fn entry(name: &str, rest: Cursor<'_>, names: &mut Vec<(NameKind, String)>) {
    let assigned = rest.punct().filter(|(punct, _)| punct.as_char() == '=');
    match assigned.and_then(|(_, rest)| rest.literal()) {
        Some((literal, _)) => {
            names.push((NameKind::Variant, name.to_owned()));
            let text = literal.to_string();
            if let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                names.push((NameKind::Member, text.to_owned()));
            }
        }
        None if rest.eof()
            || rest.any_group().is_some()
            || rest.punct().is_some_and(|(p, _)| p.as_char() == ',') =>
        {
            names.push((NameKind::Type, name.to_owned()));
        }
        None => {}
    }
}

fn is_camel_case(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase()) && text.contains(|c: char| c.is_ascii_lowercase())
}

/// The keys of the objects in `json!` invocations.
pub(super) fn json_members(mut tokens: Cursor<'_>) -> Vec<String> {
    let mut members = Vec::new();
    while !tokens.eof() {
        if let Some((inner, _, _, rest)) = tokens.any_group() {
            members.extend(json_members(inner));
            tokens = rest;
            continue;
        }
        let invocation = tokens
            .ident()
            .filter(|(ident, _)| ident == "json")
            .and_then(|(_, rest)| rest.punct())
            .filter(|(punct, _)| punct.as_char() == '!')
            .and_then(|(_, rest)| rest.any_group());
        if let Some((inner, _, _, rest)) = invocation {
            keys(inner, &mut members);
            tokens = rest;
        } else {
            let Some((_, rest)) = tokens.token_tree() else { break };
            tokens = rest;
        }
    }
    members
}

/// The texts before a colon, at any depth.
fn keys(mut tokens: Cursor<'_>, members: &mut Vec<String>) {
    while !tokens.eof() {
        if let Some((inner, _, _, rest)) = tokens.any_group() {
            keys(inner, members);
            tokens = rest;
            continue;
        }
        if let Some((literal, rest)) = tokens.literal()
            && rest.punct().is_some_and(|(punct, _)| punct.as_char() == ':')
        {
            members.push(literal.to_string().trim_matches('"').to_owned());
        }
        let Some((_, rest)) = tokens.token_tree() else { break };
        tokens = rest;
    }
}
