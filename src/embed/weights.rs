//! A model's tensors by name, from safetensors (the names of transformers) or GGUF (those of llama.cpp).

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use candle_core::quantized::{QTensor, gguf_file};
use candle_core::safetensors::BufferedSafetensors;
use candle_core::{DType, Device, Tensor};

use super::error::EmbedError;

/// One part of the network in both files' words. A layer's parts stand below `encoder.layer.N.` and `blk.N.`.
pub(super) struct Part {
    transformers: &'static str,
    llama: &'static str,
}

macro_rules! parts {
    ($($name:ident = $transformers:literal, $llama:literal;)*) => {
        $(pub(super) const $name: Part = Part { transformers: $transformers, llama: $llama };)*
    };
}

parts! {
    WORDS = "embeddings.word_embeddings", "token_embd";
    POSITIONS = "embeddings.position_embeddings", "position_embd";
    TYPES = "embeddings.token_type_embeddings", "token_types";
    EMBEDDING_NORM = "embeddings.LayerNorm", "token_embd_norm";
    QUERY = "attention.self.query", "attn_q";
    KEY = "attention.self.key", "attn_k";
    VALUE = "attention.self.value", "attn_v";
    ATTENTION = "attention.output.dense", "attn_output";
    ATTENTION_NORM = "attention.output.LayerNorm", "attn_output_norm";
    WIDEN = "intermediate.dense", "ffn_up";
    NARROW = "output.dense", "ffn_down";
    OUTPUT_NORM = "output.LayerNorm", "layer_output_norm";
}

enum Format {
    Safetensors(BufferedSafetensors),
    Gguf(gguf_file::Content, BufReader<File>),
}

/// An open file of weights.
pub(super) struct Weights {
    format: Format,
    path: PathBuf,
}

/// The embeddings of words: whole, or left in their blocks, of which only the rows needed are taken out.
pub(super) enum Table {
    Whole(Tensor),
    Blocks(QTensor),
}

impl Table {
    /// The rows of `ids`.
    pub(super) fn rows(&self, ids: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Whole(table) => table.index_select(ids, 0),
            Self::Blocks(table) => table.embedding(ids),
        }
    }
}

impl Weights {
    /// Opens a file; its head is checked, its end as tensors are read.
    pub(super) fn open(path: &Path) -> Result<Self, EmbedError> {
        let damaged = |error: candle_core::Error| EmbedError::damaged(path, error);
        let unreadable = |error| EmbedError::unreadable(path, error);
        let format = if path.extension().is_some_and(|extension| extension == "gguf") {
            let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
            let content = gguf_file::Content::read(&mut file).map_err(damaged)?;
            Format::Gguf(content, file)
        } else {
            let bytes = std::fs::read(path).map_err(unreadable)?;
            Format::Safetensors(BufferedSafetensors::new(bytes).map_err(damaged)?)
        };
        Ok(Self { format, path: path.to_owned() })
    }

    /// The matrix of a part, `[out, in]`, as f32.
    pub(super) fn matrix(
        &mut self,
        part: &Part,
        layer: Option<usize>,
        shape: (usize, usize),
    ) -> Result<Tensor, EmbedError> {
        self.tensor(part, layer, "weight", &[shape.0, shape.1])
    }

    /// A part's `weight` or `bias`, as numbers.
    pub(super) fn vector(
        &mut self,
        part: &Part,
        layer: Option<usize>,
        kind: &str,
        size: usize,
    ) -> Result<Vec<f32>, EmbedError> {
        Ok(self.tensor(part, layer, kind, &[size])?.to_vec1()?)
    }

    /// The table of a part, left in its blocks if it is quantised.
    pub(super) fn table(&mut self, part: &Part, shape: (usize, usize)) -> Result<Table, EmbedError> {
        if let Format::Gguf(content, file) = &mut self.format {
            let name = format!("{}.weight", part.llama);
            let table = content
                .tensor(file, &name, &Device::Cpu)
                .map_err(|error| EmbedError::damaged(&self.path, error))?;
            if table.dtype().block_size() > 1 {
                self.check_shape(&name, table.shape().dims(), &[shape.0, shape.1])?;
                return Ok(Table::Blocks(table));
            }
        }
        Ok(Table::Whole(self.matrix(part, None, shape)?))
    }

    fn tensor(
        &mut self,
        part: &Part,
        layer: Option<usize>,
        kind: &str,
        shape: &[usize],
    ) -> Result<Tensor, EmbedError> {
        let damaged = |error: candle_core::Error| EmbedError::damaged(&self.path, error);
        let (name, tensor) = match &mut self.format {
            Format::Safetensors(file) => {
                let layer = layer.map_or_else(String::new, |layer| format!("encoder.layer.{layer}."));
                let name = format!("{layer}{}.{kind}", part.transformers);
                let tensor = safetensor(file, &name).map_err(damaged)?;
                (name, tensor)
            }
            Format::Gguf(content, file) => {
                let layer = layer.map_or_else(String::new, |layer| format!("blk.{layer}."));
                let name = format!("{layer}{}.{kind}", part.llama);
                let blocks = content.tensor(file, &name, &Device::Cpu).map_err(damaged)?;
                (name, blocks.dequantize(&Device::Cpu).map_err(damaged)?)
            }
        };
        self.check_shape(&name, tensor.dims(), shape)?;
        tensor.to_dtype(DType::F32).map_err(damaged)
    }

    fn check_shape(&self, name: &str, found: &[usize], expected: &[usize]) -> Result<(), EmbedError> {
        if found == expected {
            return Ok(());
        }
        let reason = format!("{name} has the shape {found:?}, config.json wants {expected:?}");
        Err(EmbedError::damaged(&self.path, reason))
    }
}

/// A tensor by the name that a bare BERT gives it, else as part of a larger model, else by the oldest names.
fn safetensor(file: &BufferedSafetensors, name: &str) -> candle_core::Result<Tensor> {
    let old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
    let names = [name.to_owned(), format!("bert.{name}"), old.clone(), format!("bert.{old}")];
    let known = names.iter().find(|name| file.get(name).is_ok()).map_or(name, String::as_str);
    file.load(known, &Device::Cpu)
}
