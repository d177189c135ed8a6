//! Packages that refer to the archives of a release: a Homebrew formula and a PKGBUILD, from templates in packaging/.
//!
//! In a template, `@VERSION@`, `@REPOSITORY@`, `@FILE:TRIPLE@` and `@SHA256:TRIPLE@` are replaced. Lines between `#@ if TRIPLE` and `#@ end`
//! are left out if there is no archive of that target.

use std::path::Path;

/// Templates with the names of what is made of them.
const TEMPLATES: &[(&str, &str)] =
    &[("packaging/homebrew/runner.rb.in", "runner.rb"), ("packaging/arch/PKGBUILD.in", "PKGBUILD")];

/// Writes the packages; their names.
pub(super) fn write(
    root: &Path,
    out: &Path,
    version: &str,
    repository: &str,
    sums: &[(String, String)],
) -> Result<Vec<&'static str>, String> {
    for (template, name) in TEMPLATES {
        let text = fs_err::read_to_string(root.join(template)).map_err(|error| error.to_string())?;
        let filled =
            fill(&text, version, repository, sums).map_err(|error| format!("{template}: {error}"))?;
        fs_err::write(out.join(name), filled).map_err(|error| error.to_string())?;
    }
    Ok(TEMPLATES.iter().map(|(_, name)| *name).collect())
}

fn fill(
    template: &str,
    version: &str,
    repository: &str,
    sums: &[(String, String)],
) -> Result<String, String> {
    let mut out = String::new();
    let mut is_left_out = false;
    for line in template.lines() {
        if let Some(condition) = line.trim().strip_prefix("#@ ") {
            let start = condition.strip_prefix("if ").map(|triple| format!("runner-{version}-{triple}."));
            is_left_out = start.is_some_and(|start| !sums.iter().any(|(name, _)| name.starts_with(&start)));
        } else if !is_left_out {
            out.push_str(line);
            out.push('\n');
        }
    }
    out = out.replace("@VERSION@", version).replace("@REPOSITORY@", repository.trim_end_matches('/'));
    for (name, sum) in sums {
        let triple = name.trim_start_matches(&format!("runner-{version}-"));
        let triple = triple.trim_end_matches(".tar.gz").trim_end_matches(".zip");
        out = out.replace(&format!("@FILE:{triple}@"), name).replace(&format!("@SHA256:{triple}@"), sum);
    }
    match out.split_once("@SHA256:").or_else(|| out.split_once("@FILE:")) {
        Some((_, rest)) => {
            Err(format!("there is no archive of {}", rest.split('@').next().unwrap_or_default()))
        }
        None => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn templates_name_files_and_checksums_of_archives() {
        let sums = [(format!("runner-1.2.3-{LINUX}.tar.gz"), "abc".to_owned())];
        let template = "v @VERSION@\n#@ if x86_64-unknown-linux-gnu\n@REPOSITORY@/@FILE:x86_64-unknown-linux-gnu@ \
                        @SHA256:x86_64-unknown-linux-gnu@\n#@ end\n#@ if aarch64-apple-darwin\n\
                        @SHA256:aarch64-apple-darwin@\n#@ end\nend\n";
        let filled = fill(template, "1.2.3", "https://example.com/runner/", &sums).expect("filled");
        let archive = format!("https://example.com/runner/runner-1.2.3-{LINUX}.tar.gz abc");
        assert_eq!(filled, format!("v 1.2.3\n{archive}\nend\n"));
        assert!(fill("@SHA256:aarch64-apple-darwin@", "1.2.3", "x", &sums).is_err());
    }

    #[test]
    fn templates_of_the_repository_are_filled_for_any_set_of_targets() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
        let archives = |triples: &[&str]| -> Vec<(String, String)> {
            triples.iter().map(|triple| (format!("runner-1.2.3-{triple}.tar.gz"), "abc".to_owned())).collect()
        };
        for sums in [
            archives(&[LINUX]),
            archives(&[LINUX, "aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin"]),
        ] {
            for (template, _) in TEMPLATES {
                let text = fs_err::read_to_string(root.join(template)).expect("a template");
                let filled = fill(&text, "1.2.3", "https://example.com/runner", &sums).expect(template);
                assert!(!filled.contains('@') || *template == "packaging/arch/PKGBUILD.in", "{filled}");
                for (name, _) in &sums {
                    let is_mac = name.contains("apple");
                    assert!(
                        filled.contains(name) || (is_mac && template.contains("arch")),
                        "{name} in {filled}"
                    );
                }
                assert!(!filled.contains("#@") && !filled.contains("@SHA256"), "{filled}");
            }
        }
    }
}
