//! What prompts of six languages are read as.

use super::*;

/// A brief in one line, what was said only.
fn brief(prompt: &str) -> String {
    let b = SceneBrief::read(prompt);
    let mut parts = Vec::new();
    parts.extend(b.location.map(|it| format!("{it:?}")));
    parts.extend(b.hour.map(|it| format!("{it:?}")));
    parts.extend(b.cover.map(|it| format!("{it:?}")));
    parts.extend(b.movement.map(|it| format!("{it:?}")));
    parts.extend(b.framing.map(|it| format!("{it:?}")));
    parts.extend(b.style.map(|it| format!("{it:?}")));
    parts.push(format!("{:?}", b.subjects));
    parts.join(" ")
}

fn figures_of(prompt: &str) -> String {
    let figures = SceneBrief::read(prompt).figures;
    figures.iter().map(|f| format!("{} {:?}", f.count, f.subject)).collect::<Vec<_>>().join(", ")
}

/// Compares all rows of a table, so that a change of the vocabulary shows everything that it changes.
fn check(table: &[(&str, &str)], read: fn(&str) -> String) {
    let differ = table.iter().filter(|(prompt, expected)| read(prompt) != *expected);
    let differ: Vec<String> =
        differ.map(|(prompt, expected)| format!("{prompt}: {} for {expected}", read(prompt))).collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn phrases_select_brief() {
    let table = [
        ("drone flyover of mountains at sunset", "Mountains Sunset Flyover Aerial {}"),
        ("City at NIGHT, in rain", "City Night Overcast {Rain}"),
        ("a keeper walks along the breakwater, golden hour", "Coast Golden {Breakwater, Person}"),
        ("the lamp turns on", "Coast Dusk {Lighthouse, Lamp}"),
        ("push-in on a lighthouse at blue hour", "Coast Dusk DollyIn {Lighthouse}"),
        ("16mm, snow falling on a pine forest", "Forest Overcast Film {Snow}"),
        ("black and white dunes", "Desert Monochrome {}"),
        ("fishing boats in the harbour at dawn, gulls", "Harbour Dawn {Birds, Boat}"),
        ("storm over the sea, lightning", "Sea Overcast {Wind, Thunder, Storm}"),
        ("slow pan to the left over a misty lake", "Lake PanLeft {Fog}"),
        ("35 mm film, overcast light", "Overcast Film {}"),
        ("the camera does not matter", "{}"),
    ];
    check(&table, brief);
}

#[test]
fn six_languages_select_brief() {
    let table = [
        // English.
        ("a corgi runs along the beach at sunset, tracking shot", "Coast Sunset TrackRight {Dog}"),
        ("wide shot of a lone tree in a wheat field, autumn", "Meadow Wide {Tree, Autumn}"),
        ("a cup of coffee on a wooden table, close-up, morning light", "Room Sunrise Close {Table, Cup}"),
        ("watercolor painting of a village in spring, birds", "Meadow Watercolor {Birds, Spring}"),
        ("tropical fish swim over a coral reef", "Underwater {Fish}"),
        // Chinese.
        ("夜的港口，渔船，固定镜头", "Harbour Night Static {Boat}"),
        ("男人走在雨夜的街道，霓虹灯，镜头推进", "City Night Overcast DollyIn Neon {Person, Rain}"),
        ("一只橘猫坐在窗台上，特写，阳光", "Room Day Close {Cat}"),
        ("无人机航拍雪山日出", "Snowfield Sunrise Flyover Aerial {}"),
        ("水墨风格，小船在湖面上，薄雾，黎明", "Lake Dawn Watercolor {Boat, Fog}"),
        ("镜头环绕一辆红色跑车，黄昏，沙漠", "Desert Dusk Orbit {Car}"),
        // Japanese.
        ("夜の港", "Harbour Night {}"),
        ("夕日の海辺を歩く女性、ロングショット", "Coast Sunset Wide {Person, Woman}"),
        ("雨の東京、ネオン、傘をさした人々、固定カメラ", "City Night Overcast Static Neon {Crowd, Rain}"),
        ("窓辺の猫のクローズアップ", "Room Close {Cat}"),
        ("霧の森、夜明け、ドローン空撮", "Forest Dawn Flyover Aerial {Fog}"),
        ("モノクロ、雪原を走る列車", "Snowfield Monochrome {Train}"),
        // Spanish.
        ("Vista aérea de una playa al amanecer", "Coast Dawn Aerial {}"),
        ("Primer plano de un perro en el bosque, niebla, hora dorada", "Forest Golden Close {Dog, Fog}"),
        (
            "Una mujer con vestido rojo camina por una calle bajo la lluvia de noche",
            "City Night Overcast {Person, Woman, Rain}",
        ),
        ("Plano general de un velero en el mar, puesta de sol, cámara fija", "Sea Sunset Static Wide {Boat}"),
        ("Un tren cruza las montañas nevadas, blanco y negro", "Snowfield Monochrome {Train}"),
        // French.
        (
            "Une femme aux cheveux longs et noirs marche dans une rue Tokyo bondée la nuit, néons se reflétant sur le pavé mouillé",
            "City Night Neon {Person, Woman, Wet}",
        ),
        ("Un chat s'étire sur un rebord de fenêtre ensoleillé", "Room Day {Cat}"),
        ("Gros plan d'un homme aux cheveux noirs, film noir", "Close Noir {Person}"),
        (
            "Survol d'une forêt en automne, brume, lever du soleil",
            "Forest Sunrise Flyover Aerial {Fog, Autumn}",
        ),
        ("Travelling avant vers une maison dans la neige", "Snowfield Overcast DollyIn {House, Snow}"),
        // German.
        ("Eine Frau geht am Strand entlang, Sonnenuntergang, Totale", "Coast Sunset Wide {Person, Woman}"),
        ("Nahaufnahme eines Hundes auf einer Wiese, goldene Stunde", "Meadow Golden Close {Dog}"),
        (
            "Ein roter Bus fährt durch die nächtliche Stadt, Regen, Kameraschwenk nach links",
            "City Night Overcast PanLeft {Bus, Rain}",
        ),
        ("Luftaufnahme eines Bergsees im Nebel, Morgendämmerung", "Lake Dawn Aerial {Fog}"),
        ("Scherenschnitt: ein Boot auf dem Meer, Vollmond", "Sea Night Papercraft {Boat, Moon}"),
    ];
    check(&table, brief);
}

#[test]
fn compounds_do_not_mislead() {
    let table = [
        ("shallow depth of field, 85 mm lens", "{}"),
        ("he is staring at a parking lot", "{Person}"),
        ("a beaming smile, a small mole on her cheek", "Close {Person}"),
        ("she waves at us and steps off", "{Person}"),
        ("an ice cream in a frying pan", "{}"),
        ("a fire truck", "City {Car}"),
        ("a golden retriever", "Meadow {Dog}"),
        ("many manuals", "{}"),
        ("a winding road", "{}"),
        ("30 year old space man, blue sky, salt desert", "Desert Day Clear {Person}"),
        ("the slow dolly-in, revealing earbuds", "Studio DollyIn {Device}"),
        ("a lamp post in a street", "City {}"),
        ("a red car drives, no music, no fog, without rain", "City {Car}"),
    ];
    check(&table, brief);
}

#[test]
fn votes_precede_first_mention() {
    assert_eq!(brief("a tree in the city street, skyscraper"), "City {Tree}");
    assert_eq!(brief("day turns into night, moonlight"), "Night {}");
    // Of equal votes the first.
    assert_eq!(brief("from the desert to the forest"), "Desert {}");
}

#[test]
fn figures_have_numbers() {
    let table = [
        ("two women and a dog", "2 Person, 1 Dog"),
        ("a litter of golden retriever puppies", "5 Dog"),
        ("three horses gallop", "3 Horse"),
        ("birds, cats", "3 Cat"),
        ("两只猫", "2 Cat"),
        ("二匹の犬", "2 Dog"),
        ("deux chevaux", "2 Horse"),
        ("drei Autos", "3 Car"),
        ("dos perros", "2 Dog"),
        ("a child with her mother", "1 Child"),
    ];
    check(&table, figures_of);
}

#[test]
fn negated_phrases_are_ignored() {
    assert_eq!(brief("a meadow without rain, no fog, not a boat"), "Meadow {}");
    assert_eq!(brief("草原，没有雾，无雨"), "Meadow {}");
    assert_eq!(brief("une plage sans vent"), "Coast {}");
    assert_eq!(brief("ein Wald ohne Nebel"), "Forest {}");
}

#[test]
fn unknown_text_gives_empty_brief() {
    for prompt in ["", "   ", "\u{0}\u{feff}", "&&&&&", "Ω≈ç", &"x".repeat(100_000), &"海".repeat(0)] {
        assert_eq!(brief(prompt), "{}", "for {:?}", prompt.chars().take(20).collect::<String>());
    }
}

#[test]
fn colors_belong_to_what_they_stand_beside() {
    let coat = |prompt: &str| SceneBrief::read(prompt).coat;
    assert_eq!(coat("a keeper in a yellow raincoat"), Some(Color::surface(0xe8_b41c)));
    assert_eq!(coat("a keeper in a raincoat by a red door"), None);
    assert_eq!(coat("une femme en robe rouge"), Some(Color::surface(0xb8_2a22)));
    assert_eq!(coat("穿红色风衣的女人"), Some(Color::surface(0xb8_2a22)));
    assert_eq!(coat("ein Mann im gelben Mantel"), Some(Color::surface(0xe8_b41c)));
    let car = SceneBrief::read("a blue car and a man");
    assert_eq!(car.figures[0].color, Some(Color::surface(0x2c_5090)));
}

#[test]
fn words_without_effect_are_listed() {
    let unread = |prompt: &str| reading(prompt).unread.join("|");
    assert_eq!(
        unread("A chef tossing vegetables in the kitchen, depth of field"),
        "tossing|vegetables|depth of field"
    );
    assert_eq!(unread("疲惫的男人走在走廊"), "疲惫|走");
    assert_eq!(unread("a beach at night"), "");
    let reading = reading("Beaches at night, no fog");
    let read: Vec<_> = reading.read.iter().map(|it| format!("{} {}", it.text, it.meaning)).collect();
    assert_eq!(read, ["Beaches place:coast", "night hour:night"]);
}

/// The prompts of the example that everybody runs first, with words that have another meaning elsewhere: "no text on screen", "beside the glass".
#[test]
fn storyboard_shows_its_keeper_and_its_lighthouse() {
    let keeper = "a grey-bearded lighthouse keeper in a worn yellow raincoat, brass lantern in hand";
    let look = "35 mm film, anamorphic, muted teal and slate palette with warm lamp light as the only accent, fine grain, natural motion, no text \
                on screen";
    let prompts = [
        "Wide shot of a long stone breakwater at dusk, a white lighthouse at its far end, the sea heaving grey on both sides. Away from us along the \
         wet stones walks KEEPER, leaning into the wind. A storm front stands on the horizon, first rain in the air. LOOK",
        "The storm breaks over the lighthouse. At the iron door at its foot stands KEEPER. Rain drives sideways through the lantern's light, a wave \
         bursts over the breakwater, a shoulder goes against the iron, and the door gives. Handheld, close behind. LOOK",
        "Night, storm. High in the lighthouse the great lamp wakes: a dull ember, then white, and the beam swings out over the sea. Beside the glass, \
         small against it, stands KEEPER. Crane up along the tower until the beam passes over us. LOOK",
        "Drone flyover, low over a night sea in a storm: black swells, torn white crests, rain in sheets. Far ahead, the beam of a lighthouse sweeps \
         through fog, goes dark, returns. LOOK",
    ];
    let seen: Vec<String> = prompts
        .iter()
        .map(|prompt| figures_of(&prompt.replace("KEEPER", keeper).replace("LOOK", look)))
        .collect();
    assert_eq!(seen, ["1 Person", "1 Person", "1 Person", ""]);
}
