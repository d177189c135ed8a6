//! What a workflow is expanded with.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::Contract;

use crate::files::Files;
use crate::media_gate::{InspectionError, MediaGateError, MediaInfo};
use crate::options::Options;
use crate::plan::{Location, Node};
use crate::source::{Source, Span};
use crate::template::Templates;
use crate::work::WorkBudget;

/// The context of expansion, for the shots of one service.
#[derive(Clone, Copy)]
pub(crate) struct ExpandCx<'w> {
    shared: &'w SharedCx<'w>,
    /// What the service is like; of shots that name none where it is about no shot.
    pub(crate) contract: &'w Contract,
}

/// What is the same for all services.
pub(crate) struct SharedCx<'w> {
    pub(crate) source: &'w Source,
    pub(crate) files: &'w dyn Files,
    pub(crate) options: &'w Options,
    pub(crate) templates: Templates<'w>,
    /// The source's name, shared by all locations.
    pub(crate) file: Arc<str>,
    pub(crate) work: WorkBudget,
    /// The local files that are sent inside requests, as far as they were inspected.
    pub(crate) inspected: RefCell<BTreeMap<PathBuf, MediaInfo>>,
    /// The services that the file names.
    pub(crate) named: Vec<&'w Contract>,
    /// For how many names of missing files others were looked for.
    pub(crate) file_lookups: Cell<usize>,
}

impl<'w> ExpandCx<'w> {
    pub(crate) fn new(shared: &'w SharedCx<'w>, contract: &'w Contract) -> Self {
        Self { shared, contract }
    }

    /// The context of shots of a service: the one of this name, or that of shots that name none. `None` if there is no such service.
    pub(super) fn of_service(&self, name: Option<&str>) -> Option<Self> {
        let Some(name) = name else { return Some(*self) };
        let service = self.shared.options.services.get(name)?;
        Some(Self { contract: &service.contract, ..*self })
    }

    /// The context of a node's service.
    pub(super) fn of_node(&self, node: &Node) -> Self {
        self.of_service(node.service.as_deref()).unwrap_or(*self)
    }

    /// The descriptions of the services that shots may name, as far as they are known before templates are rendered.
    pub(super) fn contracts(&self) -> impl Iterator<Item = &'w Contract> + use<'w> {
        let configured = self.shared.options.services.configured().map(|(_, service)| &*service.contract);
        std::iter::once(self.contract).chain(configured).chain(self.shared.named.iter().copied())
    }
}

impl<'w> Deref for ExpandCx<'w> {
    type Target = SharedCx<'w>;

    fn deref(&self) -> &SharedCx<'w> {
        self.shared
    }
}

impl SharedCx<'_> {
    /// Inspects a local file that is sent inside requests, or of which a frame is.
    pub(super) fn inspect_file(
        &self,
        path: &Path,
        bytes: &[u8],
        inspect: impl FnOnce(&[u8]) -> Result<MediaInfo, InspectionError>,
    ) -> Result<MediaInfo, MediaGateError> {
        let info = self.work.inspect_medium(bytes.len() as u64, || inspect(bytes))?;
        self.inspected.borrow_mut().insert(path.to_owned(), info.clone());
        Ok(info)
    }

    pub(super) fn location(&self, span: Span) -> Location {
        let position = self.source.position(span.start());
        let name = self.source.name_at(span.start());
        let file = if *name == *self.file { Arc::clone(&self.file) } else { name.into() };
        Location { file, line: position.line, column: position.column }
    }
}
