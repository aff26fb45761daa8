//! The workflow for GitHub that users are shown.

use crate::support::{DEADLOCK, Folder, GOOD, finish};
use saphyr::{LoadableYamlNode, Yaml};
use std::path::Path;
use std::process::Command;

const TEXT: &str = include_str!("../../examples/github-workflow.yml");
/// The workflow that compiles kernels.
const OF_KERNELS: &str = include_str!("../../examples/kernels-workflow.yml");
/// The workflow of the crate that shows how protocols are tested.
const OF_A_CRATE: &str = include_str!("../../examples/attention/.github/workflows/barriers.yml");

fn workflow() -> Yaml<'static> {
    document(TEXT)
}

fn document(text: &'static str) -> Yaml<'static> {
    let mut documents = Yaml::load_from_str(text).expect("it is YAML");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn steps(workflow: &Yaml<'static>) -> Vec<Yaml<'static>> {
    let jobs = workflow["jobs"].as_mapping().expect("jobs have names");
    let of = |job: &Yaml<'static>| {
        assert!(job["runs-on"].as_str().is_some());
        job["steps"].as_vec().expect("a job has steps").clone()
    };
    jobs.iter().flat_map(|(_, job)| of(job)).collect()
}

fn value<'y>(step: &'y Yaml<'static>, key: &str) -> Option<&'y str> {
    step.as_mapping_get(key).and_then(Yaml::as_str)
}

fn step(uses: &str) -> Yaml<'static> {
    let is_it = |step: &Yaml<'static>| value(step, "uses").is_some_and(|name| name.starts_with(uses));
    steps(&workflow()).into_iter().find(is_it).expect(uses)
}

fn text<'y>(step: &'y Yaml<'static>, key: &str) -> &'y str {
    step["with"][key].as_str().unwrap_or_else(|| panic!("no {key}"))
}

#[track_caller]
fn has_the_parts_of_a_workflow(workflow: &Yaml<'static>, least_steps: usize) {
    let keys = workflow.as_mapping().expect("a mapping").keys();
    let keys: Vec<_> = keys.map(|key| key.as_str().expect("a text")).collect();
    assert_eq!(keys, ["name", "on", "permissions", "jobs"]);
    assert!(workflow["on"].as_mapping().is_some());
    let steps = steps(workflow);
    assert!(steps.len() >= least_steps);
    for step in &steps {
        let keys = step.as_mapping().expect("a mapping").keys().filter_map(|key| key.as_str());
        let keys: Vec<_> = keys.collect();
        assert_eq!(keys.iter().filter(|key| ["run", "uses"].contains(*key)).count(), 1, "{keys:?}");
        let known = ["name", "if", "uses", "run", "with", "env"];
        assert!(keys.iter().all(|key| known.contains(key)), "{keys:?}");
    }
}

#[test]
fn the_workflow_has_the_parts_that_a_workflow_has() {
    let workflow = workflow();
    has_the_parts_of_a_workflow(&workflow, 5);
    assert_eq!(workflow["permissions"]["security-events"].as_str(), Some("write"));
}

#[test]
fn the_workflow_of_the_example_crate_runs_its_tests_and_keeps_the_counterexamples() {
    let workflow = document(OF_A_CRATE);
    has_the_parts_of_a_workflow(&workflow, 3);
    let steps = steps(&workflow);
    assert!(steps.iter().any(|step| value(step, "run") == Some("cargo test")));
    let keeps = |step: &&Yaml<'static>| value(step, "if") == Some("failure()");
    assert_eq!(text(steps.iter().find(keeps).expect("a step after a failure"), "path"), "traces");
}

#[test]
fn reports_are_uploaded_from_violated_runs_too() {
    for uses in ["github/codeql-action/upload-sarif@", "actions/upload-artifact@"] {
        assert_eq!(value(&step(uses), "if"), Some("${{ !cancelled() }}"));
    }
}

/// The command that verifies, run as a runner would, in a repository of two protocols.
#[cfg(unix)]
#[test]
fn the_workflow_writes_what_it_uploads() {
    let steps = steps(&workflow());
    let mut commands = steps.iter().filter_map(|step| value(step, "run"));
    let verify = commands.find(|line| line.starts_with("barcheck verify")).expect("it verifies");
    let folder = Folder::new();
    std::fs::create_dir(folder.at("protocols")).expect("a folder can be made");
    folder.add("protocols/a.bar", GOOD);
    folder.add("protocols/b.bar", DEADLOCK);
    let binaries = Path::new(env!("CARGO_BIN_EXE_barcheck")).parent().expect("it is in a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    for (part, status) in [("1", 0), ("2", 1), ("3", 0)] {
        let line = verify.replace("${{ matrix.part }}", part).replace("${{ strategy.job-total }}", "3");
        assert!(!line.contains("${{"), "{line}");
        let mut shell = Command::new("sh");
        finish(shell.args(["-e", "-c", &line]).current_dir(folder.path()).env("PATH", &path)).expect(status);
        for uploaded in
            [text(&step("github/codeql-action/"), "sarif_file"), text(&step("actions/upload-a"), "path")]
        {
            assert!(std::fs::metadata(folder.at(uploaded)).is_ok_and(|file| file.len() > 0), "{uploaded}");
            std::fs::remove_file(folder.at(uploaded)).expect("it can be removed");
        }
    }
}

#[test]
fn the_book_shows_the_workflow_as_it_is() {
    let chapter = include_str!("../../book/src/ci.md");
    let block =
        chapter.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a workflow");
    let shown: Vec<_> = TEXT.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(block.lines().collect::<Vec<_>>(), shown);
}

/// What follows the compiler, run as a runner would.
#[cfg(unix)]
#[test]
fn the_workflow_of_kernels_verifies_and_gates_what_the_compiler_leaves() {
    let workflow = document(OF_KERNELS);
    has_the_parts_of_a_workflow(&workflow, 6);
    let steps = steps(&workflow);
    let lines = || steps.iter().filter_map(|step| value(step, "run"));
    assert!(lines().any(|line| line.contains("nvcc -ptx -lineinfo")));
    let folder = Folder::new();
    std::fs::create_dir(folder.at("ptx")).expect("a folder can be made");
    let kernel =
        ".version 8.0\n.target sm_90\n.visible .entry k() .reqntid 64\n{\n\tbar.sync 0;\n\tret;\n}\n";
    folder.add("ptx/k.ptx", kernel);
    let binaries = Path::new(env!("CARGO_BIN_EXE_barcheck")).parent().expect("it is in a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    for line in lines().filter(|line| line.starts_with("barcheck ")) {
        let mut shell = Command::new("sh");
        finish(shell.args(["-e", "-c", line]).current_dir(folder.path()).env("PATH", &path)).expect(0);
    }
    assert!(std::fs::metadata(folder.at("barcheck.sarif")).is_ok_and(|file| file.len() > 0));
    let uploads =
        |step: &&Yaml<'static>| value(step, "uses").is_some_and(|name| name.contains("upload-sarif"));
    let upload = steps.iter().find(uploads).expect("it uploads");
    assert_eq!(text(upload, "sarif_file"), "barcheck.sarif");
}
