//! Workflows of any size, as people write large ones.

use std::fmt::Write;

const HEAD: &str = "version: 1
name: scale
params:
  keeper: a grey-bearded lighthouse keeper in a worn yellow raincoat, brass lantern in hand
  look: 35 mm film, anamorphic, muted teal and slate palette, fine grain, natural motion
defaults:
  model: modela-video-2-0-260128
  resolution: 480p
  ratio: \"16:9\"
  seconds: 5
  generate_audio: true
  watermark: false
";

/// One shot over three axes, one of them in a typed field.
pub(crate) fn sweep(instances: usize) -> String {
    let seeds = instances / 20;
    format!(
        "{HEAD}shots:
  - id: harbor
    matrix:
      lens: [24mm, 35mm, 50mm, 85mm, 135mm]
      light: [dawn fog, hard noon, golden hour, blue hour]
      seed: {{from: 1, to: {seeds}}}
    seed: \"{{{{ seed }}}}\"
    prompt: \"{{{{ keeper }}}} walks along the harbor wall at {{{{ light }}}}, {{{{ lens }}}} lens. {{{{ look }}}}\"
"
    )
}

/// A sweep at the head of a chain: each cell is a chain of five shots of its own, joined into one film.
pub(crate) fn chains(instances: usize) -> String {
    let mut text = format!(
        "{HEAD}shots:
  - id: s0
    matrix: {{seed: {{from: 1, to: {}}}}}
    seed: \"{{{{ seed }}}}\"
    prompt: \"{{{{ keeper }}}} leaves the house. {{{{ look }}}}\"
",
        instances / 5
    );
    for shot in 1..5 {
        let _ = write!(
            text,
            "  - id: s{shot}
    continues: s{}
    seconds: \"{{{{ 4 + seed % 3 }}}}\"
    prompt: \"part {shot} of {{{{ seed }}}}: {{{{ keeper }}}} goes on. {{{{ look }}}}\"
",
            shot - 1
        );
    }
    text
}

/// Shots one by one, in chains of ten, without a matrix.
pub(crate) fn listed(shots: usize) -> String {
    let mut text = format!("{HEAD}shots:\n");
    for shot in 0..shots {
        let _ = write!(text, "  - id: shot-{shot}\n    note: number {shot}\n    seed: {shot}\n");
        if shot % 10 > 0 {
            let _ = writeln!(text, "    continues: shot-{}", shot - 1);
        }
        let _ = writeln!(
            text,
            "    prompt: \"{{{{ keeper }}}} in scene {shot}, where the storm comes in from the sea. {{{{ look }}}}\""
        );
    }
    text
}
