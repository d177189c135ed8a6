//! Advice on mistakes: what is wrong with a file, with what was probably meant. Above `yaml`, which has failures as data, and `syntax`,
//! which knows the keys; `load`, `check` and the passes over a workflow call it.
//!
//! It knows the first mistakes that people make. What is wrong otherwise is reported in the words of the parser.

mod brackets;
mod comments;
mod dollars;
mod fields;
mod frame_shapes;
mod indentation;
mod lines;
mod quotes;
mod read;
mod syntax_failure;
mod tabs;
mod text_warnings;

pub(crate) use self::fields::field_message;
pub(crate) use self::read::read;
pub(crate) use self::text_warnings::text_warnings;
