//! What a workflow is expanded with.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::Contract;

use crate::files::Files;
use crate::media_gate::{InspectionError, MediaGateError, MediaInfo};
use crate::options::Options;
use crate::plan::Location;
use crate::source::{Source, Span};
use crate::template::Templates;
use crate::work::WorkBudget;

/// The context of expansion.
pub(crate) struct ExpandCx<'w> {
    pub(crate) source: &'w Source,
    pub(crate) contract: &'w Contract,
    pub(crate) files: &'w dyn Files,
    pub(crate) options: &'w Options,
    pub(crate) templates: Templates<'w>,
    /// The source's name, shared by all locations.
    pub(crate) file: Arc<str>,
    pub(crate) work: WorkBudget,
    /// The local files that are sent inside requests, as far as they were inspected.
    pub(crate) inspected: RefCell<BTreeMap<PathBuf, MediaInfo>>,
    /// For how many names of missing files others were looked for.
    pub(crate) file_lookups: Cell<usize>,
}

impl ExpandCx<'_> {
    /// Inspects a local file that is sent inside requests, or of which a frame is.
    pub(super) fn inspect_file(
        &self,
        path: &Path,
        bytes: &[u8],
        inspect: impl FnOnce(&[u8]) -> Result<MediaInfo, InspectionError>,
    ) -> Result<MediaInfo, MediaGateError> {
        let info = self.work.inspect_medium(bytes.len() as u64, || inspect(bytes))?;
        self.inspected.borrow_mut().insert(path.to_owned(), info);
        Ok(info)
    }

    pub(super) fn location(&self, span: Span) -> Location {
        let position = self.source.position(span.start());
        Location { file: Arc::clone(&self.file), line: position.line, column: position.column }
    }
}
