//! How the embedded service presents a shot, from the environment.

use std::sync::Arc;

use renderer::{Look, Renderer};

use crate::error::CommandError;

/// `animatic`, the default, or `scene`.
const LOOK: &str = "RUNNER_LOOK";

/// The renderer of the embedded service.
pub(crate) fn renderer_from_environment() -> Result<Arc<dyn Renderer>, CommandError> {
    let variable = std::env::var(LOOK).ok().filter(|value| !value.trim().is_empty());
    let Some(name) = variable else { return Ok(Look::default().renderer()) };
    let look = Look::named(name.trim()).ok_or_else(|| {
        CommandError::invalid(format!("{LOOK} is `{name}`; it must be `animatic` or `scene`"))
    })?;
    Ok(look.renderer())
}
