//! `ocmemd status --json` keeps to its schema, tells the truth and exits accordingly, whatever the state.

use std::fs;

use ocmemd::wire::methods::{Method, ReindexParams, ReindexResult};
use ocmemd::wire::schema;
use ocmemd::wire::status::{AdviceCode, State, Status};
use serde_json::Value;

use crate::support::{Home, Running};

/// Runs `status --json`, checks it against the schema, and gives its exit code and what it says.
fn status(home: &Home) -> (Option<i32>, Status) {
    let output = home.run(&["status", "--json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let value: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let schema = &schema::for_method(Method::Status)["result"];
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}: {said}");
    (output.status.code(), serde_json::from_value(value).unwrap())
}

fn codes(status: &Status) -> Vec<AdviceCode> {
    status.advice.iter().map(|advice| advice.code).collect()
}

async fn reindex(running: &Running) {
    let _: ReindexResult = running.call(Method::Reindex, ReindexParams::default()).await;
}

#[test]
fn nobody_running() {
    let (code, status) = status(&Home::new());
    assert_eq!(
        (code, status.state, codes(&status)),
        (Some(3), State::NotRunning, vec![AdviceCode::NotRunning])
    );
    assert!(status.daemon.is_none());
}

#[tokio::test]
async fn no_model_with_a_queue() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", "- 备份脚本放在 ~/bin/backup.sh\n- 网关端口 18080\n");
    let running = home.start();
    reindex(&running).await;
    let (code, status) = status(&home);
    assert_eq!((code, status.state), (Some(4), State::Degraded));
    assert!(codes(&status).contains(&AdviceCode::NoModel), "{:?}", status.advice);
    let daemon = status.daemon.unwrap();
    assert_eq!((daemon.memories.indexed, daemon.memories.waiting), (2, 2));
    assert_eq!((daemon.workspaces[0].entries_on_disk, daemon.workspaces[0].entries_indexed), (2, 2));
    assert!(daemon.model.is_none() && daemon.legs.iter().any(|leg| !leg.works));
}

#[tokio::test]
async fn a_missing_workspace() {
    let home = Home::new();
    fs::remove_dir_all(home.workspace()).unwrap();
    let running = home.start();
    reindex(&running).await;
    let (code, status) = status(&home);
    assert_eq!(code, Some(4));
    assert!(codes(&status).contains(&AdviceCode::WorkspaceUnreachable), "{:?}", status.advice);
}

#[tokio::test]
async fn all_well() {
    let Some(home) = Home::with_model() else { return };
    home.note("memory/2026-03-02.md", "- 备份脚本放在 ~/bin/backup.sh\n");
    let running = home.start();
    running.settled().await;
    let (code, status) = status(&home);
    assert_eq!((code, status.state, status.advice.as_slice()), (Some(0), State::Ok, [].as_slice()));
    let daemon = status.daemon.unwrap();
    assert_eq!((daemon.memories.indexed, daemon.memories.waiting), (1, 0));
    assert!(daemon.legs.iter().all(|leg| leg.works));
    assert_eq!(daemon.model.unwrap().dimension, 384);
}

#[test]
fn a_dimension_that_is_not_the_models_is_refused_with_both_numbers() {
    let Some(home) = Home::with_model() else { return };
    let model = std::env::var("OCMEMD_TEST_MODEL").unwrap();
    home.configure(&format!("[long_term]\nvector_dim = 768\n[storage]\nembedding_model = {model:?}\n"));
    let refused = home.run(&["daemon"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("768") && said.contains("384"), "{said}");
}

#[test]
fn a_broken_configuration_names_its_line() {
    let home = Home::new();
    home.configure("[long_term]\ntop_k = 5\nmin_scor = 0.5\n");
    let refused = home.run(&["daemon"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(said.contains("config.toml:3") && said.contains("min_score"), "{said}");
}
