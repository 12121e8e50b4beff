//! The rules of the house, checked on the source itself: imports point downwards, the clock is read in one place,
//! and no test file is forgotten.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The floors, lowest first. Modules of one floor do not import each other.
const FLOORS: [&[&str]; 7] = [
    &["clock", "fault", "paths", "checksum"],
    &["memory"],
    &["wire", "config", "telemetry"],
    &["store", "embed", "hub", "watch", "workspace", "schedule", "socket"],
    &["service", "client"],
    &["daemon"],
    &["cli"],
];

fn floor_of(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("src"), &mut found);
    assert!(found.len() > 10, "the sources were not found");
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The top-level module a source file belongs to; `None` for `lib.rs` and `main.rs`, which see everything.
fn module_of(path: &Path) -> Option<String> {
    let relative = path.strip_prefix(root().join("src")).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(module, "lib" | "main")).then(|| module.to_owned())
}

/// The top-level modules named by `crate::x` and `crate::{x, y}`, comments aside.
fn imports_of(text: &str) -> Vec<String> {
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let single = Regex::new(r"\bcrate::([a-z_]+)").unwrap();
    let group = Regex::new(r"\bcrate::\{([^;]*)\};").unwrap();
    let member = Regex::new(r"(?:^|,)\s*([a-z_]+)").unwrap();
    let mut found: Vec<String> = single.captures_iter(&code).map(|found| found[1].to_owned()).collect();
    for inside in group.captures_iter(&code) {
        let mut depth = 0;
        let outer: String = inside[1]
            .chars()
            .filter(|&c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth == 0
            })
            .collect();
        found.extend(member.captures_iter(&outer).map(|found| found[1].to_owned()));
    }
    found
}

#[test]
fn imports_point_downwards() {
    let mut wrong = Vec::new();
    let mut edges: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in sources() {
        let Some(module) = module_of(&path) else { continue };
        let own =
            floor_of(&module).unwrap_or_else(|| panic!("{module} stands on no floor: {}", path.display()));
        for imported in imports_of(&text) {
            let Some(floor) = floor_of(&imported) else { continue };
            *edges.entry(module.clone()).or_default() += 1;
            if imported != module && floor >= own {
                wrong.push(format!("{}: {module} (F{own}) imports {imported} (F{floor})", path.display()));
            }
        }
    }
    assert!(!edges.is_empty(), "no import was found: the check is blind");
    assert!(wrong.is_empty(), "imports must point downwards:\n{}", wrong.join("\n"));
}

#[test]
fn the_import_reader_sees_every_shape() {
    let text = "use crate::{\n    memory::{Scope, UserId},\n    store,\n};\nlet x = crate::embed::y;\n// crate::cli is only talk";
    assert_eq!(imports_of(text), ["embed", "memory", "store"]);
}

#[test]
fn the_wall_clock_is_read_in_one_place() {
    let clock = Regex::new(r"\b(Utc|Local|SystemTime)::now\b").unwrap();
    let readers: Vec<_> = sources()
        .into_iter()
        .filter(|(path, text)| !path.ends_with("src/clock.rs") && clock.is_match(text))
        .map(|(path, _)| path)
        .collect();
    assert!(readers.is_empty(), "only clock.rs reads the wall clock: {readers:?}");
}

#[test]
fn every_test_file_is_part_of_the_suite() {
    let main = fs::read_to_string(root().join("tests/suite/main.rs")).unwrap();
    for entry in fs::read_dir(root().join("tests/suite")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(
            name == "main" || main.contains(&format!("mod {name};")),
            "tests/suite/{name} is in no module of the suite"
        );
    }
}
