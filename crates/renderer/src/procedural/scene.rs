//! A scene: everything that exists during a shot, and the order in which one frame of it is drawn.

use super::beam;
use super::bloom::Bloom;
use super::boats_and_birds::{Boat, Flock};
use super::camera::{Pose, Rig, View};
use super::canvas::Canvas;
use super::city::City;
use super::compositing::CompositingLayer;
use super::figure::Walker;
use super::flora::{DrawnTree, Flora, Season};
use super::frame_context::FrameContext;
use super::ground::{Ground, WATER};
use super::layout::Layout;
use super::light::Light;
use super::lighthouse::Lighthouse;
use super::math::{Color, mix};
use super::noise::Rng;
use super::prompt::{Hour, Landscape, Subject};
use super::puppet::cast::Cast;
use super::raymarch::{Edge, march, soften, steps};
use super::relief::Relief;
use super::scene_spec::SceneSpec;
use super::sky::{Sky, SkyGrid};
use super::surface::Surfaces;
use super::terrain::{Detail, Terrain};
use super::water::Sea;

/// The world of a shot.
pub(crate) struct Scene {
    pub(crate) spec: SceneSpec,
    pub(crate) light: Light,
    sky: Sky,
    ground: Ground,
    sea: Option<Sea>,
    city: Option<City>,
    flora: Option<Flora>,
    pub(crate) lighthouse: Option<Lighthouse>,
    pub(crate) walker: Option<Walker>,
    boats: Vec<Boat>,
    flock: Option<Flock>,
    cast: Option<Cast>,
    pub(crate) rig: Rig,
    steps: Vec<f32>,
    salt: u32,
}

/// Buffers, reused between frames.
pub(crate) struct Workspace {
    pub(crate) canvas: Canvas,
    grid: SkyGrid,
    edges: Vec<Edge>,
    pub(crate) bloom: Bloom,
    order: Vec<DrawnTree>,
    layer: CompositingLayer,
    cells: Vec<f32>,
}

impl Workspace {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self {
            canvas: Canvas::new(width, height),
            grid: SkyGrid::empty(),
            edges: Vec::new(),
            bloom: Bloom::default(),
            order: Vec::new(),
            layer: CompositingLayer::default(),
            cells: Vec::new(),
        }
    }
}

impl Scene {
    pub(crate) fn build(spec: SceneSpec, aspect: f32, seconds: f32, seed: u64, detail: Detail) -> Self {
        let mut rng = Rng::new(seed, "scene");
        let layout = Layout::new(&spec, seed);
        let mut light = Light::new(spec.hour, spec.murk, layout.sun_azimuth, &mut rng);
        let is_city = spec.landscape == Landscape::City;
        if is_city && matches!(spec.hour, Hour::Night | Hour::Dusk) {
            // Streets light the haze above them.
            light.horizon = mix(light.horizon, Color::displayed(0x7a_5a72), 0.55);
            light.away = mix(light.away, Color::displayed(0x5c_4664), 0.5);
            light.air.haze *= 2.6;
        }
        let wet_street = is_city && (spec.weather.rain > 0.0 || spec.has(Subject::Wet));
        let mut relief = Relief::new(spec.landscape, spec.side, spec.has(Subject::Autumn), seed);
        relief.headland = layout.headland;
        relief.breakwater = layout.breakwater;
        relief.has_snow = spec.has(Subject::Snow);
        relief.street = if wet_street { -0.2 } else { 0.0 };
        let centre = layout.centre(&spec);
        let terrain = Terrain::bake(&relief, &light, centre, detail);
        let wooded = matches!(
            spec.landscape,
            Landscape::Forest
                | Landscape::Mountains
                | Landscape::Lake
                | Landscape::Meadow
                | Landscape::Snowfield
        );
        let season = Season {
            is_autumn: spec.has(Subject::Autumn),
            snowed: if spec.landscape == Landscape::Snowfield || spec.has(Subject::Snow) { 1.0 } else { 0.0 },
            broad_share: match spec.landscape {
                Landscape::Meadow => 0.85,
                Landscape::Forest | Landscape::Lake if spec.has(Subject::Autumn) => 0.6,
                Landscape::Lake | Landscape::Forest => 0.12,
                _ => 0.0,
            },
        };
        let flora = wooded.then(|| Flora::plant(&relief, &terrain, &light, season, centre, seed));
        let ground = Ground::new(relief, terrain, seed);
        let rig = layout.rig(&spec, &mut rng, |x, y| ground.footing(x, y));
        let cast = Cast::stage(&spec, &rig, aspect, seconds, seed);
        let wind = spec.weather.wind;
        let sea = if wet_street {
            Some(Sea::new(&light, 0.0, false, seed))
        } else {
            spec.is_watery().then(|| Sea::new(&light, wind, spec.is_open_water(), seed))
        };
        let dark = matches!(spec.hour, Hour::Night | Hour::Dusk | Hour::Dawn);
        let lighthouse = layout.lighthouse.map(|[x, y]| {
            let foot = ground.footing(x, y).max(2.0);
            Lighthouse::new([x, y, foot], &spec, &light, seed)
        });
        let walker = spec.has_walker.then(|| position_walker(&spec, &layout, dark, &mut rng));
        let boats = if spec.is_watery() {
            let count = match (spec.has(Subject::Boat), spec.landscape) {
                (true, _) => 1 + (rng.next() % 2) as u32,
                (false, Landscape::Harbour) => 3,
                _ => 0,
            };
            Boat::fleet(count, spec.side, if dark { 1.0 } else { 0.0 }, &mut rng)
        } else {
            Vec::new()
        };
        let some_birds = spec.has(Subject::Birds)
            || (spec.is_watery() && !spec.has(Subject::Storm) && spec.hour != Hour::Night && rng.chance(0.5));
        let flock = some_birds.then(|| {
            let ahead = layout.pivot;
            let count = if spec.has(Subject::Birds) { 15 } else { 6 };
            let base = rig_height(&rig) + 9.0;
            Flock::new(count, [ahead[0] * 0.4, ahead[1] * 0.7, base], spec.is_watery() && !dark, &mut rng)
        });
        let sky = Sky::new(&light, wind, spec.has(Subject::Aurora), spec.has(Subject::Stars), seed);
        let city = is_city.then(|| City::new(&spec, &light, seed));
        // As fine as the rows of the image.
        let steps = steps(1.2, if detail == Detail::Full { 0.025 } else { 0.035 });
        let salt = rng.next() as u32;
        Self {
            spec,
            light,
            sky,
            ground,
            sea,
            city,
            flora,
            lighthouse,
            walker,
            boats,
            flock,
            cast,
            rig,
            steps,
            salt,
        }
    }

    /// Lifts a camera that would be in the ground, or in the waves.
    pub(crate) fn keep_above_ground(&self, pose: &mut Pose) {
        const CLEARANCE: f32 = 1.7;
        let [x, y, _] = pose.eye;
        pose.eye[2] = pose.eye[2].max(self.ground.footing(x, y).max(0.0) + CLEARANCE);
    }

    /// Draws what a camera sees at `progress` (0 first, 1 last), `time` seconds in, into `work.canvas`.
    pub(crate) fn draw(&self, pose: Pose, progress: f32, time: f32, work: &mut Workspace) {
        let view = View::new(pose, self.rig.focal, work.canvas.width, work.canvas.height);
        let light = &self.light;
        let context = FrameContext { view: &view, light, terrain: &self.ground.terrain, time, progress };
        self.find_surfaces(&view, time, work);
        self.sky.grid(light, &view, time, self.sea.is_some(), &mut work.grid);
        self.sky.paint(light, &view, time, &work.grid, &mut work.canvas);
        self.ground.shade(light, self.sea.as_ref(), self.city.as_ref(), &view, time, &mut work.canvas);
        soften(&mut work.canvas, &work.edges, |light| light.fourth() == WATER);
        if let Some(city) = &self.city {
            city.draw(&context, &mut work.canvas);
        }
        // Once to be mirrored, and again over the water that lies behind them.
        self.draw_things(&context, work);
        if let Some(sea) = &self.sea {
            sea.shade(light, &self.ground, &view, time, &work.grid, &mut work.canvas);
            self.draw_things(&context, work);
        }
        if let Some(flock) = &self.flock {
            flock.draw(&context, &mut work.canvas);
        }
        if let Some(cast) = &self.cast {
            cast.draw(&view, light, time, &mut work.canvas);
        }
        if let Some(lighthouse) = &self.lighthouse {
            beam::draw(lighthouse, &context, &mut work.canvas, &mut work.cells);
            lighthouse.glare(&context, &mut work.canvas);
        }
        self.flash(time, &mut work.canvas);
        self.spec.weather.draw(light, &view, time, self.salt, &mut work.canvas);
        work.bloom.gather(&work.canvas);
    }

    fn find_surfaces(&self, view: &View, time: f32, work: &mut Workspace) {
        let surfaces = Surfaces::new(&self.ground, self.sea.as_ref(), time);
        march(&mut work.canvas, view, &self.steps, &mut work.edges, &surfaces);
    }

    /// Draws all objects, farther kinds first.
    fn draw_things(&self, context: &FrameContext<'_>, work: &mut Workspace) {
        let canvas = &mut work.canvas;
        if let Some(flora) = &self.flora {
            flora.draw(context, &mut work.order, &mut work.layer, canvas);
        }
        if let Some(sea) = &self.sea {
            for boat in self.boats.iter().rev() {
                boat.draw(context, sea, canvas);
            }
        }
        if let Some(lighthouse) = &self.lighthouse {
            lighthouse.draw(context, canvas);
        }
        if let Some(walker) = &self.walker {
            walker.draw(context, |x, y| self.ground.footing(x, y), canvas);
        }
    }

    fn flash(&self, time: f32, canvas: &mut Canvas) {
        let strength = self.spec.weather.flash(time);
        if strength > 0.004 {
            let lift = Color::new(0.62, 0.68, 0.85) * strength;
            for (light, near) in canvas.light.iter_mut().zip(&canvas.nearness) {
                let share = if *near == 0.0 { 0.9 } else { 0.28 };
                *light = *light * (1.0 + strength * 1.4) + lift * share * (0.25 + light.luma());
            }
        }
    }
}

fn rig_height(rig: &Rig) -> f32 {
    0.5 * (rig.from.eye[2] + rig.to.eye[2])
}

/// Places the walker: on the breakwater, at the door, or on open ground ahead.
fn position_walker(spec: &SceneSpec, layout: &Layout, dark: bool, rng: &mut Rng) -> Walker {
    let wind = spec.weather.wind;
    let coat = spec.coat;
    let lantern = dark && !matches!(spec.hour, Hour::Dawn);
    if let Some(breakwater) = layout.breakwater {
        let along = rng.range(30.0, 34.0);
        return Walker {
            from: breakwater.point(along),
            heading: breakwater.heading,
            pace: 1.35,
            coat,
            has_lantern: lantern,
            wind,
        };
    }
    if let (Some([lx, ly]), true) = (layout.lighthouse, spec.has(Subject::Door)) {
        // Walks up to the door and is nearly there at the end.
        let from = [lx * 0.62 - spec.side * 1.6, ly * 0.62];
        let to = [lx - spec.side * 0.3, ly - 4.6];
        let distance = (to[0] - from[0]).hypot(to[1] - from[1]);
        return Walker {
            from,
            heading: [(to[0] - from[0]) / distance, (to[1] - from[1]) / distance],
            pace: (distance / 6.0).min(1.2),
            coat,
            has_lantern: lantern,
            wind,
        };
    }
    let ahead = rng.range(15.0, 19.0);
    let turn = rng.range(-0.5, 0.5);
    Walker {
        from: [-spec.side * ahead * 0.2, ahead],
        heading: [turn.sin(), turn.cos()],
        pace: 1.25,
        coat,
        has_lantern: lantern,
        wind,
    }
}
