//! Examples of every command, shown at the end of its help and in its man page.

use clap::Command;

/// Command lines with what each is for.
struct Examples {
    /// The names of the command and its subcommands: `serve keys`.
    command: &'static str,
    lines: &'static [(&'static str, &'static str)],
}

const EXAMPLES: &[Examples] = &[
    Examples {
        command: "run",
        lines: &[
            (
                "Render what has no video yet, and spend at most 10",
                "runner run storyboard.yaml --max-cost 10",
            ),
            ("Render again what failed last time", "runner run storyboard.yaml --failed"),
        ],
    },
    Examples {
        command: "status",
        lines: &[
            ("Follow a run from another terminal", "runner status storyboard.yaml --watch"),
            ("For programs: one JSON object per line", "runner status --format ndjson"),
        ],
    },
    Examples {
        command: "plan",
        lines: &[
            ("What a run would submit, and what it would cost", "runner plan storyboard.yaml"),
            (
                "The exact requests, with another value of a parameter",
                "runner plan storyboard.yaml -p look=noir --requests",
            ),
        ],
    },
    Examples {
        command: "init",
        lines: &[
            ("Create storyboard.yaml with six shots", "runner init"),
            ("Create a chain of four shots", "runner init harbor.yaml --kind chain --shots 4"),
        ],
    },
    Examples {
        command: "import",
        lines: &[
            ("Create a workflow from a shot list", "runner import shots.csv --output storyboard.yaml"),
            (
                "Show what an editor's cut would change in the film",
                "runner import cut.otio --into storyboard.yaml --dry-run",
            ),
        ],
    },
    Examples {
        command: "explain",
        lines: &[
            ("Why shots would be rendered again", "runner explain storyboard.yaml"),
            ("What a code means, and how to fix it", "runner explain unknown-key"),
        ],
    },
    Examples {
        command: "check",
        lines: &[
            (
                "Validate every workflow of a folder",
                "runner check workflows/storyboard.yaml workflows/sweep.yaml",
            ),
            (
                "In GitHub Actions: annotations, and warnings are errors",
                "runner check storyboard.yaml --format github --deny-warnings",
            ),
        ],
    },
    Examples {
        command: "pick",
        lines: &[
            ("List the candidates", "runner pick storyboard.yaml"),
            ("Pick the second take of a shot", "runner pick storyboard.yaml lamp 2"),
        ],
    },
    Examples {
        command: "rate",
        lines: &[
            ("Rate the second take of a shot", "runner rate storyboard.yaml lamp#2 4"),
            ("Reject it", "runner rate storyboard.yaml lamp#2 reject"),
        ],
    },
    Examples {
        command: "edit",
        lines: &[
            (
                "Show the difference and its cost first",
                "runner edit storyboard.yaml lamp --prompt \"the lamp flickers\" --dry-run",
            ),
            ("Try another seed", "runner edit storyboard.yaml lamp --seed 8"),
        ],
    },
    Examples {
        command: "view",
        lines: &[
            ("Look at all clips and films", "runner view storyboard.yaml"),
            ("Write the page without opening it", "runner view storyboard.yaml --no-open"),
        ],
    },
    Examples {
        command: "ui",
        lines: &[
            ("Open the live page", "runner ui storyboard.yaml"),
            ("Without a browser on this machine", "runner ui storyboard.yaml --no-open"),
        ],
    },
    Examples {
        command: "export",
        lines: &[
            ("For DaVinci Resolve and other editors", "runner export storyboard.yaml --otio"),
            (
                "One of several films for an editing program",
                "runner export storyboard.yaml --film trailer.mp4 --video prores",
            ),
        ],
    },
    Examples {
        command: "report",
        lines: &[
            ("A table of all shots in Markdown", "runner report storyboard.yaml"),
            (
                "Test results for a CI system",
                "runner report storyboard.yaml --format junit --output report.xml",
            ),
        ],
    },
    Examples {
        command: "ledger fetch",
        lines: &[
            ("Download the video of a task", "runner ledger fetch task_01J9Z3 --in storyboard.yaml"),
            ("Download everything that was paid for and is not here yet", "runner ledger fetch --all"),
        ],
    },
    Examples {
        command: "clean",
        lines: &[
            ("List files that are no longer needed", "runner clean storyboard.yaml"),
            ("Remove them", "runner clean storyboard.yaml --delete"),
        ],
    },
    Examples {
        command: "ledger adopt",
        lines: &[
            ("Record the videos that a lost ledger does not know", "runner ledger adopt storyboard.yaml"),
            (
                "Record a task of the service as that of a shot",
                "runner ledger adopt storyboard.yaml --task lamp=task_01J9Z3",
            ),
        ],
    },
    Examples {
        command: "resolve",
        lines: &[
            ("List submissions whose outcome is unknown", "runner resolve storyboard.yaml"),
            (
                "The service has accepted it as this task",
                "runner resolve storyboard.yaml lamp --adopt task_01J9Z3",
            ),
        ],
    },
    Examples {
        command: "services",
        lines: &[
            ("The models of a service", "runner services show ark"),
            ("What a saved answer says", "runner services check ark --answer saved.json"),
        ],
    },
    Examples {
        command: "schema",
        lines: &[
            ("For an editor that completes keys", "runner schema > workflow.schema.json"),
            ("Of the lines of `run --format ndjson`", "runner schema events"),
        ],
    },
    Examples {
        command: "serve",
        lines: &[
            ("Serve on this machine", "runner serve --data video-service"),
            (
                "Behind a TLS proxy",
                "runner serve --listen 127.0.0.1:8080 --public-url https://video.example.com",
            ),
        ],
    },
    Examples {
        command: "serve keys add",
        lines: &[
            ("Create a key and print it once", "runner serve keys add alice"),
            ("In another data folder", "runner serve keys add alice --data /var/lib/video-service"),
        ],
    },
    #[cfg(feature = "cluster")]
    Examples {
        command: "worker",
        lines: &[
            (
                "Execute runs, and register with Restate",
                "runner worker --engine http://restate:8080 --store file:///mnt --register http://restate:9070",
            ),
            (
                "Free the permits of the account",
                "runner worker --engine http://restate:8080 --store file:///mnt --reset-permits",
            ),
        ],
    },
    Examples {
        command: "completions",
        lines: &[
            ("For bash", "runner completions bash > ~/.local/share/bash-completion/completions/runner"),
            ("For zsh, in a folder of `$fpath`", "runner completions zsh > ~/.zfunc/_runner"),
        ],
    },
];

/// The command with examples at the end of the help of each subcommand that has some.
pub(crate) fn add_to(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, examples| {
        let path: Vec<&str> = examples.command.split(' ').collect();
        add(command, &path, &text(examples))
    })
}

fn add(command: Command, path: &[&'static str], text: &str) -> Command {
    match path {
        [] => {
            let notes = command.get_after_help().map(|notes| format!("{notes}\n\n")).unwrap_or_default();
            command.after_help(format!("{notes}{text}"))
        }
        [name, rest @ ..] => command.mut_subcommand(*name, |subcommand| add(subcommand, rest, text)),
    }
}

fn text(examples: &Examples) -> String {
    let lines = examples.lines.iter().map(|(purpose, line)| format!("  # {purpose}\n  {line}\n"));
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::arguments;

    use super::*;

    /// What a shell passes to the program: without redirections.
    fn split(line: &str) -> Vec<String> {
        let words = shlex::split(line).unwrap_or_else(|| panic!("{line}"));
        words.into_iter().take_while(|word| word != ">").collect()
    }

    #[test]
    fn examples_are_valid_command_lines_of_their_command() {
        for Examples { command, lines } in EXAMPLES {
            assert_eq!(lines.len(), 2, "{command}");
            for (purpose, line) in *lines {
                assert!(line.starts_with(&format!("runner {command}")), "{line}");
                assert!(!purpose.is_empty() && purpose.len() + 4 <= 100 && line.len() + 2 <= 100, "{line}");
                let parsed = arguments::parse(split(line).into_iter().map(Into::into).collect());
                parsed.unwrap_or_else(|error| panic!("{line}\n{error}"));
            }
        }
    }

    #[test]
    fn every_command_has_examples() {
        let with_examples: BTreeSet<&str> = EXAMPLES.iter().map(|examples| examples.command).collect();
        let command = arguments::command();
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            let name = subcommand.get_name();
            let has_some = with_examples.iter().any(|path| path.split(' ').next() == Some(name));
            assert!(has_some || name == "help", "`{name}` has no examples");
        }
    }
}
