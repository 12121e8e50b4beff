//! What README shows is what the daemon takes.

use std::fs;
use std::path::Path;

use ocmemd::wire::methods::Method;
use ocmemd::wire::schema;
use serde_json::Value;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The lines of README's fences of that language.
fn fenced(language: &str) -> Vec<String> {
    let text = readme();
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        if fence {
            inside = !inside && *line == format!("```{language}");
        }
        inside && !fence
    });
    lines.map(str::to_owned).collect()
}

#[test]
fn every_method_has_an_example_that_its_schema_takes() {
    let examples: Vec<Value> =
        fenced("json").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for &method in Method::ALL {
        let schema = schema::for_method(method);
        let validator = jsonschema::validator_for(&schema["params"]).unwrap();
        let own: Vec<&Value> = examples.iter().filter(|example| example["method"] == method.name()).collect();
        assert!(!own.is_empty(), "README shows no {}", method.name());
        for example in own {
            let errors: Vec<String> =
                validator.iter_errors(&example["params"]).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{example}: {errors:?}");
        }
        assert!(readme().contains(&format!("`{}`", method.name())), "README's table lacks {}", method.name());
    }
}

#[test]
fn every_command_that_readme_shows_is_understood() {
    let commands: Vec<String> = fenced("sh").into_iter().filter(|line| line.starts_with("ocmemd ")).collect();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        let name = command.split_whitespace().nth(1).unwrap();
        let help =
            std::process::Command::new(env!("CARGO_BIN_EXE_ocmemd")).args([name, "--help"]).output().unwrap();
        assert!(help.status.success(), "README shows {name}, which ocmemd does not know");
    }
}
