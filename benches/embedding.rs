//! Queries of 12 and 60 tokens and a batch of 32 × 64, ours beside candle's own `BertModel` on the same weights.
//!
//! Made-up weights in the shape of bge-small-zh-v1.5; with `OCMEMD_TEST_MODEL` also that folder, for which only
//! ours is measured. Compare at equal thread counts: `CANDLE_NUM_THREADS=1 RAYON_NUM_THREADS=1` is the daemon's.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use criterion::{Criterion, criterion_group, criterion_main};
use ocmemd::embed::{Model, ModelFolder};
use ocmemd::memory::Redacted;
use ocmemd::memory::redact::redact;
use tokenizers::Tokenizer;

#[allow(dead_code)] // the tests use more of it
#[path = "../tests/support/made_up_model.rs"]
mod made_up_model;

const QUERIES: [usize; 2] = [12, 60];
const BATCH: (usize, usize) = (32, 64);

/// A text that the model reads as about `tokens` tokens.
fn text_of(model: &Model, tokens: usize) -> Redacted {
    let mut text = String::new();
    for next in "上周三晚上决定把数据库迁到新的机器先停写入再备份最后切换域名".chars().cycle()
    {
        text.push(next);
        if model.count_tokens(&text) >= tokens {
            break;
        }
    }
    redact(&text).0
}

fn ours(criterion: &mut Criterion, name: &str, folder: &Path) {
    let model = Model::load(&ModelFolder::open(folder).unwrap()).unwrap();
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    for tokens in QUERIES {
        let text = text_of(&model, tokens);
        group.bench_function(format!("query {tokens}/ours"), |b| {
            b.iter(|| black_box(model.query(&text).unwrap()))
        });
    }
    let (texts, tokens) = BATCH;
    let texts = vec![text_of(&model, tokens); texts];
    let go_on = || ControlFlow::Continue(());
    group.sample_size(10).bench_function("batch 32x64/ours", |b| {
        b.iter(|| black_box(model.passages(&texts, go_on).unwrap()));
    });
}

fn candles(criterion: &mut Criterion, name: &str, folder: &Path) {
    let config = serde_json::from_slice(&std::fs::read(folder.join("config.json")).unwrap()).unwrap();
    let bytes = std::fs::read(folder.join("model.safetensors")).unwrap();
    let vars = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu).unwrap();
    let bert = BertModel::load(vars, &config).unwrap();
    let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json")).unwrap();
    tokenizer.with_truncation(None).unwrap().with_padding(None);
    let model = Model::load(&ModelFolder::open(folder).unwrap()).unwrap();
    let embed = |texts: &[Redacted]| {
        let texts: Vec<&str> = texts.iter().map(Redacted::as_str).collect();
        let ids: Vec<Vec<u32>> = tokenizer
            .encode_batch_fast(texts, true)
            .unwrap()
            .iter()
            .map(|encoding| encoding.get_ids().to_vec())
            .collect();
        let ids = Tensor::new(ids, &Device::Cpu).unwrap();
        let hidden = bert.forward(&ids, &ids.zeros_like().unwrap(), None).unwrap();
        hidden.narrow(1, 0, 1).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap()
    };
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    for tokens in QUERIES {
        let text = [text_of(&model, tokens)];
        group.bench_function(format!("query {tokens}/candle"), |b| b.iter(|| black_box(embed(&text))));
    }
    let texts = vec![text_of(&model, BATCH.1); BATCH.0];
    group.sample_size(10).bench_function("batch 32x64/candle", |b| b.iter(|| black_box(embed(&texts))));
}

fn embedding(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    made_up_model::write(folder.path(), made_up_model::BGE_SMALL, "pooling_mode_cls_token");
    ours(criterion, "bge-small shape", folder.path());
    candles(criterion, "bge-small shape", folder.path());
    if let Some(real) = std::env::var_os("OCMEMD_TEST_MODEL").map(PathBuf::from) {
        ours(criterion, "OCMEMD_TEST_MODEL", &real);
    }
}

criterion_group!(benches, embedding);
criterion_main!(benches);
