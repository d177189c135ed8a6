//! Every bound on what a workflow file may ask for, in one place. Each is far beyond what people write and
//! far below what hurts a machine.

use crate::prices::Money;

/// The largest workflow file, in bytes.
pub const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
/// The most files that a workflow includes.
pub const MAX_INCLUDES: usize = 64;
/// How deep files include each other.
pub const MAX_INCLUDE_DEPTH: usize = 8;
/// The largest a workflow and all that it includes may be together, in bytes.
pub const MAX_INCLUDED_BYTES: usize = 8 * 1024 * 1024;
/// The deepest nesting of YAML lists and maps.
pub const MAX_YAML_DEPTH: usize = 32;
/// The most YAML values in a file, with aliases counted where they are used.
pub const MAX_YAML_NODES: usize = 100_000;
/// The most aliases (`*name`) in a file.
pub const MAX_YAML_ALIASES: usize = 2_000;
/// The most instances (cells and takes of all shots) in a plan.
pub const MAX_INSTANCES: usize = 100_000;
/// The most pairs of cells that are looked at to give a shot the axes of another, or of the workflow.
pub const MAX_JOIN_PAIRS: u128 = 10_000_000;
/// The most pairs of cells that are compared to find out who uses whom.
pub const MAX_CELL_COMPARISONS: usize = 100_000_000;
/// The most clips in a film; a shot may be shown more than once.
pub const MAX_CLIPS: usize = 50_000;
/// The most entries in one `include` or `exclude`.
pub const MAX_MATRIX_RULES: usize = 1_000;
/// The most takes of one shot.
pub const MAX_TAKES: u64 = 100;
/// The most attempts of one shot.
pub const MAX_ATTEMPTS: u64 = 10;
/// The longest `timeout`, in seconds: a week.
pub const MAX_TIMEOUT_SECONDS: u64 = 7 * 24 * 60 * 60;
/// The longest shot id, axis value in a name, or workflow name, in characters.
pub const MAX_NAME_CHARS: usize = 64;
/// The largest template, in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 32 * 1024;
/// The largest text that a template may make, in bytes.
pub const MAX_RENDERED_BYTES: usize = 64 * 1024;
/// The most text that all templates of a plan together may make, in bytes.
pub const MAX_TOTAL_RENDERED_BYTES: usize = 256 * 1024 * 1024;
/// The most steps that one template may take.
pub const MAX_TEMPLATE_FUEL: u64 = 20_000;
/// The most `~` and `+` in one template.
pub const MAX_TEMPLATE_CONCATS: usize = 64;
/// The most rows that the `csv` filter reads.
pub const MAX_CSV_ROWS: usize = 10_000;
/// The most shots of a workflow to begin with.
pub const MAX_SCAFFOLD_SHOTS: usize = 100;
/// The most columns of a shot list.
pub const MAX_CSV_COLUMNS: usize = 200;
/// The most prices in a table of prices.
pub const MAX_PRICES: usize = 1_000;
/// The greatest amount in a table of prices: a million.
pub const MAX_PRICE: Money = Money::from_micros(1_000_000_000_000);
/// The largest table of an axis, in bytes.
pub const MAX_CSV_BYTES: u64 = 4 * 1024 * 1024;
/// The most entries of folders that are looked at for the files of an axis.
pub const MAX_DIR_ENTRIES: usize = 100_000;
/// The deepest folder that `**` reaches, from where it begins.
pub const MAX_GLOB_DEPTH: usize = 16;
/// The most instances with a problem that are looked at: what is wrong with so many is known.
pub const MAX_FAILING_INSTANCES: usize = 2_000;
/// The most diagnostics that are kept; what follows is only counted.
pub const MAX_DIAGNOSTICS: usize = 200;
