//! The codes of diagnostics, with their meanings and examples. `runner explain` and docs/codes.md show them; a test compiles all examples.

use std::sync::LazyLock;

use super::{did_you_mean, shortened};

/// All codes. Codes are stable: a code keeps its meaning.
pub static CODES: LazyLock<Vec<Code>> =
    LazyLock::new(|| include_str!("codes.txt").split("\n\n[").skip(1).filter_map(Code::read).collect());

/// A code, what it means, and an example that produces it.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub name: &'static str,
    pub meaning: &'static str,
    /// Names and texts of the files, the one that is compiled first. Empty if an example would be too large.
    pub files: Vec<(&'static str, &'static str)>,
    /// Arguments of the command line that it needs; may be empty.
    pub arguments: &'static str,
    /// Lines to remove from the first file, after `- `, and to add there, after `+ `; empty if the file is right and something else is to be
    /// changed.
    pub fix: &'static str,
    /// What to do, in Markdown.
    pub help: &'static str,
}

impl Code {
    /// The code of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        CODES.iter().find(|code| code.name == name)
    }

    /// A block of codes.txt, after its bracket.
    fn read(block: &'static str) -> Option<Self> {
        let (name, rest) = block.split_once("] ")?;
        let (meaning, example) = rest.split_once('\n')?;
        let mut code = Self { name, meaning, ..Self::default() };
        for section in example.split("=== ").skip(1) {
            let (name, body) = section.split_once('\n').unwrap_or((section, ""));
            match name {
                "arguments" => code.arguments = body.trim_end(),
                "fix" => code.fix = body.trim_end_matches('\n'),
                "help" => code.help = body.trim_end(),
                file => code.files.push((file, body)),
            }
        }
        Some(code)
    }
}

/// The codes that warnings have; of some, the other half is errors.
pub(crate) fn warning_codes() -> impl Iterator<Item = &'static str> {
    CODES.iter().filter(|code| code.meaning.contains("warning")).map(|code| code.name)
}

/// The code of a warning, which can be allowed.
///
/// # Errors
/// What is wrong with the code, and what to write.
pub fn allowable(code: &str) -> Result<&'static str, (String, String)> {
    if let Some(code) = warning_codes().find(|listed| *listed == code) {
        return Ok(code);
    }
    Err(if Code::find(code).is_some() {
        let message = format!("`{code}` is an error, and only warnings can be allowed");
        (message, format!("`runner explain {code}` shows how to mend it"))
    } else {
        let of_warning = || "a warning has its code in brackets, as in `warning[unused-param]`".to_owned();
        let help = did_you_mean(code, warning_codes()).unwrap_or_else(of_warning);
        (format!("there is no code `{}`", shortened(code)), help)
    })
}
