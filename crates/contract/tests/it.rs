//! The contract from outside, in one binary.

mod answers;
mod described_words;
mod diff;
mod edits;
mod hostile;
mod incremental_validator;
mod shipped;
mod views;
mod walk;
