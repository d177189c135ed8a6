//! The published schema against `check`, and workflows against an edited contract.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

mod edits;
mod hover;
mod refusals;

/// A file as an editor's parser reads it, by the rules of YAML 1.2; nothing where the parser refuses it itself.
fn as_an_editor_reads(text: &str) -> Option<serde_json::Value> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).ok()
}
