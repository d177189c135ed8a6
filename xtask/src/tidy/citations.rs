//! Checks that every section of docs/spec.md that sources and openapi.yaml cite, as in `(spec 2.2)`, exists.

use std::collections::BTreeSet;
use std::path::Path;

use contract::Contract;

use crate::repository;

const PAGE: &str = "docs/spec.md";

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let page = fs_err::read_to_string(root.join(PAGE)).map_err(|error| error.to_string())?;
    let sections = sections(&page);
    let mut problems = Vec::new();
    for file in repository::files(root)? {
        if Path::new(&file).extension().is_some_and(|extension| extension == "rs") {
            let text = fs_err::read_to_string(root.join(&file)).map_err(|error| error.to_string())?;
            problems.extend(check(&file, &text, &sections));
        }
    }
    let rules = Contract::embedded().rules().flat_map(|(_, rules)| rules);
    let unknown = rules.filter(|rule| {
        let number = rule.spec_section.split(' ').next().unwrap_or_default();
        !sections.contains(number)
    });
    problems.extend(
        unknown.map(|rule| {
            format!("openapi.yaml: rule {}: {PAGE} has no section {}", rule.id, rule.spec_section)
        }),
    );
    Ok(problems)
}

/// The numbers of the page's headings.
fn sections(page: &str) -> BTreeSet<&str> {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let numbers = headings.filter_map(|heading| heading.trim_start_matches('#').split_whitespace().next());
    numbers.map(|number| number.trim_end_matches('.')).filter(|number| is_section(number)).collect()
}

fn check(file: &str, text: &str, sections: &BTreeSet<&str>) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (start, marker) in line.match_indices("spec ") {
            let is_word = line[..start].chars().next_back().is_some_and(|before| "(;, ".contains(before));
            for section in cited(&line[start + marker.len()..]).filter(|_| is_word) {
                if !sections.contains(section) {
                    problems.push(format!("{file}:{}: {PAGE} has no section {section}", index + 1));
                }
            }
        }
    }
    problems
}

/// The numbers at the beginning of `2.2, 2.4 and 3) …`.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', ')', ':', ';'])
        .map(|word| word.trim_end_matches([' ', ')', ':', ';', ',', '.']))
        .take_while(|word| is_section(word) || matches!(*word, "and" | "to"))
        .filter(|word| is_section(word))
}

fn is_section(text: &str) -> bool {
    !text.is_empty()
        && text.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citation_of_missing_section_is_reported() {
        let sections = sections("# Title\n## 2. Models\n### 2.2 Requests\n### 2.4 Tasks\n");
        assert_eq!(sections, BTreeSet::from(["2", "2.2", "2.4"]));
        for line in [
            "(spec 2.2, 2.4)",
            "(spec 2.2 to 2.4): text",
            "as spec 2 says",
            "(spec 2.2 `size`, 9)",
            "inspec 9",
        ] {
            assert_eq!(check("a.rs", line, &sections), Vec::<String>::new(), "{line}");
        }
        // Assembled, so that the check does not report this file.
        for numbers in ["2.3", "2.2 and 2.9", "10 `x`"] {
            let line = format!("// (spec{}{numbers})", ' ');
            assert_eq!(check("a.rs", &line, &sections).len(), 1, "{line}");
        }
    }
}
