//! Which file a name stands for: names are given to other files, and locks are on files.

use std::fs::Metadata;

/// The identity of a file. On systems without inodes all files have the same one: there, only whether a name exists tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId(Option<(u64, u64)>);

impl FileId {
    /// Device and inode.
    #[cfg(unix)]
    pub(crate) fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(Some((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    pub(crate) fn new(_metadata: &Metadata) -> Self {
        Self(None)
    }
}
