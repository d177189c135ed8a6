//! The language from outside, in one binary: linking it once is cheaper than a binary for each theme.

mod arbitrary;
mod check;
mod code_examples;
mod docs;
mod every_request;
mod fields;
mod fixture;
mod gate;
mod hostile;
mod misplaced_keys;
mod plan;
mod prices;
mod scaffold;
mod schema;
mod select;
mod selection;
mod suggested_values;
mod suggestions;
