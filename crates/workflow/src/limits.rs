//! The limits of the compiler: the size of its inputs and of what they expand to. Each is far above what people write and far
//! below what exhausts a machine.

use crate::units::Money;

/// A workflow file, in bytes.
pub const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
pub(crate) const MAX_INCLUDES: usize = 64;
/// Nesting depth of included files.
pub(crate) const MAX_INCLUDE_DEPTH: usize = 8;
/// A workflow and all its included files together, in bytes.
pub(crate) const MAX_INCLUDED_BYTES: usize = 8 * 1024 * 1024;
/// Nesting depth of YAML lists and mappings.
pub(crate) const MAX_YAML_DEPTH: usize = 32;
/// YAML values in a file; aliases count where they are used.
pub(crate) const MAX_YAML_NODES: usize = 100_000;
/// Aliases (`*name`) in a file.
pub(crate) const MAX_YAML_ALIASES: usize = 2_000;
/// Instances (cells and takes of all shots) in a plan.
pub(crate) const MAX_INSTANCES: usize = 100_000;
/// Axes of a matrix, and keys of an entry of `include` or `exclude`.
pub(crate) const MAX_AXES: usize = 200;
/// Values of all cells of all shots.
pub(crate) const MAX_CELL_VALUES: usize = 1_000_000;
/// A value of an axis with all that is in it, in bytes.
pub(crate) const MAX_AXIS_VALUE_BYTES: usize = 32 * 1024;
/// Steps of an expansion: cells that are made, indexed, compared or matched.
pub(crate) const MAX_EXPANSION_STEPS: u64 = 40_000_000;
/// Pixels, audio samples and bytes of the media that a workflow names: a small image may have many pixels, and each is decoded. They count more in
/// formats that take longer ([`crate::MediaInfo::decoded`]).
pub(crate) const MAX_MEDIA_SAMPLES: u64 = 5_000_000_000;
/// What a medium of this many bytes counts that is damaged: the largest image in the slowest format.
pub(crate) const fn media_samples_of_damaged(bytes: u64) -> u64 {
    bytes.saturating_mul(48).saturating_add(320_000_000)
}
/// Pairs of instances of which one waits for the other because of `needs`.
pub(crate) const MAX_ORDER_EDGES: usize = 2_000_000;
/// Frames and references of an instance.
pub(crate) const MAX_MEDIA: usize = 100;
/// Frames and references of all instances.
pub(crate) const MAX_TOTAL_MEDIA: usize = 500_000;
/// The longest side of a film's frame in pixels.
pub(crate) const MAX_FILM_SIDE: u32 = 4096;
/// Seconds for which a clip of a film can be shown: a day.
pub(crate) const MAX_CLIP_SECONDS: u64 = 86_400;
/// Clips in a film; a shot may appear more than once.
pub(crate) const MAX_CLIPS: usize = 50_000;
/// Characters of a title in a film: more than fills a frame.
pub(crate) const MAX_TITLE_CHARS: usize = 500;
/// Entries of an `include` or `exclude`.
pub(crate) const MAX_MATRIX_RULES: usize = 1_000;
/// Steps of a repeated shot.
pub(crate) const MAX_STEPS: u64 = 100;
/// Shots of a file with the steps of the repeated ones.
pub(crate) const MAX_REPEATED_SHOTS: usize = 20_000;
/// The values of repeated shots, each as often as it is repeated, in bytes.
pub(crate) const MAX_REPEATED_BYTES: usize = 64 << 20;
/// Takes of a shot.
pub(crate) const MAX_TAKES: u64 = 100;
/// Characters of a file's cast.
pub(crate) const MAX_CHARACTERS: usize = 200;
/// Groups of shots in a file.
pub(crate) const MAX_GROUPS: usize = 200;
/// Lines of dialogue in a shot, and characters of one.
pub(crate) const MAX_DIALOGUE_LINES: usize = 100;
pub(crate) const MAX_DIALOGUE_CHARS: usize = 2_000;
/// Voices of a film.
pub(crate) const MAX_VOICES: usize = 500;
/// Attempts of a shot.
pub const MAX_ATTEMPTS: u64 = 10;
/// `timeout`, in seconds: a week.
pub(crate) const MAX_TIMEOUT_SECONDS: u64 = 7 * 24 * 60 * 60;
/// A shot id, an axis value in a name, or a workflow name, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 64;
/// The same in bytes of UTF-8: names are parts of file names, of which file systems take 255 bytes.
pub(crate) const MAX_NAME_BYTES: usize = 128;
pub(crate) const MAX_TEMPLATE_BYTES: usize = 32 * 1024;
/// Operators, attributes, filters and brackets of one expression in a template. The parser of templates is recursive.
pub(crate) const MAX_EXPRESSION_OPERATORS: usize = 250;
/// Output of a template, in bytes.
pub(crate) const MAX_RENDERED_BYTES: usize = 64 * 1024;
/// Output of all templates of a plan together, in bytes.
pub(crate) const MAX_TOTAL_RENDERED_BYTES: usize = 160 * 1024 * 1024;
/// Compiled templates that are in memory at a time.
pub(crate) const MAX_COMPILED_TEMPLATES: usize = 4_096;
/// The values of all requests of a plan, each shared one once, in bytes.
pub(crate) const MAX_REQUEST_BYTES: usize = 160 * 1024 * 1024;
/// Steps of a template.
pub(crate) const MAX_TEMPLATE_FUEL: u64 = 20_000;
/// Steps of all templates of a file together, with what filters and operators read.
pub(crate) const MAX_TOTAL_FUEL: u64 = 200_000_000;
/// Rows of a table: of an axis, and of the filter `csv`.
pub(crate) const MAX_CSV_ROWS: usize = 10_000;
/// Shots of a scaffolded workflow.
pub(crate) const MAX_SCAFFOLD_SHOTS: usize = 100;
/// Cells of all tables of a file.
pub(crate) const MAX_CSV_CELLS: usize = 1_000_000;
/// Columns of a table or shot list.
pub(crate) const MAX_CSV_COLUMNS: usize = 200;
/// Prices in a price table.
pub(crate) const MAX_PRICES: usize = 1_000;
/// An amount in a price table: a million.
pub(crate) const MAX_PRICE: Money = Money::from_micros(1_000_000_000_000);
/// The table of an axis, in bytes.
pub(crate) const MAX_CSV_BYTES: u64 = 4 * 1024 * 1024;
/// Directory entries that are read for an axis of files.
pub(crate) const MAX_DIR_ENTRIES: usize = 100_000;
/// Directory levels that `**` descends.
pub(crate) const MAX_GLOB_DEPTH: usize = 16;
/// Instances with problems that are reported on.
pub(crate) const MAX_FAILING_INSTANCES: usize = 2_000;
/// Diagnostics of instances that are counted, those of equal causes included.
pub(crate) const MAX_INSTANCE_DIAGNOSTICS: usize = 100_000;
/// Diagnostics that are listed; further ones are counted.
pub(crate) const MAX_DIAGNOSTICS: usize = 200;
