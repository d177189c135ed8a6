//! A contact sheet of what the embedded renderer makes of published prompts, to be looked at.

use std::path::{Path, PathBuf};

use media::{Mosaic, RgbImage, SheetTile, contact_sheet, encode_png};
use renderer::{Animatic, Job};
use serde::Deserialize;
use text::{Align, Fonts, Style};

const PROMPTS: &str = "crates/renderer/tests/prompts.yaml";
const TILE: (u32, u32) = (240, 136);
/// Drawn larger than shown, so that edges are smooth.
const DRAWN: (u32, u32) = (640, 360);
const COLUMNS: usize = 6;
const CAPTION_HEIGHT: u32 = 44;
/// The moment that is shown, in seconds: under way, and before the end.
const MOMENT: f64 = 2.0;
const SECONDS: f64 = 5.0;
const FRAME_RATE: u32 = 24;

/// Renders a frame for each prompt of crates/renderer/tests/prompts.yaml into one image.
#[derive(Debug, clap::Args)]
pub(crate) struct Sheet {
    /// The PNG file.
    #[arg(long, default_value = "docs/images/rehearsals.png")]
    output: PathBuf,
    /// Leave the prompts out, to see whether the images can be matched with them.
    #[arg(long)]
    no_captions: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    language: String,
    #[expect(dead_code, reason = "says where the prompt was published")]
    source: String,
    prompt: String,
}

pub(crate) fn run(root: &Path, args: &Sheet) -> Result<String, String> {
    let text = fs_err::read_to_string(root.join(PROMPTS)).map_err(|error| error.to_string())?;
    let entries: Vec<Entry> = serde_yaml::from_str(&text).map_err(|error| format!("{PROMPTS}: {error}"))?;
    let height = if args.no_captions { 0 } else { CAPTION_HEIGHT };
    let mosaic = Mosaic::new(entries.len(), COLUMNS, TILE, height);
    let mut fonts = Fonts::embedded();
    let tiles: Vec<SheetTile> = entries
        .iter()
        .map(|entry| {
            let label = caption(&mut fonts, entry, mosaic.label());
            Ok(SheetTile { image: Some(image(entry)?), label })
        })
        .collect::<Result<_, String>>()?;
    let sheet = contact_sheet(&mosaic, &tiles).map_err(|error| error.to_string())?;
    let output = root.join(&args.output);
    fs_err::write(&output, encode_png(&sheet)).map_err(|error| error.to_string())?;
    Ok(output.display().to_string())
}

fn image(entry: &Entry) -> Result<RgbImage, String> {
    let job = Job { frame_rate: FRAME_RATE, ..Job::new(&entry.prompt, (DRAWN.0, DRAWN.1), SECONDS) };
    let frame = (MOMENT * f64::from(FRAME_RATE)) as u32;
    Animatic.draw_frame(&job, frame).map_err(|error| format!("{}: {error}", entry.id))
}

/// The prompt in small letters on the sheet's dark ground.
fn caption(fonts: &mut Fonts, entry: &Entry, (width, height): (u32, u32)) -> RgbImage {
    let mut label = RgbImage::new(width, height.max(1));
    label.pixels_mut().chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&[16, 18, 22]));
    let style = Style { size: 9.5, is_bold: false, align: Align::Start, width, lines: 3 };
    let drawn_text = fonts.draw(&format!("{}  {}", entry.language, entry.prompt), &style);
    for y in 0..drawn_text.mask.height().min(height) {
        for (x, covered) in drawn_text.mask.row(y).iter().enumerate() {
            let offset = (y as usize * width as usize + x) * 3;
            let value = (u32::from(*covered) * 200 / 255) as u8;
            for channel in &mut label.pixels_mut()[offset..offset + 3] {
                *channel = (*channel).max(value);
            }
        }
    }
    label
}
