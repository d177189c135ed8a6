//! The language from outside, in one binary: linking it once is cheaper than a binary for each theme.

mod arbitrary;
mod check;
mod code_examples;
mod common_mistakes;
mod docs;
mod every_request;
mod fields;
mod fixture;
mod gate;
mod hostile;
mod impact;
mod plan;
mod prices;
mod scaffold;
mod schema;
mod select;
mod selection;
mod services;
