//! Checks the links of documents: files and headings exist, and the pages of the guide are exactly those of docs/SUMMARY.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::repository;

const SUMMARY: &str = "docs/SUMMARY.md";
/// The folder of the book. A link from one of its pages to a file outside of it leads nowhere in the book.
const BOOK: &str = "docs";

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    for file in repository::files(root)?.into_iter().map(PathBuf::from) {
        if file.extension().is_some_and(|extension| extension == "md") {
            let text = fs_err::read_to_string(root.join(&file)).map_err(|error| error.to_string())?;
            pages.insert(file, text);
        }
    }
    Ok(check(&pages, &|path| root.join(path).exists()))
}

fn check(pages: &BTreeMap<PathBuf, String>, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    let headings: BTreeMap<&Path, BTreeSet<String>> =
        pages.iter().map(|(path, text)| (path.as_path(), anchors(text))).collect();
    let mut listed = BTreeSet::new();
    for (page, text) in pages {
        for (line, target) in links(text) {
            let location = format!("{}:{line}", page.display());
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let Some(file) = (if path.is_empty() {
                Some(page.clone())
            } else {
                normalized(&page.parent().unwrap_or(Path::new("")).join(path))
            }) else {
                problems.push(format!("{location}: `{target}` leads out of the repository"));
                continue;
            };
            if page == Path::new(SUMMARY) {
                listed.insert(file.clone());
            }
            if !exists(&file) {
                problems.push(format!("{location}: `{target}`: there is no file {}", file.display()));
            } else if page.starts_with(BOOK) && !file.starts_with(BOOK) {
                problems
                    .push(format!("{location}: `{target}` is not in the book: name the file without a link"));
            } else if !anchor.is_empty()
                && headings.get(file.as_path()).is_some_and(|headings| !headings.contains(anchor))
            {
                problems.push(format!("{location}: {} has no heading `#{anchor}`", file.display()));
            }
        }
    }
    for page in pages.keys().filter(|page| page.starts_with(BOOK) && page.as_path() != Path::new(SUMMARY)) {
        if !listed.contains(page) {
            problems.push(format!("{SUMMARY} does not list {}", page.display()));
        }
    }
    problems
}

/// The targets of links and images that are not URLs, with their lines; code is left out.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        // The odd parts lie between backticks.
        for part in text.split('`').step_by(2) {
            let inline = part.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            let html = ["src=\"", "srcset=\"", "href=\""]
                .into_iter()
                .flat_map(|attribute| part.split(attribute).skip(1))
                .filter_map(|rest| rest.split_once('"'));
            links.extend(inline.chain(html).map(|(target, _)| (line, target)).filter(|(_, target)| {
                !target.contains("://") && !target.starts_with("mailto:") && !target.is_empty()
            }));
        }
    }
    links
}

/// The anchors of the headings, as mdBook and GitHub derive them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let Some(heading) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) else { continue };
        let anchor: String = heading
            .trim()
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                c => c.is_alphanumeric().then(|| c.to_lowercase().next().unwrap_or(c)),
            })
            .collect();
        let mut unique = anchor.clone();
        let mut number = 0;
        while anchors.contains(&unique) {
            number += 1;
            unique = format!("{anchor}-{number}");
        }
        anchors.insert(unique);
    }
    anchors
}

/// The lines outside of fenced code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            return None;
        }
        (!is_code).then_some((index + 1, line))
    })
}

/// A relative path without `.` and `..`; `None` where it leads out of the repository.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(pages: &[(&str, &str)]) -> Vec<String> {
        let pages: BTreeMap<PathBuf, String> =
            pages.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
        check(&pages, &|path| pages.contains_key(path) || path == Path::new("docs/images/a.png"))
    }

    #[test]
    fn links_that_lead_somewhere_are_in_order() {
        let pages = [
            ("docs/SUMMARY.md", "- [A](a.md)\n- [B](guide/b.md)\n"),
            ("docs/a.md", "# A page: what it says\n[b](guide/b.md#two-words), [web](https://example.com)\n"),
            (
                "docs/guide/b.md",
                "## Two `words`\n## Two words\n[a](../a.md#a-page-what-it-says), [b](#two-words-1)\n![x](../images/a.png)\n```\n[no](link)\n```\n",
            ),
            ("README.md", "[a](docs/a.md) `[code](nowhere)`\n"),
        ];
        assert_eq!(problems_of(&pages), Vec::<String>::new());
    }

    #[test]
    fn links_that_lead_nowhere_are_reported_with_their_line() {
        let pages = [
            ("docs/SUMMARY.md", "- [A](a.md)\n"),
            (
                "docs/a.md",
                "x\n[b](b.md) [c](#c) [r](../README.md) [o](../../o.md)\n<img src=\"images/b.png\">\n",
            ),
            ("docs/unlisted.md", ""),
            ("README.md", ""),
        ];
        assert_eq!(
            problems_of(&pages),
            [
                "docs/a.md:2: `b.md`: there is no file docs/b.md",
                "docs/a.md:2: docs/a.md has no heading `#c`",
                "docs/a.md:2: `../README.md` is not in the book: name the file without a link",
                "docs/a.md:2: `../../o.md` leads out of the repository",
                "docs/a.md:3: `images/b.png`: there is no file docs/images/b.png",
                "docs/SUMMARY.md does not list docs/unlisted.md",
            ]
        );
    }
}
