//! What prompts speak of, and the names of these notions in the tables of the [`super::vocabulary`].

/// Defines an enum whose values have names in the tables.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($value:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum $name { $($value),+ }

        impl $name {
            /// Every value, in order of declaration.
            pub(crate) const ALL: &[(Self, &str)] = &[$((Self::$value, $text)),+];

            fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|(_, text)| *text == name).map(|(value, _)| *value)
            }
        }
    };
}

named! {
    Landscape {
        Mountains = "mountains",
        Sea = "sea",
        Coast = "coast",
        Harbour = "harbour",
        Lake = "lake",
        Desert = "desert",
        Snowfield = "snowfield",
        Forest = "forest",
        Meadow = "meadow",
        City = "city",
        Canyon = "canyon",
    }
}

named! {
    /// A place without a landscape.
    Set {
        Room = "room",
        Studio = "studio",
        Underwater = "underwater",
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    Land(Landscape),
    Set(Set),
}

impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Land(landscape) => landscape.fmt(f),
            Self::Set(set) => set.fmt(f),
        }
    }
}

named! {
    /// The time of day.
    Hour {
        Dawn = "dawn",
        Sunrise = "sunrise",
        Day = "day",
        Golden = "golden",
        Sunset = "sunset",
        Dusk = "dusk",
        Night = "night",
    }
}

named! {
    Move {
        Static = "static",
        DollyIn = "dollyin",
        PullBack = "pullback",
        PanLeft = "panleft",
        PanRight = "panright",
        TrackLeft = "trackleft",
        TrackRight = "trackright",
        TiltUp = "tiltup",
        TiltDown = "tiltdown",
        Orbit = "orbit",
        Rise = "rise",
        Descend = "descend",
        Flyover = "flyover",
        WhipPan = "whippan",
        DollyZoom = "dollyzoom",
        Roll = "roll",
    }
}

named! {
    /// The framing of the subject.
    Framing {
        Close = "close",
        Medium = "medium",
        Wide = "wide",
        Aerial = "aerial",
    }
}

named! {
    /// The style of the image.
    Style {
        Natural = "natural",
        Cinematic = "cinematic",
        Noir = "noir",
        Monochrome = "monochrome",
        Pastel = "pastel",
        Watercolor = "watercolor",
        Cartoon = "cartoon",
        Papercraft = "papercraft",
        Film = "film",
        Neon = "neon",
        Sepia = "sepia",
        Dream = "dream",
    }
}

named! {
    Cover {
        Clear = "clear",
        Broken = "broken",
        Overcast = "overcast",
    }
}

named! {
    /// An object or event beside the landscape.
    Subject {
        Lighthouse = "lighthouse",
        Breakwater = "breakwater",
        Person = "person",
        Woman = "woman",
        Child = "child",
        Crowd = "crowd",
        Dog = "dog",
        Cat = "cat",
        Horse = "horse",
        Elephant = "elephant",
        Bear = "bear",
        Bird = "bird",
        Birds = "birds",
        Fish = "fish",
        Car = "car",
        Bus = "bus",
        Train = "train",
        Bicycle = "bicycle",
        Motorcycle = "motorcycle",
        Boat = "boat",
        Plane = "plane",
        Robot = "robot",
        Flower = "flower",
        Tree = "tree",
        House = "house",
        Table = "table",
        Cup = "cup",
        Bottle = "bottle",
        Book = "book",
        Candle = "candle",
        Device = "device",
        Door = "door",
        Stairs = "stairs",
        Lamp = "lamp",
        Embers = "embers",
        Lanterns = "lanterns",
        Fireflies = "fireflies",
        Rain = "rain",
        Wet = "wet",
        Snow = "snow",
        Fog = "fog",
        Wind = "wind",
        Thunder = "thunder",
        Storm = "storm",
        Calm = "calm",
        Aurora = "aurora",
        Stars = "stars",
        Moon = "moon",
        Handheld = "handheld",
        Autumn = "autumn",
        Spring = "spring",
        Music = "music",
        Speech = "speech",
    }
}

impl Subject {
    /// Whether it is drawn as a figure in front of the place, in a number and with a color of its own.
    pub(crate) const fn is_figure(self) -> bool {
        use Subject as S;
        matches!(
            self,
            S::Person
                | S::Child
                | S::Crowd
                | S::Dog
                | S::Cat
                | S::Horse
                | S::Elephant
                | S::Bear
                | S::Bird
                | S::Fish
                | S::Car
                | S::Bus
                | S::Train
                | S::Bicycle
                | S::Motorcycle
                | S::Plane
                | S::Robot
                | S::Flower
                | S::Tree
                | S::House
                | S::Table
                | S::Cup
                | S::Bottle
                | S::Book
                | S::Candle
                | S::Device
        )
    }
}

/// A set of [`Subject`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Subjects(u64);

impl Subjects {
    pub(crate) const fn insert(&mut self, subject: Subject) {
        self.0 |= 1 << subject as u32;
    }

    pub(crate) const fn has(self, subject: Subject) -> bool {
        self.0 & (1 << subject as u32) != 0
    }
}

impl std::fmt::Debug for Subjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let subjects = Subject::ALL.iter().map(|(subject, _)| subject);
        f.debug_set().entries(subjects.filter(|subject| self.has(**subject))).finish()
    }
}

/// The meaning of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Location(Location),
    Hour(Hour),
    Cover(Cover),
    Move(Move),
    Framing(Framing),
    Style(Style),
    Subject(Subject),
    /// How many of the subject that follows.
    Count(u32),
    /// A color, `0xRRGGBB`.
    Color(u32),
    /// Something to wear.
    Garment,
}

impl Meaning {
    /// The meaning of a name in the tables, such as `place:sea`.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (kind, value) = name.split_once(':').unwrap_or((name, ""));
        match kind {
            "place" => Landscape::named(value)
                .map(Location::Land)
                .or_else(|| Set::named(value).map(Location::Set))
                .map(Self::Location),
            "hour" => Hour::named(value).map(Self::Hour),
            "cover" => Cover::named(value).map(Self::Cover),
            "move" => Move::named(value).map(Self::Move),
            "frame" => Framing::named(value).map(Self::Framing),
            "style" => Style::named(value).map(Self::Style),
            "see" => Subject::named(value).map(Self::Subject),
            "count" => value.parse().ok().map(Self::Count),
            "color" => u32::from_str_radix(value, 16).ok().map(Self::Color),
            "garment" => Some(Self::Garment),
            _ => None,
        }
    }
}
