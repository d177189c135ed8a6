//! Small files that ask for much: what the compiler has to accept or refuse within 10 seconds of one core and 512 MB.
//!
//! Known ones by name, and random ones from a list of choices. Used by `tests/bounds.rs` and by the fuzz target.

use std::fmt::Write;

/// A workflow and the table `t.csv` beside it.
pub(crate) struct Expensive {
    pub(crate) name: String,
    pub(crate) workflow: String,
    pub(crate) table: String,
}

const HEAD: &str =
    "version: 1\ndefaults: {model: modela-video-2-0-260128, ratio: \"16:9\", seconds: 5, prompt: x}\n";

fn case(name: &str, workflow: String) -> Expensive {
    Expensive { name: name.to_owned(), workflow, table: String::new() }
}

fn joined(count: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(separator)
}

/// A table of so many rows and columns; `a0` to `aN` name the columns.
fn table(rows: usize, columns: usize) -> String {
    let mut text = joined(columns, ",", |column| format!("a{column}"));
    for row in 0..rows {
        let _ = write!(text, "\n{}", joined(columns, ",", |column| format!("v{}", row * 7 + column)));
    }
    text
}

/// The files that were found to be expensive, each of a size that is divided by `scale`.
pub(crate) fn listed(scale: usize) -> Vec<Expensive> {
    let sized = |size: usize| (size / scale).max(2);
    let cells = sized(100_000);
    let mut cases = vec![
        case("include-of-1000-on-all-cells", {
            let rules = joined(sized(1_000), ", ", |key| format!("{{k{key}: 1}}"));
            format!("{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}, include: [{rules}]}}}}]\n")
        }),
        case("shots-on-one-line", {
            let text = "p".repeat(300);
            let shots = joined(sized(9_000), ", ", |index| format!("{{id: s{index}, prompt: {text}}}"));
            format!("{HEAD}shots: [{shots}]\n")
        }),
        case("cast-of-200-in-each-cell", {
            let cast = joined(200, ", ", |index| format!("c{index}: \"{{{{ i }}}}\""));
            format!(
                "{HEAD}cast: {{{cast}}}\nshots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, salt: \"{{{{ cast['c1'] }}}}\"}}]\n"
            )
        }),
        case("chain-of-excluded-shots", {
            let half = sized(5_000);
            let links = joined(half, ", ", |index| {
                format!("{{id: s{}, continues: s{index}, when: false}}", index + 1)
            });
            let ends = joined(half, ", ", |index| format!("{{id: e{index}, continues: s{half}}}"));
            format!("{HEAD}shots: [{{id: s0}}, {links}, {ends}]\n")
        }),
        case("cast-of-60-kib-before-each-prompt", {
            let text = "x".repeat(60_000);
            format!(
                "{HEAD}cast: {{c: {text}}}\nshots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, cast: c, salt: \"{{{{ i }}}}\"}}, {{id: b, matrix: {{i: {{from: 1, to: {cells}}}}}, cast: c, prompt: \"{{{{ i }}}}\"}}]\n"
            )
        }),
        case("needs-of-all-by-all", {
            let side = sized(10_000);
            format!(
                "{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {side}}}}}}}, {{id: b, matrix: {{j: {{from: 1, to: {side}}}}}, needs: a}}]\n"
            )
        }),
        case(
            "one-prompt-with-a-salt-in-each-cell",
            format!(
                "{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, salt: \"{{{{ i }}}}\"}}]\n"
            ),
        ),
        case("continues-one-cell", {
            let side = sized(50_000);
            format!(
                "{HEAD}shots: [{{id: head, matrix: {{i: {{from: 1, to: {side}}}}}}}, {{id: tail, continues: head@i=1, matrix: {{j: {{from: 1, to: {side}}}}}}}]\n"
            )
        }),
        case("chains-of-all-cells", {
            let side = sized(20_000);
            format!(
                "{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {side}}}}}}}, {{id: b, continues: a}}, {{id: c, continues: b, needs: a}}, {{id: d, continues: c, references: []}}]\n"
            )
        }),
        case("exclude-of-999-by-33-shots", {
            let rules = joined(sized(999), ", ", |rule| format!("{{i: {}, j: {}}}", rule + 1, rule % 100));
            let side = sized(1_000);
            let shots = joined(33, ", ", |shot| {
                format!(
                    "{{id: s{shot}, matrix: {{i: {{from: 1, to: {side}}}, j: {{from: 1, to: 100}}, exclude: *rules}}}}"
                )
            });
            format!("{HEAD}params: {{rules: &rules [{rules}]}}\nshots: [{shots}]\n")
        }),
        case("loops-in-every-prompt", {
            let prompt = "{% for k in range(3900) %}{% endfor %}{{ i }}";
            format!(
                "{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, prompt: \"{prompt}\"}}]\n"
            )
        }),
        case("titles-of-unusual-characters", {
            let clips = joined(sized(500), ", ", |clip| format!("{{title: \"😀 {{{{ i }}}} {clip}\"}}"));
            format!(
                "{HEAD}matrix: {{i: {{from: 1, to: {}}}}}\nshots: [{{id: a}}]\nfilm: {{output: \"f{{{{ i }}}}.mp4\", shots: [{clips}]}}\n",
                sized(100)
            )
        }),
        case("deep-conditions", {
            let when = joined(3_000, " and ", |_| "i > 0".to_owned());
            format!("{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, when: \"{when}\"}}]\n")
        }),
        case("a-long-prompt-of-every-instance", {
            let prompt = "a pier in the rain ".repeat(3_000);
            format!(
                "{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, seed: \"{{{{ i }}}}\", prompt: \"{prompt}\"}}]\n"
            )
        }),
        case("large-defaults-of-many-shots", {
            let text = "y".repeat(1_000_000 / scale);
            let shots = joined(sized(10_000), ", ", |shot| format!("{{id: s{shot}, seed: {shot}}}"));
            format!(
                "version: 1\ndefaults: {{model: modela-video-2-0-260128, prompt: \"{text}\", metadata: {{note: \"{text}\"}}}}\nshots: [{shots}]\n"
            )
        }),
        case("large-metadata-with-one-template", {
            let list = joined(sized(40_000), ", ", |item| format!("{}", item % 10));
            format!(
                "{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, metadata: {{list: [{list}], i: \"{{{{ i }}}}\"}}}}]\n"
            )
        }),
        case("long-prompts-of-all-instances", {
            let text = "z".repeat(3_000);
            format!(
                "{HEAD}params: {{long: {text}}}\nshots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, prompt: \"{{{{ long }}}}{{{{ i }}}}\"}}]\n"
            )
        }),
        case("long-parameters", {
            let (text, params) = (
                "z".repeat(60_000),
                joined(sized(40_000), ", ", |param| format!("p{param}: \"{{{{ long }}}}\"")),
            );
            format!("{HEAD}params: {{long: {text}, {params}}}\nshots: [{{id: a}}]\n")
        }),
        case("unknown-fields-of-every-instance", {
            let fields = joined(sized(30_000), ", ", |field| format!("f{field}: 1"));
            format!("{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, {fields}}}]\n")
        }),
        case("undefined-names-among-many-parameters", {
            let params = joined(sized(40_000), ", ", |param| format!("parameter{param}: 1"));
            let shots =
                joined(sized(1_000), ", ", |shot| format!("{{id: s{shot}, when: \"paramter{shot} == 1\"}}"));
            format!("{HEAD}params: {{{params}}}\nshots: [{shots}]\n")
        }),
        case("crossed-parents", {
            let side = sized(3_000);
            format!(
                "{HEAD}shots: [{{id: a, matrix: {{i: {{from: 1, to: {side}}}}}}}, {{id: b, continues: a, matrix: {{j: {{from: 1, to: {side}}}}}}}]\n"
            )
        }),
        case("steps-of-many-shots", {
            let shots = joined(sized(200), ", ", |shot| {
                format!("{{id: s{shot}, repeat: 100, seed: \"{{{{ step }}}}\"}}")
            });
            format!("{HEAD}matrix: {{i: {{from: 1, to: 5}}}}\nshots: [{shots}]\n")
        }),
        case("values-of-many-axes", {
            let axes = joined(16, ", ", |axis| format!("axis{axis}: [left, right]"));
            format!("{HEAD}shots: [{{id: a, matrix: {{{axes}}}}}]\n")
        }),
        case("chains-on-values-of-few-axes", {
            let axes = joined(sized(6_561).ilog(3) as usize, ", ", |axis| format!("axis{axis}: [a, b, c]"));
            let shots = joined(13, ", ", |shot| format!("{{id: s{}, continues: s{shot}}}", shot + 1));
            format!("{HEAD}shots: [{{id: s0, matrix: {{{axes}}}, seed: 1}}, {shots}]\n")
        }),
    ];
    let mut with_table = |name: &str, workflow: String, table: String| {
        cases.push(Expensive { table, ..case(name, workflow) });
    };
    with_table(
        "table-of-60-columns-on-10-seeds",
        format!(
            "{HEAD}shots: [{{id: a, matrix: {{row: {{csv: t.csv}}, s: {{from: 1, to: 10}}}}, prompt: \"{{{{ row.a7 }}}} {{{{ s }}}}\", when: \"row.a3 != 'x'\"}}]\n"
        ),
        table(sized(9_999), 60),
    );
    with_table(
        "table-of-single-characters",
        format!("{HEAD}shots: [{{id: a, matrix: {{row: {{csv: t.csv}}}}, prompt: \"{{{{ row.a7 }}}}\"}}]\n"),
        format!(
            "{}\n{}",
            joined(200, ",", |column| format!("a{column}")),
            joined(sized(9_999), "\n", |_| vec!["x"; 200].join(","))
        ),
    );
    with_table(
        "table-of-many-shots",
        format!(
            "{HEAD}shots: [{}]\n",
            joined(sized(3_000), ", ", |shot| format!(
                "{{id: s{shot}, matrix: {{row: {{csv: t.csv}}, k: [1], exclude: [{{k: 1}}], include: [{{k: 2}}]}}}}"
            ))
        ),
        table(sized(9_999), 20),
    );
    for (name, code) in [
        ("searches-in-a-long-text", "'zq' in t".to_owned()),
        ("long-texts-joined-and-searched", format!("'b' in {}", vec!["t"; 240].join("~"))),
        ("a-long-text-before-many", format!("'b' in t~{}", vec!["k"; 240].join("~"))),
        ("characters-sorted", "t|list|unique|sort|length == 1".to_owned()),
        ("letters-raised", "t|title|upper|length == 1".to_owned()),
        ("a-long-text-reversed", "t[::-1][0] == 'b'".to_owned()),
        ("a-long-list-sorted", "range(100000)|list|sort|length == 1".to_owned()),
    ] {
        let text = "é".repeat(sized(15_000));
        cases.push(case(
            name,
            format!("{HEAD}params: {{t: {text}}}\nshots: [{{id: a, matrix: {{i: {{from: 1, to: {cells}}}}}, prompt: \"{{% for k in range(3000) %}}{{% if {code} %}}{{% endif %}}{{% endfor %}}{{{{ i }}}}\"}}]\n"),
        ));
    }
    let rows = sized(2_000);
    let text = table(rows, 2).replace('\n', "\\n");
    cases.push(case(
        "table-parsed-by-every-instance",
        format!("{HEAD}params: {{table: \"{text}\"}}\nshots: [{{id: a, matrix: {{i: {{from: 1, to: {rows}}}}}, prompt: \"{{{{ (table | csv)[i - 1].a1 }}}}\"}}]\n"),
    ));
    cases
}

/// A source of choices: the bytes of a fuzzer, or of a pseudo-random generator.
pub(crate) struct Choices<'b> {
    bytes: &'b [u8],
    position: usize,
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// A number below `bound`; 0 once the bytes are used up.
    fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.position).copied().unwrap_or_default();
        self.position += 1;
        usize::from(byte) % bound.max(1)
    }

    /// A size: the powers of ten up to `max`, and what is near them.
    fn size(&mut self, max: usize) -> usize {
        let power = 10_usize.pow(self.below(6) as u32);
        (power * (1 + self.below(9))).clamp(1, max)
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A random file: shots with matrices, references and templates of any size.
pub(crate) fn random(choices: &mut Choices<'_>, scale: usize) -> Expensive {
    const EXPRESSIONS: [&str; 8] = [
        "i",
        "j | default('x')",
        "shot ~ take",
        "(table | csv)[0].a0",
        "row.a0 | default('x')",
        "looks[shot] | default('y')",
        "i * 2 * 3.5",
        "'%s %05d' | format(shot, take)",
    ];
    let sized = |size: usize| (size / scale).max(1);
    let axes = |choices: &mut Choices<'_>| {
        let mut parts = Vec::new();
        for axis in ["i", "j", "k"].into_iter().take(choices.below(4)) {
            parts.push(format!("{axis}: {{from: 1, to: {}}}", sized(choices.size(100_000))));
        }
        if choices.below(4) == 0 {
            parts.push("row: {csv: t.csv}".to_owned());
        }
        for rule in ["include", "exclude"] {
            let count = choices.size(1_000) - 1;
            if count > 0 && choices.below(2) == 0 {
                let axis = choices.pick(&["i", "j", "k"]);
                let second_axis = if rule == "include" { choices.pick(&["x", "y", "i"]) } else { axis };
                let rules = joined(sized(count), ", ", |index| {
                    if axis == second_axis {
                        format!("{{{axis}: {index}}}")
                    } else {
                        format!("{{{axis}: {index}, {second_axis}{index}: 1}}")
                    }
                });
                parts.push(format!("{rule}: [{rules}]"));
            }
        }
        format!("{{{}}}", parts.join(", "))
    };
    let mut text = String::from(HEAD);
    let _ = writeln!(
        text,
        "params: {{table: \"{}\", looks: {{s0: noir}}}}",
        table(sized(choices.size(3_000)), 3).replace('\n', "\\n")
    );
    if choices.below(4) == 0 {
        let _ = writeln!(text, "matrix: {}", axes(choices));
    }
    text.push_str("shots:\n");
    let shots = if choices.below(3) == 0 { sized(choices.size(5_000)) } else { 1 + choices.below(8) };
    for shot in 0..shots {
        let _ = writeln!(text, "  - id: s{shot}");
        let before = |choices: &mut Choices<'_>| {
            let id = if shot < 2 { 0 } else { shot - 1 - choices.below(shot.min(3)) };
            match choices.below(4) {
                0 => format!("s{id}@i=1"),
                1 => format!("s{id}@j=2"),
                _ => format!("s{id}"),
            }
        };
        if shot == 0 || choices.below(6) == 0 {
            let _ = writeln!(text, "    matrix: {}", axes(choices));
        }
        if shot > 0 {
            match choices.below(6) {
                0 => {
                    let _ = writeln!(text, "    continues: {}", before(choices));
                }
                1 => {
                    let _ = writeln!(text, "    needs: [{}, {}]", before(choices), before(choices));
                }
                2 => {
                    let _ = writeln!(text, "    references: [{{shot: {}}}]", before(choices));
                }
                3 => {
                    let _ = writeln!(text, "    first_frame: {{shot: {}}}", before(choices));
                }
                _ => {}
            }
        }
        if choices.below(3) == 0 {
            let count = sized(choices.size(1_000));
            let code = choices.pick(&EXPRESSIONS);
            let prompt = if choices.below(2) == 0 {
                joined(count, " ", |_| format!("{{{{ {code} }}}}"))
            } else {
                format!("{{% for n in range({count}) %}}{{{{ {code} }}}}{{% endfor %}}")
            };
            let _ = writeln!(text, "    prompt: \"{prompt}\"");
        }
        if choices.below(8) == 0 {
            let _ = writeln!(text, "    takes: {}", 1 + choices.below(100));
        }
        if choices.below(8) == 0 {
            let _ = writeln!(
                text,
                "    when: \"{}\"",
                joined(sized(choices.size(1_000)).min(100), " or ", |_| "i == 1".to_owned())
            );
        }
    }
    if choices.below(3) == 0 {
        text.push_str("film: {}\n");
    }
    let columns = 1 + choices.below(60);
    Expensive { table: table(sized(choices.size(9_999)), columns), ..case("random", text) }
}
