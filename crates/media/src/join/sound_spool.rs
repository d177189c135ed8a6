//! Decoded sound on disk, for work that needs it more than once.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use super::mastering::TakeSound;
use crate::MediaError;

/// Samples that are passed on at once.
const CHUNK: usize = 1 << 16;

/// Samples in a temporary file without a name.
pub(super) struct SoundSpool {
    file: BufWriter<File>,
    samples: usize,
}

pub(super) struct SoundReader {
    file: BufReader<File>,
    samples: usize,
}

impl SoundSpool {
    pub(super) fn new() -> Result<Self, MediaError> {
        let file = tempfile::tempfile().map_err(MediaError::io("cannot create a temporary file"))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 16, file), samples: 0 })
    }

    pub(super) fn push(&mut self, samples: &[f32]) -> Result<(), MediaError> {
        self.samples += samples.len();
        for sample in samples {
            let written = self.file.write_all(&sample.to_le_bytes());
            written.map_err(MediaError::io("cannot write a temporary file"))?;
        }
        Ok(())
    }

    pub(super) fn into_reader(self) -> Result<SoundReader, MediaError> {
        let failed = MediaError::io("cannot write a temporary file");
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(SoundReader { file: BufReader::with_capacity(1 << 16, file), samples: self.samples })
    }
}

impl SoundReader {
    /// All of it, from its beginning.
    pub(super) fn pass_on(&mut self, take: TakeSound<'_>) -> Result<(), MediaError> {
        let failed = || MediaError::io("cannot read a temporary file");
        self.file.seek(SeekFrom::Start(0)).map_err(failed())?;
        let mut left = self.samples;
        let mut samples = Vec::with_capacity(CHUNK);
        while left > 0 {
            samples.clear();
            for _ in 0..left.min(CHUNK) {
                let mut bytes = [0; 4];
                self.file.read_exact(&mut bytes).map_err(failed())?;
                samples.push(f32::from_le_bytes(bytes));
            }
            left -= samples.len();
            take(&samples)?;
        }
        Ok(())
    }
}
