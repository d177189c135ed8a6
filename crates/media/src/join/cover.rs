//! The poster of a film: one of its frames, as it is shown.

use super::render::Renderer;
use crate::color::i420_to_rgb;
use crate::overlay::OverlayPainter;
use crate::poster::jpeg;
use crate::{MediaError, Overlays};

/// A frame of the film as JPEG, with what lies over it.
pub(super) fn cover(
    renderer: &Renderer<'_>,
    overlays: Option<&Overlays>,
    frame: u64,
) -> Result<Vec<u8>, MediaError> {
    let frame = frame.min(renderer.layout.frames().saturating_sub(1));
    let color = renderer.form.color;
    let mut painter = overlays.map(|overlays| OverlayPainter::new(overlays, renderer.form.size, color));
    let mut encoded = Vec::new();
    renderer.render(frame..frame + 1, &mut |image| {
        let painted = painter.as_mut().and_then(|painter| painter.paint(frame, image));
        encoded = jpeg(&i420_to_rgb(painted.as_ref().unwrap_or(image), color))?;
        Ok(())
    })?;
    Ok(encoded)
}
