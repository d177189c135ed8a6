//! Tests of the sound of scenes.

use super::*;
use crate::procedural::prompt::SceneBrief;

/// What is heard for a prompt.
fn sounds_for(prompt: &str) -> String {
    let spec = SceneSpec::resolve(&SceneBrief::read(prompt), false, 4.0, 1);
    let walker = None;
    let scape = Soundscape::new(&spec, walker, false, 1);
    let levels = [
        ("surf", scape.surf),
        ("wind", (scape.wind - 0.3).max(0.0)),
        ("rain", scape.rain),
        ("traffic", scape.traffic),
        ("fire", scape.fire),
        ("engine", scape.engine),
        ("rails", scape.rails),
        ("voices", scape.voices as f32),
        ("steps", scape.steps.map_or(0.0, |(cadence, _)| cadence)),
        ("music", if scape.has_music { 1.0 } else { 0.0 }),
        ("birds", scape.songbirds),
    ];
    let names = levels.into_iter().filter(|(_, level)| *level > 0.0).map(|(name, _)| name);
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn sounds_fit_the_words() {
    for (prompt, expected) in [
        ("a calm sea at night", "surf"),
        ("rain in the city", "rain traffic"),
        ("a forest at noon", "birds"),
        ("a room at night", ""),
        ("a room at night, soft piano music", "music"),
        ("a room, no music", ""),
        ("雨夜的街道，无配乐", "rain traffic"),
        ("a strong wind over the desert", "wind"),
        ("a red car in the desert at noon", "wind engine"),
        ("a train in a forest at noon", "rails birds"),
        ("close-up of a woman who speaks", "voices"),
        ("a man walks in the city", "traffic steps"),
        ("a crowd in the street", "traffic voices"),
        ("a campfire at night in the snow", "fire"),
    ] {
        let sounds = sounds_for(prompt);
        let all =
            expected.split(' ').all(|sound| sounds.split(' ').any(|it| it == sound) || sound.is_empty());
        let has_music = sounds.contains("music");
        assert!(all && has_music == expected.contains("music"), "{prompt}: {sounds} for {expected}");
    }
}

fn busy() -> Soundscape {
    Soundscape {
        surf: 1.0,
        lapping: 0.5,
        wind: 1.0,
        rain: 1.0,
        thunder: vec![0.2],
        traffic: 0.5,
        crickets: 0.5,
        songbirds: 1.0,
        gulls: 1.0,
        fire: 1.0,
        horn: vec![0.1],
        steps: Some((1.9, 1.0)),
        engine: 0.5,
        rails: 0.5,
        voices: 3,
        has_music: true,
        mood: Mood::Tense,
    }
}

#[test]
fn all_sources_together_neither_clip_nor_click() {
    let samples = busy().render(RATE as usize * 2, 5);
    let peak = samples.iter().fold(0.0_f32, |peak, s| peak.max(s.abs()));
    assert!(peak < 0.97, "peak {peak}");
    assert!(samples.iter().all(|s| s.is_finite()));
    for end in [&samples[..8], &samples[samples.len() - 8..]] {
        assert!(end.iter().all(|s| s.abs() < 0.01), "{end:?}");
    }
}

#[test]
fn loudness_is_similar_for_quiet_and_busy_scenes() {
    let level = |scape: &Soundscape| {
        let samples = scape.render(RATE as usize * 3, 5);
        (samples.iter().map(|s| s * s).sum::<f32>() / samples.len() as f32).sqrt()
    };
    let (quiet, loud) = (level(&Soundscape::default()), level(&busy()));
    assert!(quiet > 0.03 && loud > 0.03 && quiet / loud < 4.0 && loud / quiet < 4.0, "{quiet} {loud}");
}

#[test]
fn sound_is_deterministic_per_seed() {
    let render = |seed| busy().render(4_800, seed);
    assert_eq!(render(1), render(1));
    assert_ne!(render(1), render(2));
}

#[test]
fn sound_goes_on_across_a_join() {
    let prompts = [
        "waves on a rocky coast",
        "rain in the city at night",
        "a forest at noon",
        "a storm on the sea",
        "a campfire in the snow, a crowd, music",
    ];
    for prompt in prompts {
        let spec = SceneSpec::resolve(&SceneBrief::read(prompt), false, 3.0, 1);
        let scape = Soundscape::new(&spec, None, false, 1);
        let samples = RATE as usize * 3;
        let first_half = scape.render(samples, 1);
        let second_half = scape.render_from(3.0, 3.0, samples, 1);
        let level = |part: &[f32]| {
            let power = part.iter().map(|s| f64::from(s * s)).sum::<f64>() / part.len() as f64;
            10.0 * power.max(1e-9).log10()
        };
        // As one sound of the double length: no other level, and nothing begins again.
        let continuous = scape.render_from(0.0, 3.0, samples * 2, 1);
        let edge = RATE as usize / 50;
        let differs = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(
            differs(&first_half[edge..first_half.len() - edge], &continuous[edge..first_half.len() - edge]),
            "{prompt}: before"
        );
        assert!(
            differs(
                &second_half[edge..second_half.len() - edge],
                &continuous[first_half.len() + edge..continuous.len() - edge]
            ),
            "{prompt}: after"
        );
        let half = RATE as usize;
        let (before, after) = (level(&first_half[first_half.len() - half..]), level(&second_half[..half]));
        assert!((before - after).abs() < 3.0, "{prompt}: {before:.1} dB, then {after:.1} dB");
    }
}

#[test]
fn short_sounds_render() {
    for frames in [0, 1, 2, 100] {
        assert_eq!(busy().render(frames, 3).len(), frames * 2);
    }
}
