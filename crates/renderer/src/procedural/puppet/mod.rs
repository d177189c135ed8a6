//! Figures that prompts name, as puppets of flat shapes that stand upright in the scene: [`cast`] places them, [`paint`] draws them.

mod animals;
pub(super) mod cast;
mod paint;
mod people;
mod shapes;
mod strip;
mod things;
mod vehicles;

use self::shapes::Parts;
use super::math::Color;
use super::prompt::Subject;

/// How one figure looks at a moment.
#[derive(Clone, Copy, Debug)]
struct Appearance {
    /// Seconds, shifted for each figure.
    time: f32,
    /// Of clothes, fur, paint or petals.
    color: Color,
    /// Of a rider's clothes.
    coat: Color,
    /// Chooses skin, hair and eyes.
    variant: u32,
}

/// Which of its drawings a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FigureVariant {
    is_woman: bool,
    /// Seen from the front, for close and medium framing.
    is_facing: bool,
}

/// The parts of a figure, back to front.
fn parts(subject: Subject, appearance: Appearance, manner: FigureVariant) -> Parts {
    let mut parts = Parts::default();
    let to = &mut parts;
    match subject {
        Subject::Child if manner.is_facing => people::facing(to, appearance, manner.is_woman, true),
        Subject::Child => people::walking(to, appearance, manner.is_woman, true),
        Subject::Robot => people::robot(to, appearance),
        Subject::Dog => animals::dog(to, appearance),
        Subject::Cat => animals::cat(to, appearance),
        Subject::Horse => animals::horse(to, appearance),
        Subject::Bear => animals::bear(to, appearance),
        Subject::Elephant => animals::elephant(to, appearance),
        Subject::Bird => animals::bird(to, appearance),
        Subject::Fish => animals::fish(to, appearance),
        Subject::Car => vehicles::car(to, appearance),
        Subject::Bus => vehicles::bus(to, appearance),
        Subject::Train => vehicles::train(to, appearance),
        Subject::Bicycle => vehicles::bicycle(to, appearance),
        Subject::Motorcycle => vehicles::motorcycle(to, appearance),
        Subject::Plane => vehicles::plane(to, appearance),
        Subject::Flower => things::flower(to, appearance),
        Subject::Tree => things::tree(to, appearance),
        Subject::House => things::house(to, appearance),
        Subject::Table => things::table(to, appearance),
        Subject::Cup => things::cup(to, appearance),
        Subject::Bottle => things::bottle(to, appearance),
        Subject::Book => things::book(to, appearance),
        Subject::Candle => things::candle(to, appearance),
        Subject::Device => things::device(to, appearance),
        _ if manner.is_facing => people::facing(to, appearance, manner.is_woman, false),
        _ => people::walking(to, appearance, manner.is_woman, false),
    }
    parts
}

/// Measures of a figure as it is drawn.
struct Measures {
    /// Metres.
    height: f32,
    length: f32,
    /// The share of the image's height that it takes without a framing.
    share: f32,
    /// What a close-up shows, in metres from its foot.
    close_up: (f32, f32),
}

const fn measures(subject: Subject) -> Measures {
    use Subject as S;
    let (height, length, share, close_up) = match subject {
        S::Child => (1.75, 0.7, 0.46, (0.0, 1.58)),
        S::Crowd => (1.75, 0.7, 0.44, (0.0, 1.58)),
        S::Robot => (1.8, 0.8, 0.62, (0.0, 1.46)),
        S::Dog => (0.88, 1.25, 0.42, (0.44, 0.72)),
        S::Cat => (0.57, 0.6, 0.46, (0.07, 0.38)),
        S::Horse => (2.2, 2.7, 0.52, (1.05, 1.80)),
        S::Elephant => (2.9, 3.8, 0.56, (1.35, 2.1)),
        S::Bear => (1.6, 2.7, 0.48, (1.2, 1.2)),
        S::Bird => (0.30, 0.5, 0.42, (0.06, 0.2)),
        S::Fish => (0.4, 0.62, 0.20, (0.0, 0.2)),
        S::Car => (1.5, 4.5, 0.36, (0.8, 0.75)),
        S::Bus => (2.95, 10.2, 0.44, (3.0, 1.6)),
        S::Train => (3.7, 26.0, 0.34, (14.0, 2.2)),
        S::Bicycle => (1.85, 1.85, 0.56, (0.2, 1.4)),
        S::Motorcycle => (1.75, 2.2, 0.52, (0.2, 1.2)),
        S::Plane => (9.0, 32.0, 0.34, (6.0, 2.6)),
        S::Flower => (0.58, 0.4, 0.56, (0.0, 0.44)),
        S::Tree => (6.2, 4.8, 0.74, (0.0, 4.2)),
        S::House => (6.0, 6.8, 0.60, (0.0, 2.4)),
        S::Table => (0.78, 1.85, 0.34, (0.0, 0.7)),
        S::Cup => (0.12, 0.2, 0.34, (0.0, 0.07)),
        S::Bottle => (0.15, 0.11, 0.52, (0.0, 0.07)),
        S::Book => (0.12, 0.34, 0.34, (0.0, 0.05)),
        S::Candle => (0.20, 0.12, 0.54, (0.0, 0.13)),
        S::Device => (0.16, 0.1, 0.52, (0.0, 0.08)),
        _ => (1.75, 0.7, 0.64, (0.0, 1.58)),
    };
    Measures { height, length, share, close_up }
}

/// Whether it lies or stands on a table.
const fn is_object(subject: Subject) -> bool {
    matches!(subject, Subject::Cup | Subject::Bottle | Subject::Book | Subject::Candle | Subject::Device)
}

/// Whether it belongs to the background when something else is there.
const fn is_setting(subject: Subject) -> bool {
    matches!(subject, Subject::Tree | Subject::House | Subject::Table)
}

const fn is_vehicle(subject: Subject) -> bool {
    matches!(subject, Subject::Car | Subject::Bus | Subject::Bicycle | Subject::Motorcycle)
}

const fn is_human(subject: Subject) -> bool {
    matches!(subject, Subject::Person | Subject::Child | Subject::Crowd | Subject::Robot)
}

/// Whether it runs or drives, so that the camera follows it if nothing else is asked for.
pub(super) const fn is_fast(subject: Subject) -> bool {
    is_vehicle(subject) || matches!(subject, Subject::Train | Subject::Horse | Subject::Dog)
}

/// Whether it needs ground below its feet.
pub(super) const fn is_on_ground(subject: Subject) -> bool {
    !matches!(subject, Subject::Plane | Subject::Fish) && !is_object(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn_parts(subject: Subject, time: f32, is_facing: bool) -> Parts {
        let appearance = Appearance { time, color: Color::grey(0.5), coat: Color::grey(0.3), variant: 3 };
        parts(subject, appearance, FigureVariant { is_woman: true, is_facing })
    }

    fn extent(parts: &Parts) -> [f32; 4] {
        parts.0.iter().filter(|part| part.opacity >= 1.0).map(|part| part.form.bounds()).fold(
            [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY],
            |bounds, part| {
                [
                    bounds[0].min(part[0]),
                    bounds[1].max(part[1]),
                    bounds[2].min(part[2]),
                    bounds[3].max(part[3]),
                ]
            },
        )
    }

    /// Every figure is as large as its measures say, and moves.
    #[test]
    fn figures_have_their_measures_and_move() {
        for (subject, name) in Subject::ALL.iter().filter(|(subject, _)| subject.is_figure()) {
            let body = measures(*subject);
            for is_facing in [false, true] {
                let [left, right, low, high] = extent(&drawn_parts(*subject, 0.3, is_facing));
                let (height, length) = (high / body.height, (right - left) / body.length);
                assert!((0.75..1.15).contains(&height), "{name} is {height:.2} times as high");
                assert!((0.45..1.35).contains(&length), "{name} is {length:.2} times as long");
                assert!(low > -body.height * 0.3, "{name} stands in the ground: {low}");
                let moved = [0.2, 0.5, 0.9, 1.3, 1.7]
                    .map(|time| format!("{:?}", drawn_parts(*subject, time, is_facing)));
                // A plane moves as a whole.
                let is_still = matches!(subject, Subject::Table | Subject::Plane);
                assert!(is_still || moved.iter().any(|it| *it != moved[0]), "{name} does not move");
            }
        }
    }
}
