//! docs/spec.md as a list of statements: table rows, list items and sentences, by section.

/// A statement of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// The number of its section, such as `2.2`.
    pub(super) section: String,
    pub(super) text: String,
}

/// The section and a distinctive part of a statement.
pub(super) type Cite<'a> = (&'a str, &'a str);

/// The statements of a page, in its order. Headings, the heads of tables and lines that only introduce what follows are none.
pub(super) fn read(page: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut section = String::new();
    let mut paragraph = String::new();
    let mut is_head = true;
    for line in page.lines().chain([""]) {
        let line = line.trim();
        let is_own = line.is_empty() || line.starts_with(['#', '|', '-']) || is_numbered(line);
        if is_own && !paragraph.is_empty() {
            sentences(&section, &std::mem::take(&mut paragraph), &mut statements);
        }
        if let Some(title) = line.strip_prefix("##") {
            let title = title.trim_start_matches('#').trim();
            title.split(' ').next().unwrap_or_default().trim_end_matches('.').clone_into(&mut section);
        } else if line.starts_with("|---") {
            is_head = false;
        } else if line.starts_with('|') {
            if !is_head {
                statements.push(Statement { section: section.clone(), text: line.to_owned() });
            }
        } else if !section.is_empty() && !line.is_empty() {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
        if !line.starts_with('|') {
            is_head = true;
        }
    }
    statements
}

fn is_numbered(line: &str) -> bool {
    line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok())
}

fn sentences(section: &str, paragraph: &str, statements: &mut Vec<Statement>) {
    let (marker, text) = match paragraph.split_once(". ").filter(|_| is_numbered(paragraph)) {
        Some((number, rest)) => (format!("{number}. "), rest),
        None => (String::new(), paragraph),
    };
    let mut rest = text;
    let mut is_first = true;
    while !rest.is_empty() {
        let end = rest.match_indices(". ").map(|(index, _)| index + 1).next().unwrap_or(rest.len());
        let sentence = rest[..end].trim();
        rest = rest[end..].trim_start();
        if !sentence.ends_with(':') {
            let marker = if is_first { marker.as_str() } else { "" };
            statements.push(Statement { section: section.to_owned(), text: format!("{marker}{sentence}") });
        }
        is_first = false;
    }
}

/// The index of the one statement that a citation means.
pub(super) fn find(statements: &[Statement], (section, part): Cite<'_>) -> Result<usize, String> {
    let mut matches = statements
        .iter()
        .enumerate()
        .filter(|(_, statement)| statement.section == section && statement.text.contains(part));
    match (matches.next(), matches.next()) {
        (Some((index, _)), None) => Ok(index),
        (None, _) => Err(format!("section {section} of the document has no statement with `{part}`")),
        _ => Err(format!("section {section} of the document has several statements with `{part}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_splits_tables_lists_and_sentences() {
        let page = "# Title\nIntroduction.\n\n## 1. One\n\nFirst `a.b` stands. Second\ncontinues.\n\nRules:\n\n1. Do this. Not that.\n\
                    ### 1.2 Two\n\n| Field | Type |\n|---|---|\n| `x` | string |\n\n- `y`: z.\n";
        let statements: Vec<(String, String)> =
            read(page).into_iter().map(|statement| (statement.section, statement.text)).collect();
        let expected = [
            ("1", "First `a.b` stands."),
            ("1", "Second continues."),
            ("1", "1. Do this."),
            ("1", "Not that."),
            ("1.2", "| `x` | string |"),
            ("1.2", "- `y`: z."),
        ];
        assert_eq!(statements, expected.map(|(section, text)| (section.to_owned(), text.to_owned())));
    }
}
