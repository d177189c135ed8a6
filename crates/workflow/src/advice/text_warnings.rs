//! Warnings of texts that are not what was probably meant, as far as the file alone tells.

use super::{comments, dollars};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::yaml::Yaml;

/// Warnings of what YAML drops from a line, and of what is text although it looks like a template.
///
/// `source` is the file that the tree was read from, and the tree's spans are those of that file.
pub(crate) fn text_warnings(tree: &Yaml, source: &Source) -> Vec<Diagnostic> {
    let text = source.text();
    comments::warnings(tree, text).chain(dollars::warnings(tree, text)).collect()
}
