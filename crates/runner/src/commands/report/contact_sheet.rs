//! The contact sheet: a frame of each clip, labelled.

use std::path::Path;

use media::{Mosaic, SheetTile};
use viewer::{Clip, Manifest};

use super::labels::labels;
use crate::commands::atomic_write::atomic_write;
use crate::error::CommandError;

/// The most clips of a contact sheet; beyond that nothing can be recognized.
const MAX_SHEET_CLIPS: usize = 2_000;
/// The shape of clips of unknown size.
const DEFAULT_SIZE: (u32, u32) = (854, 480);

/// Writes a PNG with a frame of each clip.
pub(super) fn write(
    manifest: &Manifest,
    folder: &Path,
    columns: Option<u32>,
    output: &Path,
) -> Result<(), CommandError> {
    let count = manifest.clips.len();
    if count > MAX_SHEET_CLIPS {
        return Err(CommandError::invalid(format!(
            "a contact sheet shows at most {MAX_SHEET_CLIPS} clips, and there are {count}"
        ))
        .hint("name a shot: --shot SHOT"));
    }
    let columns = columns.map_or_else(|| usual_columns(manifest), |columns| columns as usize);
    let width = match count {
        0..=16 => 480,
        17..=120 => 320,
        _ => 160,
    };
    let tile = scaled(manifest, width);
    let labels = labels(manifest, Mosaic::new(count, columns, tile, 0).tile().0);
    let mosaic = Mosaic::new(count, columns, tile, labels.first().map_or(0, media::RgbImage::height));
    let tiles: Vec<SheetTile> = manifest
        .clips
        .iter()
        .zip(labels)
        .map(|(clip, label)| SheetTile { image: poster(clip, folder), label })
        .collect();
    let sheet = media::contact_sheet(&mosaic, &tiles).map_err(CommandError::invalid)?;
    atomic_write(output, media::encode_png(&sheet), true)
}

/// A clip's poster, if it has a readable one.
fn poster(clip: &Clip, folder: &Path) -> Option<media::RgbImage> {
    let bytes = fs_err::read(folder.join(clip.poster.as_ref()?)).ok()?;
    media::decode_image(&bytes).ok()
}

/// The size of the first clip that has one.
fn clip_size(manifest: &Manifest) -> (u32, u32) {
    let mut sizes = manifest.clips.iter().filter_map(|clip| clip.width.zip(clip.height));
    sizes.find(|(width, height)| *width > 0 && *height > 0).unwrap_or(DEFAULT_SIZE)
}

/// A tile of this width in the shape of the clips.
fn scaled(manifest: &Manifest, tile: u32) -> (u32, u32) {
    let (width, height) = clip_size(manifest);
    let scaled = u64::from(tile) * u64::from(height) / u64::from(width);
    // A very tall clip gets bars at its sides instead of a tile without an end.
    (tile, u32::try_from(scaled).unwrap_or(u32::MAX).clamp(2, tile.saturating_mul(3)))
}

/// How many clips are in a row: one row per value of the first axis of a shot with several axes or takes, otherwise about as many rows as columns.
fn usual_columns(manifest: &Manifest) -> usize {
    let count = manifest.clips.len().max(1);
    let first = manifest.clips.first();
    let shot = first.and_then(|clip| manifest.shots.iter().find(|shot| shot.id == clip.shot));
    if let Some(shot) = shot.filter(|shot| manifest.clips.iter().all(|clip| clip.shot == shot.id)) {
        let mut sizes: Vec<usize> = shot.axes.iter().map(|axis| axis.values.len()).collect();
        sizes.extend((shot.takes > 1).then_some(shot.takes as usize));
        // Only if the grid is complete: `include` and `exclude` leave holes.
        if let [rows, rest @ ..] = sizes.as_slice()
            && !rest.is_empty()
            && rows * rest.iter().product::<usize>() == count
        {
            let columns = count / rows;
            // A strip would be hard to see.
            if columns <= rows * 4 && *rows <= columns * 4 {
                return columns;
            }
        }
    }
    (count as f64).sqrt().ceil() as usize
}
