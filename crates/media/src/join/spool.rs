//! Encoded samples on disk until the index in front of them can be written, so that a long film does not have to fit into memory.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use crate::{Cancellation, MediaError};

/// Samples in a temporary file without a name, in order.
pub(super) struct Spool {
    file: BufWriter<File>,
    cancellation: Cancellation,
}

/// Reads samples back in the order in which they were written.
pub(super) struct SpoolReader {
    file: BufReader<File>,
}

impl Spool {
    /// Every frame that is encoded passes through a spool: `cancellation` ends the encoding at the next one.
    pub(super) fn new(cancellation: &Cancellation) -> Result<Self, MediaError> {
        let file = tempfile::tempfile().map_err(MediaError::io("cannot create a temporary file"))?;
        Ok(Self { file: BufWriter::new(file), cancellation: cancellation.clone() })
    }

    pub(super) fn push(&mut self, sample: &[u8]) -> Result<u32, MediaError> {
        self.cancellation.check()?;
        let size = u32::try_from(sample.len()).map_err(|_| MediaError::TooLarge {
            what: "an encoded frame".to_owned(),
            limit: "4 GiB".to_owned(),
        })?;
        self.file.write_all(sample).map_err(MediaError::io("cannot write a temporary file"))?;
        Ok(size)
    }

    pub(super) fn into_reader(self) -> Result<SpoolReader, MediaError> {
        let failed = MediaError::io("cannot write a temporary file");
        let mut file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(MediaError::io("cannot read a temporary file"))?;
        Ok(SpoolReader { file: BufReader::new(file) })
    }
}

impl SpoolReader {
    /// Appends the next sample, of this size.
    pub(super) fn next(&mut self, size: u32, bytes: &mut Vec<u8>) -> Result<(), MediaError> {
        let begin = bytes.len();
        bytes.resize(begin + size as usize, 0);
        self.file.read_exact(&mut bytes[begin..]).map_err(MediaError::io("cannot read a temporary file"))
    }
}
