use super::*;
use crate::clock::Zone;

struct Home {
    _folder: tempfile::TempDir,
    paths: Paths,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = |name: &str| (name == "HOME").then(|| OsString::from("/家"));
        let paths = Paths::resolve(Some(folder.path()), &env).unwrap();
        Self { _folder: folder, paths }
    }

    fn load(&self, text: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, ConfigError> {
        fs::write(&self.paths.config_file, text).unwrap();
        let sources = Sources {
            file: None,
            env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            flags: flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        };
        Config::load(&self.paths, &sources)
    }

    /// The message of a broken file, without the folder.
    fn error(&self, text: &str) -> String {
        let message = self.load(text, &[], &[]).unwrap_err().to_string();
        message.replace(&format!("{}/", self.paths.config_file.parent().unwrap().display()), "")
    }
}

#[test]
fn the_rules_know_exactly_the_keys_of_the_types() {
    let keys = serde_json::to_value(Raw::default()).unwrap();
    let mut typed: Vec<String> = keys
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(section, keys)| {
            keys.as_object().unwrap().keys().map(move |key| format!("{section}.{key}"))
        })
        .collect();
    let mut ruled: Vec<String> = rules::RULES.iter().map(|(key, _)| (*key).to_owned()).collect();
    typed.sort();
    ruled.sort();
    assert_eq!(typed, ruled);
}

#[test]
fn the_shipped_file_holds_every_key_with_its_default() {
    let text = include_str!("../../config/ocmemd.toml");
    assert_eq!(toml::from_str::<Raw>(text).unwrap(), Raw::default());
    let mut section = String::new();
    let mut named = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches("# ");
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_matches(['[', ']']).to_owned();
        } else if let Some((key, _)) = line.split_once(" = ").filter(|(key, _)| !key.contains(' ')) {
            named.push(format!("{section}.{key}"));
        }
    }
    let workspace_keys = rules::WORKSPACE_KEYS.map(|key| format!("workspace.{key}"));
    let expected: Vec<String> =
        rules::RULES.iter().map(|(key, _)| (*key).to_owned()).chain(workspace_keys).collect();
    assert_eq!(named, expected);
}

#[test]
fn the_defaults_stand_where_no_file_is() {
    let home = Home::new();
    let config = Config::load(&home.paths, &Sources::default()).unwrap();
    assert!(config.workspaces.is_empty());
    assert_eq!(config.zone, Zone::System);
    assert_eq!(config.storage.sqlite_path, home.paths.state_dir.join("ocmemd.db"));
    assert_eq!(config.storage.embedding_model, EmbeddingModel::Hub("BAAI/bge-small-zh-v1.5".to_owned()));
    assert!(config.settings.iter().all(|setting| setting.origin == Origin::Default));
}

#[test]
fn a_file_that_was_named_must_exist() {
    let home = Home::new();
    let sources = Sources { file: Some(home.paths.state_dir.join("无.toml")), ..Sources::default() };
    assert!(matches!(Config::load(&home.paths, &sources).unwrap_err().problems[..], [Problem::Read(..)]));
}

#[test]
fn flag_beats_environment_beats_file_beats_default() {
    let home = Home::new();
    let file = "[long_term]\ntop_k = 6\nmin_score = 1\n[time]\nzone = \"Asia/Shanghai\"\n";
    let env = [
        ("OCMEMD_LONG_TERM__TOP_K", "7"),
        ("OCMEMD_CONTEXT__INJECT_MEMORY", "false"),
        ("OCMEMD_LOG", "debug"),
    ];
    let origin = |config: &Config, key: &str| {
        config
            .settings
            .iter()
            .find(|setting| setting.key == key)
            .map(|setting| setting.origin.clone())
            .unwrap()
    };

    let config = home.load(file, &env, &[("long_term.top_k", "8")]).unwrap();
    assert_eq!(config.long_term.top_k, 8);
    assert_eq!(origin(&config, "long_term.top_k"), Origin::Flag);
    assert!(!config.context.inject_memory);

    let config = home.load(file, &env, &[]).unwrap();
    assert_eq!(config.long_term.top_k, 7);
    assert_eq!(origin(&config, "long_term.top_k"), Origin::Env("OCMEMD_LONG_TERM__TOP_K".to_owned()));

    let config = home.load(file, &[], &[]).unwrap();
    assert_eq!((config.long_term.top_k, config.long_term.min_score), (6, 1.0));
    assert_eq!(origin(&config, "long_term.top_k"), Origin::File(home.paths.config_file.clone(), 2));
    assert_eq!(config.zone, Zone::Fixed(chrono_tz::Asia::Shanghai));
    assert_eq!(origin(&config, "recall.time"), Origin::Default);
}

#[test]
fn workspaces_are_absolute_and_have_owners() {
    let home = Home::new();
    let file = "[[workspace]]\npath = \"~/笔记\"\n[[workspace]]\npath = \"/b\"\nowner = \"小明\"\n";
    let config = home.load(file, &[], &[]).unwrap();
    let found: Vec<_> =
        config.workspaces.iter().map(|w| (w.path.to_str().unwrap(), w.owner.as_str())).collect();
    assert_eq!(found, [("/家/笔记", "owner"), ("/b", "小明")]);
}

#[test]
fn every_mistake_names_file_line_key_and_what_is_allowed() {
    let home = Home::new();
    let table: &[(&str, &[&str])] = &[
        (
            "# 注释\n[long_term]\ntopk = 5\n",
            &[
                "config.toml:3: there is no key `long_term.topk` (did you mean `long_term.top_k`?)",
                "allowed: long_term.top_k, long_term.min_score,",
            ],
        ),
        (
            "[longterm]\ntop_k = 5\n",
            &["config.toml:1:", "did you mean `long_term`?", "allowed: workspace, time,"],
        ),
        ("top_k = 5\n", &["config.toml:1: there is no key `top_k`"]),
        (
            "[long_term]\n\ntop_k = \"五\"\n",
            &["config.toml:3: `long_term.top_k` is \"五\"; allowed: a whole number from 1 to 100"],
        ),
        ("[long_term]\ntop_k = 0\n", &["config.toml:2: `long_term.top_k` is 0;"]),
        ("[long_term]\nmin_score = nan\n", &["config.toml:2:", "is nan; allowed: a number from 0 to 1"]),
        ("[recall]\nvector_weight = -0.1\n", &["config.toml:2: `recall.vector_weight` is -0.1;"]),
        ("[recall]\nvector_weight = 0\nkeyword_weight = 0\n", &["config.toml:2:", "allowed: a sum of"]),
        ("[short_term]\nmax_tokens = 1000\n", &["default: `short_term.summary_threshold` is 3000;"]),
        (
            "[time]\nzone = \"北京\"\n",
            &["config.toml:2: `time.zone` is \"北京\"; allowed: \"system\" or a zone"],
        ),
        ("[watch]\nreconcile = \"*/10 * * * *\"\n", &["config.toml:2: `watch.reconcile`", "six cron fields"]),
        ("[watch]\nreconcile = \"0 99 * * * *\"\n", &["config.toml:2: `watch.reconcile`"]),
        (
            "[schedule]\n\nrollup = \"每周日\"\n",
            &["config.toml:3: `schedule.rollup` is \"每周日\"", "six cron fields"],
        ),
        ("[schedule]\nsweep = \"0 0 0 30 2 *\"\n", &["config.toml:2: `schedule.sweep`", "0 59 23 * * SUN"]),
        ("[storage]\nvector_db = \"faiss\"\n", &["is \"faiss\"; allowed: \"sqlite-vec\""]),
        ("[[workspace]]\nowner = \"a\"\n", &["config.toml:1: [[workspace]]: missing field `path`"]),
        ("[[workspace]]\npath = \"笔记\"\n", &["config.toml:1: `workspace.path`", "absolute path"]),
        (
            "[[workspace]]\npath = \"/a\"\n[[workspace]]\npath = \"/a\"\n",
            &["config.toml:3:", "each folder once"],
        ),
        (
            "[[workspace]]\npath = \"/a\"\nowner = \"../b\"\n",
            &["`workspace.owner` is \"../b\"", "path separators"],
        ),
        (
            "[[workspace]]\npath = \"/a\"\nuser = \"b\"\n",
            &["config.toml:3: there is no key `workspace.user`", "allowed: workspace.path, workspace.owner"],
        ),
        ("[workspace]\npath = \"/a\"\n", &["config.toml:1: `workspace` is", "[[workspace]]"]),
        ("long_term = 5\n", &["config.toml:1: `long_term` is 5; allowed: a section [long_term]"]),
        ("[long_term]\ntop_k = 99999999999999999999\n", &["config.toml:2: `long_term.top_k`"]),
        ("[long_term]\n\ntop_k = \n", &["config.toml:3: "]),
        ("[long_term]\ntop_k = 5\ntop_k = 6\n", &["config.toml:3: duplicate key"]),
    ];
    for (text, parts) in table {
        let message = home.error(text);
        for part in *parts {
            assert!(message.contains(part), "{text}\n{message}\nlacks: {part}");
        }
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let home = Home::new();
    let error = home
        .load(
            "[long_term]\ntop_k = 0\ntopk = 1\n",
            &[("OCMEMD_RECALL__TIMES", "asked")],
            &[("recall.time", "never")],
        )
        .unwrap_err();
    let text = error.to_string();
    assert_eq!(error.problems.len(), 4, "{text}");
    assert!(text.contains("OCMEMD_RECALL__TIMES: there is no key `recall.times`"), "{text}");
    assert!(text.contains("--set: `recall.time` is \"never\"; allowed: \"asked\" or \"recency\""), "{text}");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_make_no_difference() {
    let home = Home::new();
    let config = home.load("\u{feff}[long_term]\r\ntop_k = 6\r\n", &[], &[]).unwrap();
    assert_eq!(config.long_term.top_k, 6);
}

#[test]
fn the_first_file_is_read_back_and_never_overwritten() {
    let home = Home::new();
    let workspaces = [Workspace { path: "/笔记/\"a\"".into(), owner: UserId::new("小明").unwrap() }];
    Config::write_initial(&home.paths.config_file, &workspaces).unwrap();
    let config = Config::load(&home.paths, &Sources::default()).unwrap();
    assert_eq!(config.workspaces, workspaces);
    assert!(config.settings.iter().all(|setting| setting.origin == Origin::Default));
    assert!(Config::write_initial(&home.paths.config_file, &[]).is_err());
}

#[test]
fn a_further_workspace_is_added_to_blocks_and_to_an_inline_list() {
    let home = Home::new();
    let file = &home.paths.config_file;
    let added = Workspace { path: "/新".into(), owner: UserId::new("小明").unwrap() };
    for text in ["# 我的\n", "[[workspace]]\npath = \"/a\" # 旧\n", "workspace = [{ path = \"/a\" }] # 旧\n"]
    {
        fs::write(file, text).unwrap();
        Config::add_workspace(file, &added).unwrap();
        let config = Config::load(&home.paths, &Sources::default()).unwrap();
        assert_eq!(config.workspaces.last(), Some(&added), "{text}");
        assert_eq!(config.workspaces.len(), 1 + text.matches("/a").count());
        assert!(fs::read_to_string(file).unwrap().contains(if text.contains('旧') {
            "# 旧"
        } else {
            "# 我的"
        }));
    }
}

#[test]
fn another_model_leaves_the_rest_of_the_file_alone() {
    let home = Home::new();
    let file = &home.paths.config_file;
    fs::write(file, "# 我的\n[storage] # 库\nsqlite_path = \"x.db\" # 留\n\n[long_term]\ntop_k = 6\n")
        .unwrap();
    Config::set_embedding_model(file, "/模型/e5").unwrap();
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(
        text,
        "# 我的\n[storage] # 库\nsqlite_path = \"x.db\" # 留\nembedding_model = \"/模型/e5\"\n\n[long_term]\ntop_k = 6\n"
    );
    let config = Config::load(&home.paths, &Sources::default()).unwrap();
    assert_eq!(config.storage.embedding_model, EmbeddingModel::Folder("/模型/e5".into()));
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);

    fs::write(file, "").unwrap();
    Config::set_embedding_model(file, "a/b").unwrap();
    assert!(Config::load(&home.paths, &Sources::default()).is_ok());
    fs::write(file, "[storage\n").unwrap();
    assert!(Config::set_embedding_model(file, "a/b").unwrap_err().to_string().contains("config.toml:1"));
}
