//! Mixing of two frames in a transition.

use rusty_h264::YuvFrame;

use super::spec::TransitionKind;

/// The frame of a transition: `progress` of it, from 0 to 1, is over. Without a next frame the first one changes to a color.
pub(super) fn mix(
    kind: TransitionKind,
    progress: f32,
    from: &YuvFrame,
    to: Option<&YuvFrame>,
    is_full_range: bool,
) -> YuvFrame {
    let fade = |level: u8| {
        // At the end of the film there is nothing to fade to but the color.
        let Some(to) = to else { return to_color(from, level, progress) };
        if progress < 0.5 {
            to_color(from, level, progress * 2.0)
        } else {
            to_color(to, level, 2.0 - progress * 2.0)
        }
    };
    let (black, white) = if is_full_range { (0, 255) } else { (16, 235) };
    match (kind, to) {
        (TransitionKind::FadeBlack, _) => fade(black),
        (TransitionKind::FadeWhite, _) => fade(white),
        (_, None) => from.clone(),
        (TransitionKind::Dissolve, Some(to)) => blend(from, to, progress),
        (TransitionKind::WipeLeft, Some(to)) => wipe(from, to, 1.0 - progress, false),
        (TransitionKind::WipeRight, Some(to)) => wipe(from, to, progress, true),
    }
}

/// `share` of the second value, 0 to 256.
fn weighted(a: u8, b: u8, share: u32) -> u8 {
    ((u32::from(a) * (256 - share) + u32::from(b) * share + 128) >> 8) as u8
}

fn share_of(progress: f32) -> u32 {
    (progress.clamp(0.0, 1.0) * 256.0).round() as u32
}

fn blend(from: &YuvFrame, to: &YuvFrame, progress: f32) -> YuvFrame {
    let share = share_of(progress);
    let mut mixed = from.clone();
    for (plane, other) in [(&mut mixed.y, &to.y), (&mut mixed.u, &to.u), (&mut mixed.v, &to.v)] {
        for (value, other) in plane.iter_mut().zip(other) {
            *value = weighted(*value, *other, share);
        }
    }
    mixed
}

fn to_color(from: &YuvFrame, level: u8, progress: f32) -> YuvFrame {
    let share = share_of(progress);
    let mut mixed = from.clone();
    for (plane, level) in [(&mut mixed.y, level), (&mut mixed.u, 128), (&mut mixed.v, 128)] {
        for value in plane.iter_mut() {
            *value = weighted(*value, level, share);
        }
    }
    mixed
}

/// Shows the second frame on one side of a vertical edge, whose position is a share of the width. The edge lies on whole chroma samples.
fn wipe(from: &YuvFrame, to: &YuvFrame, edge: f32, to_is_left: bool) -> YuvFrame {
    let mut mixed = from.clone();
    let chroma_width = from.width.div_ceil(2);
    let edge = ((chroma_width as f32 * edge).round() as usize).min(chroma_width);
    let mut copy = |plane: usize, width: usize, edge: usize| {
        let (target, source) = match plane {
            0 => (&mut mixed.y, &to.y),
            1 => (&mut mixed.u, &to.u),
            _ => (&mut mixed.v, &to.v),
        };
        let columns = if to_is_left { 0..edge } else { edge..width };
        for (target, source) in target.chunks_exact_mut(width.max(1)).zip(source.chunks_exact(width.max(1))) {
            target[columns.clone()].copy_from_slice(&source[columns.clone()]);
        }
    };
    copy(0, from.width, (edge * 2).min(from.width));
    copy(1, chroma_width, edge);
    copy(2, chroma_width, edge);
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(level: u8) -> YuvFrame {
        let mut frame = YuvFrame::black(8, 4);
        frame.y.fill(level);
        frame
    }

    #[test]
    fn transitions_mix_by_their_progress() {
        let (a, b) = (plain(40), plain(200));
        let luma = |kind, progress, to: Option<&YuvFrame>| mix(kind, progress, &a, to, false).y;
        assert_eq!(luma(TransitionKind::Dissolve, 0.5, Some(&b)), [120; 32]);
        assert_eq!(luma(TransitionKind::FadeBlack, 0.5, Some(&b)), [16; 32]);
        assert_eq!(luma(TransitionKind::FadeWhite, 1.0, None), [235; 32]);
        assert_eq!(luma(TransitionKind::FadeBlack, 0.0, Some(&b)), [40; 32]);
        let left = luma(TransitionKind::WipeLeft, 0.25, Some(&b));
        assert_eq!(left[..8], [40, 40, 40, 40, 40, 40, 200, 200], "the next frame comes from the right");
        let right = luma(TransitionKind::WipeRight, 0.25, Some(&b));
        assert_eq!(right[24..], [200, 200, 40, 40, 40, 40, 40, 40]);
    }
}
