//! BERT's forward pass on candle's matrix products.
//!
//! The texts of a batch are laid end to end, so that nothing is padded and no attention mask is needed: matrices
//! multiply the tokens of all texts at once, only attention looks at one text at a time. A batch therefore gives
//! what its texts would give alone, and its cost depends on its tokens only. Query, key and value are one product;
//! with CLS pooling the last layer computes only the first token of each text.

use std::fmt;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{D, Device, Module, Result, Tensor};
use candle_transformers::models::bert::{Config, HiddenAct};

use super::error::EmbedError;
use super::folder::{ModelFolder, Pooling};
use super::ops::{Bias, BiasGelu, BiasResidualNorm, Norm, ScaledSoftmax};
use super::weights::{self, Part, Table, Weights};

/// candle's fast kernels for `Q8_0` take only inner dimensions that are multiples of this.
const Q8_COLUMNS: usize = 256;

/// How the weights of the layers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats.
    F32,
    /// 8-bit blocks: quicker for few tokens where the processor has 8-bit dot products.
    Q8,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::Q8 => "q8_0",
        })
    }
}

/// The precision that was quicker when the model was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precisions {
    /// For one short text.
    pub query: Precision,
    /// For many.
    pub batch: Precision,
}

/// A loaded network.
pub(super) struct Bert {
    embeddings: Embeddings,
    pooling: Pooling,
    query: Arc<Vec<Layer>>,
    batch: Arc<Vec<Layer>>,
    precisions: Precisions,
}

/// What a pass is for: it decides which of the two sets of layers is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Query,
    Batch,
}

impl Bert {
    /// Loads the weights; without a `choice` both precisions are measured on the first layer.
    pub(super) fn load(
        folder: &ModelFolder,
        choice: Option<Precisions>,
    ) -> std::result::Result<Self, EmbedError> {
        let config = &folder.config;
        if config.hidden_act != HiddenAct::Gelu {
            return Err(EmbedError::Unsupported {
                path: folder.weights.with_file_name("config.json"),
                what: format!("the activation {:?}", config.hidden_act),
            });
        }
        let mut file = Weights::open(&folder.weights)?;
        let embeddings = Embeddings::load(&mut file, config)?;
        let precisions = match choice {
            Some(precisions) => precisions,
            None => measure(&mut file, config)?,
        };
        let query = Arc::new(load_layers(&mut file, config, precisions.query)?);
        let batch = match precisions.batch == precisions.query {
            true => query.clone(),
            false => Arc::new(load_layers(&mut file, config, precisions.batch)?),
        };
        Ok(Self { embeddings, pooling: folder.pooling, query, batch, precisions })
    }

    pub(super) fn precisions(&self) -> Precisions {
        self.precisions
    }

    /// One vector per text, not yet normalised; the texts are token ids, none of them empty.
    pub(super) fn forward(&self, texts: &[&[u32]], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let layers = match purpose {
            Purpose::Query => &self.query,
            Purpose::Batch => &self.batch,
        };
        let mut spans = Vec::with_capacity(texts.len());
        let mut end = 0;
        for text in texts {
            spans.push(end..end + text.len());
            end += text.len();
        }
        let mut hidden = self.embeddings.forward(texts)?;
        let last = layers.len().saturating_sub(1);
        for (index, layer) in layers.iter().enumerate() {
            let rows = if index == last && self.pooling == Pooling::Cls { Rows::First } else { Rows::All };
            hidden = layer.forward(&hidden, &spans, rows)?;
        }
        match self.pooling {
            Pooling::Cls => hidden.to_vec2(),
            Pooling::Mean => spans
                .into_iter()
                .map(|span| hidden.narrow(0, span.start, span.len())?.mean(0)?.to_vec1())
                .collect(),
        }
    }
}

/// Which tokens of a text come out of a layer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    All,
    First,
}

struct Embeddings {
    words: Table,
    /// Positions, each with the embedding of the first token type, the only one used, added in.
    positions: Tensor,
    norm: Norm,
}

impl Embeddings {
    fn load(file: &mut Weights, config: &Config) -> std::result::Result<Self, EmbedError> {
        let size = config.hidden_size;
        let positions = file.matrix(&weights::POSITIONS, None, (config.max_position_embeddings, size))?;
        let types = file.matrix(&weights::TYPES, None, (config.type_vocab_size, size))?;
        Ok(Self {
            words: file.table(&weights::WORDS, (config.vocab_size, size))?,
            positions: positions.broadcast_add(&types.narrow(0, 0, 1)?)?,
            norm: load_norm(file, &weights::EMBEDDING_NORM, None, config)?,
        })
    }

    fn forward(&self, texts: &[&[u32]]) -> Result<Tensor> {
        let ids = texts.concat();
        let count = ids.len();
        let words = self.words.rows(&Tensor::from_vec(ids, count, &Device::Cpu)?)?;
        let positions =
            texts.iter().map(|text| self.positions.narrow(0, 0, text.len())).collect::<Result<Vec<_>>>()?;
        let hidden = (words + Tensor::cat(&positions, 0)?)?;
        hidden.inplace_op1(&self.norm)?;
        Ok(hidden)
    }
}

/// A matrix that tokens are multiplied with.
enum Matrix {
    F32(Tensor),
    Q8 { matrix: QMatMul, padding: usize },
}

impl Matrix {
    /// From `[out, in]`.
    fn new(weights: Tensor, precision: Precision) -> Result<Self> {
        if precision == Precision::F32 {
            return Ok(Self::F32(weights));
        }
        let columns = weights.dim(D::Minus1)?;
        let padding = columns.next_multiple_of(Q8_COLUMNS) - columns;
        let padded = weights.pad_with_zeros(D::Minus1, 0, padding)?;
        let matrix = QMatMul::from_qtensor(QTensor::quantize(&padded, GgmlDType::Q8_0)?)?;
        Ok(Self::Q8 { matrix, padding })
    }

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        match self {
            Self::F32(weights) => tokens.matmul(&weights.t()?),
            Self::Q8 { matrix, padding: 0 } => matrix.forward(tokens),
            Self::Q8 { matrix, padding } => matrix.forward(&tokens.pad_with_zeros(D::Minus1, 0, *padding)?),
        }
    }
}

struct Layer {
    query_key_value: Matrix,
    query_key_value_bias: Bias,
    attention: Matrix,
    attention_end: BiasResidualNorm,
    widen: Matrix,
    widen_end: BiasGelu,
    narrow: Matrix,
    narrow_end: BiasResidualNorm,
    heads: usize,
}

impl Layer {
    fn load(
        file: &mut Weights,
        config: &Config,
        index: usize,
        precision: Precision,
    ) -> std::result::Result<Self, EmbedError> {
        let (size, wide, layer) = (config.hidden_size, config.intermediate_size, Some(index));
        let mut joined = Vec::new();
        let mut joined_bias = Vec::new();
        for part in [weights::QUERY, weights::KEY, weights::VALUE] {
            joined.push(file.matrix(&part, layer, (size, size))?);
            joined_bias.extend(file.vector(&part, layer, "bias", size)?);
        }
        let mut matrix = |part, shape| -> std::result::Result<Matrix, EmbedError> {
            Ok(Matrix::new(file.matrix(part, layer, shape)?, precision)?)
        };
        let attention = matrix(&weights::ATTENTION, (size, size))?;
        let widen = matrix(&weights::WIDEN, (wide, size))?;
        let narrow = matrix(&weights::NARROW, (size, wide))?;
        let mut end = |part, norm| -> std::result::Result<BiasResidualNorm, EmbedError> {
            let bias = file.vector(part, layer, "bias", size)?;
            Ok(BiasResidualNorm { bias, norm: load_norm(file, norm, layer, config)? })
        };
        Ok(Self {
            query_key_value: Matrix::new(Tensor::cat(&joined, 0)?, precision)?,
            query_key_value_bias: Bias(joined_bias),
            attention,
            attention_end: end(&weights::ATTENTION, &weights::ATTENTION_NORM)?,
            widen,
            narrow,
            narrow_end: end(&weights::NARROW, &weights::OUTPUT_NORM)?,
            widen_end: BiasGelu(file.vector(&weights::WIDEN, layer, "bias", wide)?),
            heads: config.num_attention_heads,
        })
    }

    fn forward(&self, tokens: &Tensor, spans: &[Range<usize>], rows: Rows) -> Result<Tensor> {
        let joined = self.query_key_value.forward(tokens)?;
        joined.inplace_op1(&self.query_key_value_bias)?;
        let heard = spans
            .iter()
            .map(|span| self.attend(&joined.narrow(0, span.start, span.len())?, rows))
            .collect::<Result<Vec<_>>>()?;
        let residual = match rows {
            Rows::All => tokens.clone(),
            Rows::First => {
                let firsts: Vec<u32> = spans.iter().map(|span| span.start as u32).collect();
                tokens.index_select(&Tensor::new(firsts, &Device::Cpu)?, 0)?
            }
        };
        let hidden = self.attention.forward(&Tensor::cat(&heard, 0)?)?;
        hidden.inplace_op2(&residual, &self.attention_end)?;
        let wide = self.widen.forward(&hidden)?;
        wide.inplace_op1(&self.widen_end)?;
        let output = self.narrow.forward(&wide)?;
        output.inplace_op2(&hidden, &self.narrow_end)?;
        Ok(output)
    }

    /// Attention within one text; `joined` holds query, key and value of each of its tokens.
    fn attend(&self, joined: &Tensor, rows: Rows) -> Result<Tensor> {
        let (tokens, width) = joined.dims2()?;
        let (size, head) = (width / 3, width / 3 / self.heads);
        let parts = joined.reshape((tokens, 3, self.heads, head))?.permute((1, 2, 0, 3))?;
        let (mut query, key, value) = (parts.get(0)?, parts.get(1)?, parts.get(2)?);
        if rows == Rows::First {
            query = query.narrow(1, 0, 1)?;
        }
        let scores = query.matmul(&key.t()?)?;
        scores.inplace_op1(&ScaledSoftmax { scale: 1.0 / (head as f32).sqrt(), row: tokens })?;
        scores.matmul(&value)?.transpose(0, 1)?.reshape(((), size))
    }
}

fn load_layers(
    file: &mut Weights,
    config: &Config,
    precision: Precision,
) -> std::result::Result<Vec<Layer>, EmbedError> {
    (0..config.num_hidden_layers).map(|index| Layer::load(file, config, index, precision)).collect()
}

fn load_norm(
    file: &mut Weights,
    part: &Part,
    layer: Option<usize>,
    config: &Config,
) -> std::result::Result<Norm, EmbedError> {
    Ok(Norm {
        gamma: file.vector(part, layer, "weight", config.hidden_size)?,
        beta: file.vector(part, layer, "bias", config.hidden_size)?,
        epsilon: config.layer_norm_eps as f32,
    })
}

/// Runs the first layer in both precisions on a short query and on a small batch, and takes the quicker for each.
fn measure(file: &mut Weights, config: &Config) -> std::result::Result<Precisions, EmbedError> {
    const QUERY: (usize, usize) = (1, 12);
    const BATCH: (usize, usize) = (2, 64);
    let single = Layer::load(file, config, 0, Precision::F32)?;
    let eight = Layer::load(file, config, 0, Precision::Q8)?;
    let quicker = |shape| -> Result<Precision> {
        let [f32_takes, q8_takes] = race([&single, &eight], shape, config.hidden_size)?;
        Ok(if q8_takes < f32_takes { Precision::Q8 } else { Precision::F32 })
    };
    Ok(Precisions { query: quicker(QUERY)?, batch: quicker(BATCH)? })
}

/// The best of five runs of each layer, in turns, so that whatever else the machine does disturbs both alike; fewer
/// where one is clearly quicker.
fn race(layers: [&Layer; 2], (texts, length): (usize, usize), size: usize) -> Result<[Duration; 2]> {
    let values = (0..texts * length * size).map(|i| (i % 17) as f32 / 8.0 - 1.0).collect();
    let tokens = Tensor::from_vec(values, (texts * length, size), &Device::Cpu)?;
    let spans: Vec<_> = (0..texts).map(|text| text * length..(text + 1) * length).collect();
    let mut best = [Duration::MAX; 2];
    for _ in 0..5 {
        for (layer, best) in layers.iter().zip(&mut best) {
            let start = Instant::now();
            black_box(layer.forward(&tokens, &spans, Rows::All)?);
            *best = start.elapsed().min(*best);
        }
        if best[0] > best[1] * 2 || best[1] > best[0] * 2 {
            break;
        }
    }
    Ok(best)
}
