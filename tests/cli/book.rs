//! The guide: each chapter is run in a folder of its own, and prints what the page shows.
//!
//! In a page, a block `yaml file=NAME`, or `csv file=NAME`, is a file of the chapter's folder. In a block `console`, lines that begin with `$ ` are commands,
//! before which variables may be set, and the lines below are all that a command prints: first standard error, then standard output, without blank lines. A line `…` stands
//! for any number of lines. `console exit=N` says that the block's last command ends with that code.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

use crate::command_ends::listed_commands;
use crate::support::transcript::{normalize_columns, redact};
use crate::support::{Output, Project};

/// The chapters that are run.
const CHAPTERS: [&str; 7] = ["chains", "sweeps", "takes", "patterns", "money", "services", "teams"];

/// A command of a chapter with what it prints.
#[derive(Debug, Default)]
struct Step {
    command: String,
    expected: Vec<String>,
    exit: i32,
}

#[test]
fn chapters_print_what_they_show() {
    std::thread::scope(|scope| {
        for chapter in CHAPTERS {
            scope.spawn(move || run_chapter(chapter));
        }
    });
}

fn run_chapter(chapter: &str) {
    let page =
        fs_err::read_to_string(crate::support::program::root().join(format!("docs/guide/{chapter}.md")))
            .expect("the chapter");
    let project = Project::new("unused", "");
    let mut commands = 0;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```").filter(|fence| !fence.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some((_, name)) = fence.split_once(" file=") {
            let file = project.file(name);
            fs_err::create_dir_all(file.parent().expect("a folder")).expect("the folder can be made");
            fs_err::write(file, block.join("\n") + "\n").expect("the folder can be written");
        } else if let Some(rest) = fence.strip_prefix("console") {
            let exit =
                rest.trim().strip_prefix("exit=").map_or(0, |code| code.parse().expect("an exit code"));
            for step in steps(&block, exit) {
                run_step(chapter, &project, &step);
                commands += 1;
            }
        }
    }
    assert!(commands > 1, "{chapter} runs no command");
}

fn steps(block: &[&str], exit: i32) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block {
        match line.strip_prefix("$ ") {
            Some(command) => steps.push(Step { command: command.to_owned(), ..Step::default() }),
            None => {
                steps.last_mut().expect("a command comes first").expected.push((*line).to_owned());
            }
        }
    }
    steps.last_mut().expect("a block has a command").exit = exit;
    steps
}

fn run_step(chapter: &str, project: &Project, step: &Step) {
    let words = shlex::split(&step.command).expect("a command line");
    let variables: Vec<(&str, &str)> = words.iter().map_while(|word| word.split_once('=')).collect();
    let arguments: Vec<&str> = words[variables.len()..].iter().map(String::as_str).collect();
    assert_eq!(arguments[0], "runner", "{chapter}: {}", step.command);
    let mut command = project.command(&arguments[1..]);
    command.envs(variables);
    let output = Output::from_process(&command.output().expect("the program can be started"));
    assert_eq!(output.code, Some(step.exit), "{chapter}: {}\n{}", step.command, output.transcript());
    let printed = comparable(&format!("{}{}", output.err, output.out));
    let expected = comparable(&step.expected.join("\n"));
    assert!(
        matches(&expected, &printed),
        "docs/guide/{chapter}.md: `{}` prints\n{}\nthe page shows\n{}",
        step.command,
        printed.join("\n"),
        expected.join("\n")
    );
}

/// The lines that are not blank, without what differs between runs.
fn comparable(text: &str) -> Vec<String> {
    let text = redact(&normalize_columns(text));
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// Whether `printed` is `expected`, in which `…` stands for any lines.
fn matches(expected: &[String], printed: &[String]) -> bool {
    let mut segments: VecDeque<&[String]> = expected.split(|line| line == "…").collect();
    let Some(first) = segments.pop_front() else { return printed.is_empty() };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    let Some(last) = segments.pop_back() else { return rest.is_empty() };
    for segment in segments {
        let Some(index) = (0..=rest.len()).find(|index| rest[*index..].starts_with(segment)) else {
            return false;
        };
        rest = &rest[index + segment.len()..];
    }
    rest.ends_with(last)
}

/// The commands that the pages quote, also those for projects that the pages do not have, are ones that the program takes.
#[test]
fn quoted_commands_are_understood() {
    let root = crate::support::program::root();
    let project = Project::new("unused", "");
    let pages = ["docs", "docs/guide"]
        .into_iter()
        .flat_map(|folder| fs_err::read_dir(root.join(folder)).expect("a folder"));
    let pages = pages.map(|entry| entry.expect("an entry").path());
    let pages = pages
        .filter(|page| page.extension().is_some_and(|ending| ending == "md"))
        // Its commands are in builds with the feature only.
        .filter(|page| cfg!(feature = "cluster") || !page.ends_with("cluster.md"))
        .chain([root.join("README.md")]);
    let commands: BTreeSet<Vec<String>> =
        pages.flat_map(|page| quoted_commands(&fs_err::read_to_string(page).expect("the page"))).collect();
    assert!(commands.len() > 50, "{}", commands.len());
    for command in commands {
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = project.runner(&arguments);
        assert_eq!(help.code, Some(0), "runner {}\n{}", command.join(" "), help.err);
    }
}

/// The arguments of the program in a page's blocks of commands.
fn quoted_commands(page: &str) -> Vec<Vec<String>> {
    let mut quoted = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.trim_start().strip_prefix("```").filter(|fence| !fence.is_empty()) else {
            continue;
        };
        let block = lines.by_ref().take_while(|line| line.trim() != "```");
        if !matches!(fence.split_whitespace().next(), Some("sh" | "console")) {
            block.for_each(drop);
            continue;
        }
        let prompt = if fence.starts_with("console") { "$ " } else { "" };
        let commands = block.filter_map(|line| line.trim_start().strip_prefix(prompt));
        // A comment is no command line where it has an apostrophe.
        let words =
            commands.filter_map(|command| shlex::split(command.split(" # ").next().unwrap_or(command)));
        for words in words.filter(|words| !words.is_empty()) {
            let without_variables: Vec<String> =
                words.into_iter().skip_while(|word| word.contains('=') && !word.starts_with('-')).collect();
            let program = match without_variables.first().map(String::as_str) {
                Some("runner") => 1,
                Some("cargo")
                    if without_variables
                        .get(1..4)
                        .is_some_and(|words| words == ["run", "--release", "--"]) =>
                {
                    4
                }
                _ => continue,
            };
            let ends =
                |word: &String| !matches!(word.as_str(), "|" | ">" | ">>" | "&&" | "||" | ";" | "2>" | "\\");
            quoted.push(without_variables[program..].iter().take_while(|word| ends(word)).cloned().collect());
        }
    }
    quoted
}

/// docs/commands.md: the help of every command.
#[test]
fn commands_page_is_the_help_of_every_command() {
    let project = Project::new("unused", "");
    let mut page = String::from(
        "# Commands\n\nWhat `runner COMMAND --help` prints. Exit codes and environment variables are at the end of the first one.\n",
    );
    add_help(&mut page, &project, &[]);
    let path = crate::support::program::root().join("docs/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs_err::write(&path, &page).expect("the page can be written");
    }
    let published = fs_err::read_to_string(&path).unwrap_or_default();
    assert!(published == page, "docs/commands.md is out of date: run this test with UPDATE_DOCS=1");
}

fn add_help(page: &mut String, project: &Project, command: &[&str]) {
    let help = project.runner(&[command, &["--help"]].concat()).expect(0).out;
    let name = ["runner"].iter().chain(command).copied().collect::<Vec<_>>().join(" ");
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = writeln!(page, "\n## {name}\n\n```text\n{}\n```", lines.join("\n").trim_end());
    for subcommand in listed_commands(&help) {
        add_help(page, project, &[command, &[subcommand]].concat());
    }
}

#[test]
fn ellipsis_matches_any_lines() {
    let lines = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for (expected, printed, is_match) in [
        ("a b", "a b", true),
        ("a b", "a b c", false),
        ("a … c", "a b b c", true),
        ("a … c", "a c", true),
        ("… b … d", "a b c d", true),
        ("… d … b", "a b c d", false),
        ("a …", "b", false),
        ("…", "", true),
        ("a", "", false),
    ] {
        assert_eq!(matches(&lines(expected), &lines(printed)), is_match, "{expected} and {printed}");
    }
}
