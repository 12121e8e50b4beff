//! A model's folder as sentence-transformers lays it out: what it says, whether it is whole, and who it is.

use std::fs;
use std::path::{Path, PathBuf};

use candle_transformers::models::bert::Config;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::EmbedError;
use crate::checksum::{self, Sums};

/// What the bge models for Chinese want before a query. Their folders do not say it, only their model card does.
const BGE_ZH_QUERY: &str = "为这个句子生成表示以用于检索相关文章：";

/// The weights, in the order of preference.
const WEIGHTS: [&str; 2] = ["model.safetensors", "model.gguf"];
const CONFIG: &str = "config.json";
const POOLING: &str = "1_Pooling/config.json";
const TOKENIZER: &str = "tokenizer.json";

/// How the vectors of a text's tokens become the text's vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The first token's.
    Cls,
    /// The mean of all.
    Mean,
}

/// Who a model is. Vectors of models with different hashes cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name, `owner/name` where the model tells it, else its folder's name.
    pub name: String,
    /// SHA-256 over everything that shapes a vector: weights, tokenizer, configuration, pooling, prompts, length.
    pub hash: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// The longest text it reads at once, in tokens.
    pub max_tokens: usize,
    /// Where it came from.
    pub source: String,
}

/// What is put before a text, by what the text is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Prompts {
    pub(super) query: String,
    pub(super) passage: String,
}

/// A model's folder, read and found whole.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    pub(super) config: Config,
    pub(super) pooling: Pooling,
    pub(super) prompts: Prompts,
    pub(super) weights: PathBuf,
    pub(super) tokenizer: PathBuf,
    identity: Identity,
}

impl ModelFolder {
    /// Reads the folder at `path`: configuration, pooling, prompts; hashes the large files, and compares them with
    /// the folder's `SHA256SUMS` if it has one.
    ///
    /// # Errors
    /// [`EmbedError`] names the file that is missing, damaged or of a sort that is not supported.
    pub fn open(path: &Path) -> Result<Self, EmbedError> {
        let named: Named = json(&path.join(CONFIG))?;
        let config: Config = json(&path.join(CONFIG))?;
        check_architecture(path, &named, &config)?;
        let pooling = read_pooling(&path.join(POOLING), config.hidden_size)?;
        let folder_name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let prompts = read_prompts(path, &[&named.name_or_path, &folder_name])?;
        let max_tokens = read_max_tokens(path, config.max_position_embeddings)?;
        let weights = WEIGHTS
            .iter()
            .map(|name| path.join(name))
            .find(|file| file.exists())
            .ok_or_else(|| EmbedError::Missing(path.join("model.safetensors")))?;
        let tokenizer = path.join(TOKENIZER);

        let sums = Sums::read(path).map_err(|error| EmbedError::unreadable(path, error))?;
        let mut parts = Vec::new();
        for file in [&weights, &tokenizer, &path.join(CONFIG), &path.join(POOLING)] {
            parts.push(checked_hash(path, file, sums.as_ref())?);
        }
        parts.extend([prompts.query.clone(), prompts.passage.clone(), max_tokens.to_string()]);
        let identity = Identity {
            name: if is_repository(&named.name_or_path) { named.name_or_path } else { folder_name },
            hash: checksum::of_bytes(parts.join("\n").as_bytes()),
            dimension: config.hidden_size,
            max_tokens,
            source: sums.map_or_else(|| path.display().to_string(), |sums| sums.source),
        };
        Ok(Self { config, pooling, prompts, weights, tokenizer, identity })
    }

    /// Who the model is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }
}

/// The parts of `config.json` that candle's `Config` leaves out.
#[derive(Deserialize)]
struct Named {
    #[serde(rename = "_name_or_path", default)]
    name_or_path: String,
    #[serde(default)]
    model_type: Option<String>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

fn check_architecture(path: &Path, named: &Named, config: &Config) -> Result<(), EmbedError> {
    let unsupported = |file: &str, what: String| EmbedError::Unsupported { path: path.join(file), what };
    if let Some(kind) = named.model_type.as_deref().filter(|kind| *kind != "bert") {
        return Err(unsupported(CONFIG, format!("the architecture '{kind}'")));
    }
    let (heads, hidden) = (config.num_attention_heads, config.hidden_size);
    if heads == 0 || hidden == 0 || hidden % heads != 0 {
        return Err(EmbedError::damaged(
            &path.join(CONFIG),
            format!("{hidden} dimensions do not divide among {heads} heads"),
        ));
    }
    let modules: Vec<Module> = optional_json(&path.join("modules.json"))?.unwrap_or_default();
    let known = ["Transformer", "Pooling", "Normalize"];
    match modules.into_iter().find(|module| !known.iter().any(|name| module.kind.ends_with(name))) {
        Some(module) => Err(unsupported("modules.json", format!("the module '{}'", module.kind))),
        None => Ok(()),
    }
}

fn read_pooling(path: &Path, hidden_size: usize) -> Result<Pooling, EmbedError> {
    let settings: serde_json::Map<String, serde_json::Value> = json(path)?;
    let modes: Vec<&str> = settings
        .iter()
        .filter(|(key, value)| key.starts_with("pooling_mode_") && value.as_bool() == Some(true))
        .map(|(key, _)| key.as_str())
        .collect();
    if let Some(dimension) = settings.get("word_embedding_dimension").and_then(serde_json::Value::as_u64)
        && dimension != hidden_size as u64
    {
        let reason = format!("it is for {dimension} dimensions, the model has {hidden_size}");
        return Err(EmbedError::damaged(path, reason));
    }
    match modes[..] {
        ["pooling_mode_cls_token"] => Ok(Pooling::Cls),
        ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        [] => Err(EmbedError::damaged(path, "it names no pooling")),
        _ => Err(EmbedError::Unsupported { path: path.to_owned(), what: modes.join(" and ") }),
    }
}

#[derive(Deserialize, Default)]
struct PromptFile {
    #[serde(default)]
    prompts: PromptTexts,
}

#[derive(Deserialize, Default)]
struct PromptTexts {
    query: Option<String>,
    #[serde(alias = "document")]
    passage: Option<String>,
}

/// The folder's prompts. `names` are what the model may be called: bge models for Chinese are known by name.
fn read_prompts(path: &Path, names: &[&str]) -> Result<Prompts, EmbedError> {
    let file: PromptFile =
        optional_json(&path.join("config_sentence_transformers.json"))?.unwrap_or_default();
    let bge_zh = names.iter().any(|name| {
        let name = name.to_lowercase();
        name.contains("bge-") && name.contains("-zh")
    });
    let default_query = if bge_zh { BGE_ZH_QUERY } else { "" };
    Ok(Prompts {
        query: file.prompts.query.unwrap_or_else(|| default_query.to_owned()),
        passage: file.prompts.passage.unwrap_or_default(),
    })
}

#[derive(Deserialize)]
struct Lengths {
    max_seq_length: Option<usize>,
}

fn read_max_tokens(path: &Path, positions: usize) -> Result<usize, EmbedError> {
    let lengths: Option<Lengths> = optional_json(&path.join("sentence_bert_config.json"))?;
    Ok(lengths.and_then(|lengths| lengths.max_seq_length).map_or(positions, |length| length.min(positions)))
}

/// `owner/name`, not a path on the machine that made the model.
fn is_repository(name: &str) -> bool {
    matches!(name.split('/').collect::<Vec<_>>()[..], [owner, name] if ![owner, name].iter().any(|part| part.is_empty() || part.starts_with('.')))
}

fn checked_hash(folder: &Path, file: &Path, sums: Option<&Sums>) -> Result<String, EmbedError> {
    let hash = checksum::of_file(file).map_err(|error| EmbedError::unreadable(file, error))?;
    let name = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    match sums.and_then(|sums| sums.expected(&name)) {
        Some(expected) if expected != hash => {
            Err(EmbedError::damaged(file, format!("its SHA-256 is {hash}, not {expected}")))
        }
        _ => Ok(hash),
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, EmbedError> {
    optional_json(path)?.ok_or_else(|| EmbedError::Missing(path.to_owned()))
}

fn optional_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EmbedError> {
    match fs::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map(Some).map_err(|error| EmbedError::damaged(path, error))
        }
        Err(error) => match EmbedError::unreadable(path, error) {
            EmbedError::Missing(_) => Ok(None),
            error => Err(error),
        },
    }
}
