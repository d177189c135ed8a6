//! Clips and posters for the tests of the viewer's page, drawn by the embedded service's renderer: a sweep, and the shots of a film.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use renderer::{Animatic, Job, Renderer};

/// Prompts of the shots of the film.
const SHOTS: [(&str, &str); 5] = [
    ("breakwater", "a breakwater below a lighthouse, the storm is far out, gulls, quiet sea"),
    ("sea", "a storm at sea, high waves, rain, dark clouds"),
    ("lamp-1", "the lamp of a lighthouse at night, warm light, rain on the glass"),
    ("lamp-2", "the lamp of a lighthouse at night seen from below, fog"),
    ("sunrise", "sunrise over a calm sea, golden light, clear sky"),
];
/// Axes of the sweep: 4 x 6 cells.
const STYLES: [(&str, &str); 4] = [
    ("noir", "black and white, hard side light, night, rain"),
    ("pastel", "pastel colors, overcast, soft light"),
    ("golden", "dusk, low golden sun, thin fog"),
    ("neon", "night, neon light, wet street"),
];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=6;
/// The longer side of a poster: that of `runner view`.
const MAX_POSTER_SIDE: u32 = 480;
/// Changes with what is drawn, so that older files are drawn again.
const STAMP: &str = "4";

/// Width and height of the clips.
const SIZE: (u32, u32) = (256, 144);

/// One clip to draw.
struct Clip {
    name: String,
    prompt: String,
    seed: u64,
    sound: bool,
}

/// Draws the clips unless they are there; returns their folder.
pub(super) fn prepare(root: &Path) -> Result<PathBuf, String> {
    let folder = root.join("target/web/clips");
    let stamp = folder.join("stamp");
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == STAMP) {
        return Ok(folder);
    }
    fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let shots = SHOTS.map(|(name, prompt)| Clip {
        name: name.to_owned(),
        prompt: prompt.to_owned(),
        seed: 3,
        sound: true,
    });
    let cells = STYLES.into_iter().flat_map(|(style, description)| {
        SEEDS.map(move |seed| Clip {
            name: format!("harbor-{style}-{seed}"),
            prompt: format!("a harbor below a lighthouse, {description}"),
            seed,
            sound: false,
        })
    });
    let clips: Vec<Clip> = shots.into_iter().chain(cells).collect();
    draw_all(&folder, &clips)?;
    let cuts = ["breakwater", "sea", "lamp-1", "sunrise"].map(|name| folder.join(format!("{name}.mp4")));
    media::join(&cuts.map(media::JoinClip::whole), &folder.join("film.mp4"), &media::JoinOptions::default())
        .map_err(|error| error.to_string())?;
    fs_err::write(stamp, STAMP).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// Draws on all cores.
fn draw_all(folder: &Path, clips: &[Clip]) -> Result<(), String> {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        let share = clips.len().div_ceil(threads);
        let work = |clips: &[Clip]| clips.iter().try_for_each(|clip| draw(folder, clip));
        let workers: Vec<_> = clips.chunks(share).map(|clips| scope.spawn(move || work(clips))).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err("drawing a clip panicked".to_owned()))
        })
    })
}

fn draw(folder: &Path, clip: &Clip) -> Result<(), String> {
    let job = Job {
        frame_rate: 24,
        seed: clip.seed,
        generate_audio: clip.sound,
        ..Job::new(&clip.prompt, SIZE, 4.0)
    };
    let rendering =
        Animatic.render(&job, &mut |_| ControlFlow::Continue(())).map_err(|error| error.to_string())?;
    let file = folder.join(format!("{}.mp4", clip.name));
    fs_err::write(&file, &rendering.mp4).map_err(|error| error.to_string())?;
    let poster = media::poster(&file, MAX_POSTER_SIDE, false, &media::Ffmpeg::default())
        .map_err(|error| error.to_string())?;
    fs_err::write(file.with_extension("jpg"), poster).map_err(|error| error.to_string())
}
