//! The network against candle's own, what happens to texts on the way, and folders that are not whole.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use serde_json::json;

use super::*;
use crate::memory::Redacted;
use crate::memory::redact::redact;

#[path = "../../tests/support/made_up_model.rs"]
mod made_up_model;
use made_up_model::{BGE_SMALL, Shape, TINY};

const CLS: &str = "pooling_mode_cls_token";
const MEAN: &str = "pooling_mode_mean_tokens";
const F32: Precisions = Precisions { query: Precision::F32, batch: Precision::F32 };
const Q8: Precisions = Precisions { query: Precision::Q8, batch: Precision::Q8 };
const TEXTS: [&str; 4] = [
    "部署端口是八零八一",
    "我喜欢喝龙井茶，不喜欢咖啡。",
    "The gateway listens on port 8080 of the home server.",
    "上周三晚上我们决定把数据库从主机迁到新的机器上，先停写入，再做一次完整的备份，最后切换域名。",
];

fn folder_of(shape: Shape, pooling: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    made_up_model::write(folder.path(), shape, pooling);
    folder
}

fn model(folder: &Path, precisions: Precisions) -> Model {
    Model::load_with(&ModelFolder::open(folder).unwrap(), Some(precisions)).unwrap()
}

fn clean(text: &str) -> Redacted {
    redact(text).0
}

fn passages(model: &Model, texts: &[&str]) -> Vec<Vec<Vec<f32>>> {
    let texts: Vec<Redacted> = texts.iter().map(|text| clean(text)).collect();
    model.passages(&texts, || ControlFlow::Continue(())).unwrap().unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The vectors of candle's own model, one text at a time.
fn oracle(folder: &Path, texts: &[&str]) -> Vec<Vec<f32>> {
    let read = ModelFolder::open(folder).unwrap();
    let bytes = fs::read(folder.join("model.safetensors")).unwrap();
    let vars = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu).unwrap();
    let bert = BertModel::load(vars, &read.config).unwrap();
    let tokens = tokenizer::Tokens::open(&read.tokenizer, read.config.vocab_size).unwrap();
    let embed = |text: &&str| {
        let ids = Tensor::new(tokens.ids(text).unwrap(), &Device::Cpu).unwrap().unsqueeze(0).unwrap();
        let hidden = bert.forward(&ids, &ids.zeros_like().unwrap(), None).unwrap().squeeze(0).unwrap();
        let pooled = match read.pooling {
            Pooling::Cls => hidden.get(0).unwrap(),
            Pooling::Mean => hidden.mean(0).unwrap(),
        };
        let values: Vec<f32> = pooled.to_vec1().unwrap();
        let length = values.iter().map(|x| x * x).sum::<f32>().sqrt();
        values.into_iter().map(|x| x / length).collect()
    };
    texts.iter().map(embed).collect()
}

fn assert_agrees(model: &Model, expected: &[Vec<f32>], least: f32) {
    for ((text, expected), batch) in TEXTS.iter().zip(expected).zip(passages(model, &TEXTS)) {
        let query = cosine(&model.query(&clean(text)).unwrap(), expected);
        let passage = cosine(&batch[0], expected);
        assert!(query >= least && passage >= least, "{text}: {query} {passage}");
    }
}

#[test]
fn the_forward_pass_is_candles_on_the_shape_of_bge() {
    let folder = folder_of(BGE_SMALL, CLS);
    let expected = oracle(folder.path(), &TEXTS);
    assert!(cosine(&expected[0], &expected[2]) < 0.99, "the texts must differ for this to mean anything");
    assert_agrees(&model(folder.path(), F32), &expected, 0.9999);
    assert_agrees(&model(folder.path(), Q8), &expected, 0.998);
}

#[test]
fn the_forward_pass_is_candles_with_mean_pooling() {
    let folder = folder_of(TINY, MEAN);
    let expected = oracle(folder.path(), &TEXTS);
    assert_agrees(&model(folder.path(), F32), &expected, 0.9999);
    assert_agrees(&model(folder.path(), Q8), &expected, 0.998);
}

#[test]
fn a_batch_gives_what_its_texts_give_alone() {
    let folder = folder_of(TINY, CLS);
    let model = model(folder.path(), F32);
    for (text, together) in TEXTS.iter().zip(passages(&model, &TEXTS)) {
        let alone = passages(&model, &[text]).remove(0);
        assert!(cosine(&together[0], &alone[0]) > 0.9999, "{text}");
    }
}

#[test]
fn more_texts_than_a_batch_holds_come_back_in_their_order() {
    let folder = folder_of(TINY, CLS);
    let model = model(folder.path(), F32);
    let long = "忆".repeat(500);
    let mut texts = vec![long.as_str(); 20];
    texts[11] = TEXTS[1];
    let vectors = passages(&model, &texts);
    assert!(cosine(&vectors[11][0], &passages(&model, &[TEXTS[1]])[0][0]) > 0.9999);
    assert!(
        cosine(&vectors[19][0], &vectors[0][0]) > 0.9999 && cosine(&vectors[11][0], &vectors[0][0]) < 0.9999
    );
}

#[test]
fn gguf_weights_give_what_safetensors_give() {
    let folder = folder_of(TINY, MEAN);
    let expected = oracle(folder.path(), &TEXTS);
    let names = [
        ("embeddings.word_embeddings", "token_embd"),
        ("embeddings.position_embeddings", "position_embd"),
        ("embeddings.token_type_embeddings", "token_types"),
        ("embeddings.LayerNorm", "token_embd_norm"),
        ("attention.self.query", "attn_q"),
        ("attention.self.key", "attn_k"),
        ("attention.self.value", "attn_v"),
        ("attention.output.dense", "attn_output"),
        ("attention.output.LayerNorm", "attn_output_norm"),
        ("intermediate.dense", "ffn_up"),
        ("output.dense", "ffn_down"),
        ("output.LayerNorm", "layer_output_norm"),
        ("encoder.layer", "blk"),
    ];
    for (kind, least) in [(GgmlDType::Q8_0, 0.998), (GgmlDType::F16, 0.9999), (GgmlDType::Q4_0, 0.9)] {
        let tensors: Vec<(String, QTensor)> = made_up_model::tensors(TINY)
            .into_iter()
            .map(|(name, tensor)| {
                let name = names.iter().fold(name, |name, (from, to)| name.replace(from, to));
                let kind = if tensor.rank() == 2 { kind } else { GgmlDType::F32 };
                (name, QTensor::quantize(&tensor, kind).unwrap())
            })
            .collect();
        let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, t)| (name.as_str(), t)).collect();
        let mut file = fs::File::create(folder.path().join("model.gguf")).unwrap();
        gguf_file::write(&mut file, &[], &tensors).unwrap();
        let _ = fs::remove_file(folder.path().join("model.safetensors"));
        assert_agrees(&model(folder.path(), F32), &expected, least);
    }
}

#[test]
fn no_length_is_cut_without_saying_so() {
    let folder = folder_of(TINY, CLS);
    let model = model(folder.path(), F32);
    assert_eq!(model.count_tokens(&"忆".repeat(300)), 302, "the file's own truncation and padding are off");
    let lengths = [(508, 1), (509, 1), (510, 1), (511, 2), (512, 2), (513, 2), (1200, 3)];
    for (length, least) in lengths {
        let text = "忆".repeat(length);
        let vectors = &passages(&model, &[&text])[0];
        assert!(
            vectors.len() >= least && (length > 510 || vectors.len() == 1),
            "{length}: {}",
            vectors.len()
        );
        assert!(
            vectors.iter().all(|vector| vector.len() == 64 && (cosine(vector, vector) - 1.0).abs() < 1e-5)
        );
        assert_eq!(model.query(&clean(&text)).unwrap().len(), 64);
    }
    let url = format!("https://example.com/?q={}", "a8%2F".repeat(600));
    assert!(!passages(&model, &[&url])[0].is_empty());
}

#[test]
fn a_text_without_a_word_has_no_vector() {
    let folder = folder_of(TINY, CLS);
    let model = model(folder.path(), F32);
    let blank = " ".repeat(10_000);
    for empty in ["", "\n\t ", &blank] {
        assert!(matches!(model.query(&clean(empty)), Err(EmbedError::EmptyText)));
    }
    let vectors = passages(&model, &["", TEXTS[0], &blank]);
    assert_eq!(vectors.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(passages(&model, &[]).len(), 0);
}

#[test]
fn a_folder_that_is_not_whole_names_the_file() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 9] = [
        ("model.safetensors", |f| fs::remove_file(f.join("model.safetensors")).unwrap()),
        ("model.safetensors", |f| fs::write(f.join("model.safetensors"), "").unwrap()),
        ("model.safetensors", |f| fs::write(f.join("model.safetensors"), PAGE).unwrap()),
        ("model.safetensors", |f| {
            let bytes = fs::read(f.join("model.safetensors")).unwrap();
            fs::write(f.join("model.safetensors"), &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("model.gguf", |f| {
            fs::remove_file(f.join("model.safetensors")).unwrap();
            fs::write(f.join("model.gguf"), PAGE).unwrap();
        }),
        ("tokenizer.json", |f| fs::write(f.join("tokenizer.json"), "").unwrap()),
        ("tokenizer.json", |f| fs::remove_file(f.join("tokenizer.json")).unwrap()),
        ("config.json", |f| fs::write(f.join("config.json"), PAGE).unwrap()),
        ("1_Pooling/config.json", |f| fs::remove_file(f.join("1_Pooling/config.json")).unwrap()),
    ];
    for (file, damage) in damages {
        let folder = folder_of(TINY, CLS);
        damage(folder.path());
        let error = ModelFolder::open(folder.path()).and_then(|f| Model::load(&f)).err().unwrap();
        assert!(matches!(error, EmbedError::Missing(_) | EmbedError::Damaged { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains(file) && said.contains("ocmemd model pull"), "{file}: {said}");
    }
}

const PAGE: &str = "<!doctype html><html><body>请先登录</body></html>";

#[test]
fn the_configuration_of_another_model_is_refused_with_both_shapes() {
    let folder = folder_of(TINY, CLS);
    let other = folder_of(Shape { hidden: 128, ..TINY }, CLS);
    for file in ["config.json", "1_Pooling/config.json"] {
        fs::copy(other.path().join(file), folder.path().join(file)).unwrap();
    }
    let error = ModelFolder::open(folder.path()).and_then(|f| Model::load(&f)).err().unwrap();
    assert!(error.to_string().contains("64") && error.to_string().contains("128"), "{error}");
}

#[test]
fn a_flipped_byte_is_found_by_its_hash() {
    let folder = folder_of(TINY, CLS);
    let names = ["model.safetensors".to_owned(), "tokenizer.json".to_owned()];
    crate::checksum::Sums::of_folder(folder.path(), "a test", &names).unwrap().write(folder.path()).unwrap();
    assert_eq!(ModelFolder::open(folder.path()).unwrap().identity().source, "a test");
    let weights = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&weights, bytes).unwrap();
    assert!(matches!(ModelFolder::open(folder.path()), Err(EmbedError::Damaged { .. })));
}

#[test]
fn what_is_not_supported_says_what_is() {
    for (file, contents, what) in [
        ("1_Pooling/config.json", json!({"pooling_mode_max_tokens": true}), "pooling_mode_max_tokens"),
        ("modules.json", json!([{"type": "sentence_transformers.models.Dense"}]), "Dense"),
    ] {
        let folder = folder_of(TINY, CLS);
        fs::write(folder.path().join(file), contents.to_string()).unwrap();
        let error = ModelFolder::open(folder.path()).err().unwrap();
        assert!(
            matches!(&error, EmbedError::Unsupported { .. }) && error.to_string().contains(what),
            "{error}"
        );
    }
}

#[test]
fn prompts_come_from_the_folder_or_from_what_is_known_of_bge() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("bge-small-zh-v1.5");
    made_up_model::write(&folder, TINY, CLS);
    let bge = ModelFolder::open(&folder).unwrap();
    assert_eq!(bge.prompts.query, "为这个句子生成表示以用于检索相关文章：");
    assert_eq!((bge.prompts.passage.as_str(), bge.identity().name.as_str()), ("", "bge-small-zh-v1.5"));

    let prompts = json!({"prompts": {"query": "query: ", "passage": "passage: "}});
    fs::write(folder.join("config_sentence_transformers.json"), prompts.to_string()).unwrap();
    let e5 = ModelFolder::open(&folder).unwrap();
    assert_eq!((e5.prompts.query.as_str(), e5.prompts.passage.as_str()), ("query: ", "passage: "));
    assert_ne!(e5.identity().hash, bge.identity().hash, "another prompt makes other vectors");

    let model = Model::load_with(&e5, Some(F32)).unwrap();
    let (query, passage) = (model.query(&clean(TEXTS[0])).unwrap(), passages(&model, &[TEXTS[0]]).remove(0));
    assert!(cosine(&query, &passage[0]) < 0.9999);
}

#[test]
fn the_length_is_the_folders_but_never_more_than_the_positions() {
    let folder = folder_of(TINY, CLS);
    for (written, expected) in [(128, 128), (4096, 512)] {
        let lengths = json!({"max_seq_length": written});
        fs::write(folder.path().join("sentence_bert_config.json"), lengths.to_string()).unwrap();
        assert_eq!(ModelFolder::open(folder.path()).unwrap().identity().max_tokens, expected);
    }
}

#[tokio::test]
async fn the_threads_answer_until_they_are_stopped() {
    let folder = folder_of(TINY, CLS);
    let embedder = Embedder::load(&ModelFolder::open(folder.path()).unwrap(), Options::default()).unwrap();
    let texts: Vec<Redacted> = TEXTS.iter().map(|text| clean(text)).collect();
    let (query, passages) = tokio::join!(embedder.query(&texts[0]), embedder.passages(texts.clone()));
    let (query, passages) = (query.unwrap(), passages.unwrap());
    assert_eq!((query.len(), passages.len()), (embedder.dimension(), 4));
    assert!(cosine(&query, &passages[0][0]) > 0.998);

    let other = embedder.clone();
    tokio::task::spawn_blocking(move || other.shutdown()).await.unwrap();
    assert!(matches!(embedder.query(&texts[0]).await, Err(EmbedError::Stopped)));
    assert!(matches!(embedder.passages(texts).await, Err(EmbedError::Stopped)));
}

#[tokio::test]
async fn a_caller_who_left_is_skipped_and_the_next_one_answered() {
    let folder = folder_of(TINY, CLS);
    let embedder = Embedder::load(&ModelFolder::open(folder.path()).unwrap(), Options::default()).unwrap();
    let many = vec![clean(&"忆".repeat(500)); 400];
    let left = tokio::spawn({
        let embedder = embedder.clone();
        async move { embedder.passages(many).await }
    });
    tokio::task::yield_now().await;
    left.abort();
    let answer = embedder.passages(vec![clean(TEXTS[0])]);
    let answer = tokio::time::timeout(std::time::Duration::from_secs(60), answer).await.unwrap();
    assert_eq!(answer.unwrap()[0].len(), 1);
}
