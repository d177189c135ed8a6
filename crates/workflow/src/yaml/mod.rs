//! YAML as a tree in which every key and value has its span. It knows nothing of the keys of a workflow: what is wrong with a text is data.

mod failure;
mod numbers;
mod read;
mod tags;
mod tree;
mod words;
mod write;

pub(crate) use self::failure::{Failure, FailureKind, SyntaxClass};
pub(crate) use self::numbers::{keep_written, keeps_text, number_in};
pub(crate) use self::read::parse;
pub use self::tree::{Key, Yaml, YamlValue};
pub(crate) use self::words::is_block_text;
pub(crate) use self::write::to_yaml;
