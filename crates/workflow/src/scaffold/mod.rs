//! New workflows and the files beside them, as commented text (`runner init`).

mod companions;
mod kinds;
mod picture;
mod text;

pub use self::companions::{IGNORED, gitignore, price_table};
pub use self::kinds::{WorkflowKind, scaffold};
pub(crate) use self::picture::PictureFields;
pub use self::picture::{PictureOptions, ScaffoldError};
pub use self::text::name_for;
pub(crate) use self::text::{field, head, prompt, scalar};
