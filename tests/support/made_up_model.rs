//! A model of made-up weights: the layout and shape of a real one, the same numbers every time, no download.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};
use serde_json::{Value, json};

/// The shape of a BERT.
#[derive(Clone, Copy)]
pub struct Shape {
    pub layers: usize,
    pub hidden: usize,
    pub heads: usize,
    pub wide: usize,
    pub vocabulary: usize,
}

/// That of bge-small-zh-v1.5.
pub const BGE_SMALL: Shape = Shape { layers: 4, hidden: 512, heads: 8, wide: 2048, vocabulary: 21128 };
/// Quick, and with an inner dimension that the 8-bit kernels need padded.
pub const TINY: Shape = Shape { layers: 2, hidden: 64, heads: 4, wide: 128, vocabulary: 21128 };

pub const POSITIONS: usize = 512;

/// Every tensor by the name that transformers gives it.
pub fn tensors(shape: Shape) -> HashMap<String, Tensor> {
    let mut random = Random(0x000c_3e3d);
    let (hidden, wide) = (shape.hidden, shape.wide);
    let mut all = HashMap::new();
    let mut put = |name: String, dims: &[usize], centre: f32| {
        let count = dims.iter().product();
        let values: Vec<f32> = (0..count).map(|_| centre + random.next()).collect();
        all.insert(name, Tensor::from_vec(values, dims, &Device::Cpu).unwrap());
    };
    let norm = ["weight", "bias"];
    put("embeddings.word_embeddings.weight".into(), &[shape.vocabulary, hidden], 0.0);
    put("embeddings.position_embeddings.weight".into(), &[POSITIONS, hidden], 0.0);
    put("embeddings.token_type_embeddings.weight".into(), &[2, hidden], 0.0);
    norm.iter().zip([1.0, 0.0]).for_each(|(kind, centre)| {
        put(format!("embeddings.LayerNorm.{kind}"), &[hidden], centre);
    });
    for layer in 0..shape.layers {
        for (part, rows, columns) in [
            ("attention.self.query", hidden, hidden),
            ("attention.self.key", hidden, hidden),
            ("attention.self.value", hidden, hidden),
            ("attention.output.dense", hidden, hidden),
            ("intermediate.dense", wide, hidden),
            ("output.dense", hidden, wide),
        ] {
            put(format!("encoder.layer.{layer}.{part}.weight"), &[rows, columns], 0.0);
            put(format!("encoder.layer.{layer}.{part}.bias"), &[rows], 0.0);
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            put(format!("encoder.layer.{layer}.{part}.weight"), &[hidden], 1.0);
            put(format!("encoder.layer.{layer}.{part}.bias"), &[hidden], 0.0);
        }
    }
    all
}

/// Writes a whole folder: weights as safetensors, a tokenizer of single characters, the given pooling.
pub fn write(folder: &Path, shape: Shape, pooling: &str) {
    std::fs::create_dir_all(folder.join("1_Pooling")).unwrap();
    candle_core::safetensors::save(&tensors(shape), folder.join("model.safetensors")).unwrap();
    let put = |name: &str, value: Value| std::fs::write(folder.join(name), value.to_string()).unwrap();
    put(
        "config.json",
        json!({
            "model_type": "bert", "hidden_size": shape.hidden, "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads, "intermediate_size": shape.wide, "hidden_act": "gelu",
            "vocab_size": shape.vocabulary, "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
            "layer_norm_eps": 1e-12, "pad_token_id": 0, "hidden_dropout_prob": 0.1, "initializer_range": 0.02
        }),
    );
    put("1_Pooling/config.json", json!({"word_embedding_dimension": shape.hidden, pooling: true}));
    put("tokenizer.json", tokenizer());
}

/// One token per Chinese character, letter and digit; it asks for a truncation and a padding that must not be kept.
fn tokenizer() -> Value {
    let mut vocabulary = serde_json::Map::new();
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(str::to_owned);
    let ascii = ('!'..='~').flat_map(|c| [c.to_string(), format!("##{c}")]);
    let chinese = ('\u{4e00}'..='\u{9fa5}').map(|c| c.to_string()).take(20_000);
    for (id, token) in special.into_iter().chain(ascii).chain(chinese).enumerate() {
        vocabulary.insert(token, json!(id));
    }
    let added: Vec<Value> = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        .iter()
        .enumerate()
        .map(|(id, token)| {
            json!({
                "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true
            })
        })
        .collect();
    json!({
        "version": "1.0", "added_tokens": added,
        "truncation": {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 128}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[PAD]"
        },
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary
        }
    })
}

/// Marsaglia's xorshift, as numbers between −0.06 and 0.06.
struct Random(u32);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 as f32 / u32::MAX as f32 - 0.5) * 0.12
    }
}
