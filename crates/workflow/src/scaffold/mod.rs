//! New workflows and the files beside them, as commented text (`runner init`); new descriptions of services (`runner services new`).

mod companions;
mod description;
mod kinds;
mod text;
mod video_options;

pub use self::companions::{IGNORED, gitignore, price_table};
pub use self::description::{DESCRIPTION, describe};
pub use self::kinds::{WorkflowKind, scaffold};
pub use self::text::name_for;
pub(crate) use self::text::{field, head, prompt, scalar};
pub(crate) use self::video_options::VideoFields;
pub use self::video_options::{ScaffoldError, VideoOptions};
