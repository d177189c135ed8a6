//! New workflows as text, for people to go on with: commented, checked, and ready to run.

mod kinds;
mod look;
mod text;

pub use self::kinds::{Kind, draft};
pub(crate) use self::look::Shape;
pub use self::look::{Look, WrongDraft};
pub use self::text::name_for;
pub(crate) use self::text::{field, head, prompt, scalar};
