//! `runner export --video`: the finished film in another format.

use std::time::{Duration, Instant};

use engine::film::FilmClip;
use media::{Delivery, DeliveryFormat, Ffmpeg};
use workflow::plan::Film;

use super::FilmProject;
use super::film_to_export::FilmToExport;
use crate::args::ExportArgs;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ffmpeg;
use crate::shutdown::interruptible;

/// The least time between two lines about the progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

pub(super) async fn export(
    args: &ExportArgs,
    format: DeliveryFormat,
    project: &FilmProject<'_>,
    film: &Film,
    film_clips: &[FilmClip],
) -> Result<Exit, CommandError> {
    let finished = FilmToExport::new(args, project, film, film_clips, format.suffix())?;
    if ffmpeg::find().ffmpeg.is_none() {
        return Err(CommandError::unusable("the film cannot be encoded: there is no ffmpeg on PATH").hint(
            "install it: https://ffmpeg.org/download.html, or `apt install ffmpeg`, `brew install ffmpeg`",
        ));
    }
    let encoded = interruptible(move |tools| encode(&finished, format, tools)).await?;
    Ok(encoded.map_or_else(
        || {
            errln!("interrupted: nothing was written");
            Exit::Interrupted
        },
        |()| Exit::Done,
    ))
}

fn encode(finished: &FilmToExport, format: DeliveryFormat, tools: &Ffmpeg) -> Result<(), CommandError> {
    let scratch = finished.scratch()?;
    let new = scratch.path().join("film");
    let delivery = Delivery { film: &finished.path, output: &new, format, scratch: scratch.path() };
    let mut reported = Instant::now();
    let mut progress = |done: u64, all: u64| {
        if reported.elapsed() >= PROGRESS_INTERVAL {
            reported = Instant::now();
            errln!("{done} of {all} frames encoded");
        }
    };
    let encoded = tools.encode_film(delivery, &mut progress);
    encoded.map_err(|error| CommandError::unusable(format!("the film cannot be encoded: {error}")))?;
    finished.publish(&new)
}
