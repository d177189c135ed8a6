//! The texts and changes of `status`.
