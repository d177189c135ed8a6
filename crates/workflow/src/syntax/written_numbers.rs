//! Numbers that are names, and numbers that would be rounded.

use super::keys::{is_name_or_text, matrix, shot, workflow};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::Source;
use crate::yaml::{Yaml, YamlValue, is_beyond_64_bits, keep_written, read_as_another};

/// What a value stands for, as far as its keys tell.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Anything.
    Value,
    /// A name or a text, or a list of them.
    Name,
    /// A value of an axis, or what has some in it.
    Axis,
    /// What is in `metadata`: sent as it is, under names of the author's.
    Metadata,
    /// A parameter: rendered as it is, so that one with the name of a text is one.
    Param,
}

impl Role {
    /// The role of the value of a key.
    fn for_member(self, key: &str, value: &Yaml) -> Self {
        if self == Self::Metadata {
            return if key == SEED { Self::Value } else { self };
        }
        let is_bounded = match self {
            Self::Param => key == SEED,
            _ => matrix::RANGE.has(key) || key == shot::PICK_TAKE_MEMBER.name,
        };
        if is_bounded {
            return Self::Value;
        }
        let is_picked_instance = || key == shot::PICK.name && matches!(value.value, YamlValue::Map(_));
        if self == Self::Axis || key == shot::MATRIX.name || is_picked_instance() {
            Self::Axis
        } else if key == METADATA {
            Self::Metadata
        } else if is_name_or_text(key) {
            Self::Name
        } else if key == workflow::PARAMS.name || self == Self::Param {
            Self::Param
        } else {
            Self::Value
        }
    }
}

/// The field of a request that bounds are checked of wherever it is.
const SEED: &str = "seed";
/// The field of a request whose members are sent as they are.
const METADATA: &str = "metadata";

/// Keeps numbers as they are written where the number would be another text: in names and values of axes (`1_1`, `0x10`, `1.10`).
pub(crate) fn keep_written_names(tree: &mut Yaml, source: &Source, problems: &mut Problems) {
    restore_in(tree, Role::Value, source, problems);
}

fn restore_in(tree: &mut Yaml, role: Role, source: &Source, problems: &mut Problems) {
    match &mut tree.value {
        YamlValue::Number(number) => {
            let number = number.clone();
            if matches!(role, Role::Name | Role::Axis) {
                keep_written(tree, source);
            } else if let Some(read) = read_as_another(&number, source.slice(tree.span)) {
                let message =
                    format!("this number would be read as {read}, because it has a `.` or an `e` in it");
                let diagnostic = Diagnostic::error("yaml-syntax", tree.span, message);
                problems.push(diagnostic.help("write a whole number above 2^53 with all its digits"));
            } else if matches!(role, Role::Metadata | Role::Param)
                && is_beyond_64_bits(&number, source.slice(tree.span))
            {
                let message = "this whole number needs more than 64 bits, and would be rounded";
                let diagnostic = Diagnostic::error("yaml-syntax", tree.span, message);
                problems
                    .push(diagnostic.help("put an id in quotes: then it is a text, and is sent as it is"));
            }
        }
        YamlValue::List(items) => {
            for item in items {
                restore_in(item, role, source, problems);
            }
        }
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                let role = role.for_member(&key.value, value);
                restore_in(value, role, source, problems);
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Text(_) => {}
    }
}
