//! The work budget of an expansion: a small file may ask for more than a machine can do.

use std::cell::Cell;

use crate::limits;
use crate::media_gate::{InspectionError, MediaGateError, MediaInfo};

/// Counts the steps of an expansion, and the samples of its media. A step is a cell that is made, indexed, compared or matched.
///
/// Invariant: what is charged depends on the file alone, never on time, so that a file is accepted everywhere or nowhere.
#[derive(Debug, Default)]
pub(crate) struct WorkBudget {
    steps: Cell<u64>,
    media: Cell<u64>,
}

impl WorkBudget {
    /// Charges steps; whether the budget still holds.
    pub(crate) fn charge(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps as u64));
        !self.is_exhausted()
    }

    /// Inspects a medium of this many bytes, and charges what was decoded. One that turns out to be damaged may have been decoded nearly to
    /// its end, as slowly as any.
    ///
    /// # Errors
    /// Why it cannot be used, or that the media of the workflow are too large together.
    pub(crate) fn inspect_medium(
        &self,
        bytes: u64,
        inspect: impl FnOnce() -> Result<MediaInfo, InspectionError>,
    ) -> Result<MediaInfo, MediaGateError> {
        if self.media.get() > limits::MAX_MEDIA_SAMPLES {
            return Err(MediaGateError::too_much_media());
        }
        let inspected = inspect();
        let decoded = match &inspected {
            Ok(info) => info.decoded,
            Err(InspectionError { was_decoded: true, .. }) => limits::media_samples_of_damaged(bytes),
            Err(_) => 0,
        };
        self.media.set(self.media.get().saturating_add(bytes).saturating_add(decoded));
        if self.media.get() > limits::MAX_MEDIA_SAMPLES {
            Err(MediaGateError::too_much_media())
        } else {
            inspected.map_err(|refused| refused.error)
        }
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps.get() > limits::MAX_EXPANSION_STEPS
    }
}
