//! The passes between the matrix products, each fused into one walk over the memory and run on the calling thread,
//! so that the low-priority thread keeps its work to itself.

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, Layout, Result, bail};

/// Adds a bias to every row.
pub(super) struct Bias(pub(super) Vec<f32>);

/// Adds a bias to every row and applies GELU, `x · Φ(x)`, with the exact Φ and not its tanh approximation.
pub(super) struct BiasGelu(pub(super) Vec<f32>);

/// Adds a bias and another matrix to every row, then normalises the row: `(x − mean) / √(variance + ε) · γ + β`.
pub(super) struct BiasResidualNorm {
    pub(super) bias: Vec<f32>,
    pub(super) norm: Norm,
}

/// The parameters of a layer normalisation.
pub(super) struct Norm {
    pub(super) gamma: Vec<f32>,
    pub(super) beta: Vec<f32>,
    pub(super) epsilon: f32,
}

/// `softmax(scale · row)` for rows of the given length.
pub(super) struct ScaledSoftmax {
    pub(super) scale: f32,
    pub(super) row: usize,
}

impl InplaceOp1 for Bias {
    fn name(&self) -> &'static str {
        "bias"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        for row in values_mut(storage, layout)?.chunks_exact_mut(self.0.len()) {
            row.iter_mut().zip(&self.0).for_each(|(x, bias)| *x += bias);
        }
        Ok(())
    }
}

impl InplaceOp1 for BiasGelu {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        for row in values_mut(storage, layout)?.chunks_exact_mut(self.0.len()) {
            row.iter_mut().zip(&self.0).for_each(|(x, bias)| *x = gelu(*x + bias));
        }
        Ok(())
    }
}

impl InplaceOp2 for BiasResidualNorm {
    fn name(&self) -> &'static str {
        "bias-residual-norm"
    }

    fn cpu_fwd(
        &self,
        storage: &mut CpuStorage,
        layout: &Layout,
        other: &CpuStorage,
        at: &Layout,
    ) -> Result<()> {
        let size = self.bias.len();
        let rows = values_mut(storage, layout)?.chunks_exact_mut(size);
        for (row, residual) in rows.zip(values(other, at)?.chunks_exact(size)) {
            for ((x, residual), bias) in row.iter_mut().zip(residual).zip(&self.bias) {
                *x += residual + bias;
            }
            self.norm.apply(row);
        }
        Ok(())
    }
}

impl InplaceOp1 for Norm {
    fn name(&self) -> &'static str {
        "norm"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        values_mut(storage, layout)?.chunks_exact_mut(self.gamma.len()).for_each(|row| self.apply(row));
        Ok(())
    }
}

impl Norm {
    fn apply(&self, row: &mut [f32]) {
        let size = row.len() as f32;
        let mean = sum(row, |x| x) / size;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / size;
        let scale = 1.0 / (variance + self.epsilon).sqrt();
        for ((x, gamma), beta) in row.iter_mut().zip(&self.gamma).zip(&self.beta) {
            *x = (*x - mean) * scale * gamma + beta;
        }
    }
}

impl InplaceOp1 for ScaledSoftmax {
    fn name(&self) -> &'static str {
        "scaled-softmax"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        for row in values_mut(storage, layout)?.chunks_exact_mut(self.row) {
            let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter_mut().for_each(|x| *x = exp_of_negative((*x - highest) * self.scale));
            let share = 1.0 / sum(row, |x| x);
            row.iter_mut().for_each(|x| *x *= share);
        }
        Ok(())
    }
}

fn values_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&mut values[from..to]),
        _ => bail!("expected a contiguous f32 matrix"),
    }
}

fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&values[from..to]),
        _ => bail!("expected a contiguous f32 matrix"),
    }
}

/// Sums in sixteen lanes, which the compiler can put side by side; one after the other it must not.
pub(super) fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; 16];
    let chunks = values.chunks_exact(lanes.len());
    let rest: f32 = chunks.remainder().iter().map(|&x| term(x)).sum();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &x)| *lane += term(x));
    }
    lanes.iter().sum::<f32>() + rest
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function as `x · P(x²) / Q(x²)`, without a branch, so that whole rows are computed at once.
/// The coefficients are our own fit; the error in f32 stays below 4e-7.
fn erf(x: f32) -> f32 {
    const P: [f32; 6] = [
        std::f32::consts::FRAC_2_SQRT_PI,
        0.196_233_77,
        0.053_465_43,
        0.004_002_981_5,
        0.000_288_023_87,
        1.974_911_2e-6,
    ];
    const Q: [f32; 6] = [1.0, 0.507_238_8, 0.116_470_1, 0.015_443_098, 0.001_216_193_8, 3.748_079e-5];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    x * polynomial(&P, square) / polynomial(&Q, square)
}

/// `eˣ` for x ≤ 0: a power of two by the exponent's bits, the rest by our own fit (relative error 1e-7).
fn exp_of_negative(x: f32) -> f32 {
    const P: [f32; 6] =
        [1.0, std::f32::consts::LN_2, 0.240_221_07, 0.055_503_27, 0.009_676_047, 0.001_340_044_2];
    /// 1.5 · 2²³: adding it rounds to a whole number and leaves that number in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let power = (x * std::f32::consts::LOG2_E).max(-125.0);
    let rounded = power + ROUND;
    let fraction = polynomial(&P, power - (rounded - ROUND));
    f32::from_bits(fraction.to_bits().wrapping_add(rounded.to_bits() << 23))
}

fn polynomial<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    coefficients.iter().rev().fold(0.0, |value, coefficient| value * x + coefficient)
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Tensor};

    use super::*;

    fn sample(shape: (usize, usize)) -> Tensor {
        let count = shape.0 * shape.1;
        let values: Vec<f32> = (0..count).map(|i| ((i * 37 % 101) as f32 - 50.0) / 9.0).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn farthest(a: &Tensor, b: &Tensor) -> f32 {
        (a - b).unwrap().abs().unwrap().max_all().unwrap().to_scalar().unwrap()
    }

    #[test]
    fn gelu_is_candles() {
        let x = sample((4, 101));
        let expected = x.gelu_erf().unwrap();
        x.inplace_op1(&BiasGelu(vec![0.0; 101])).unwrap();
        assert!(farthest(&x, &expected) < 2e-6);
    }

    #[test]
    fn softmax_is_candles_however_large_the_scores() {
        for scale in [0.125, 30.0] {
            let x = sample((4, 101));
            let expected = candle_nn::ops::softmax(&(&x * f64::from(scale)).unwrap(), 1).unwrap();
            x.inplace_op1(&ScaledSoftmax { scale, row: 101 }).unwrap();
            assert!(farthest(&x, &expected) < 1e-6);
        }
    }

    #[test]
    fn normalisation_is_candles() {
        let (x, residual) = (sample((3, 40)), sample((40, 3)).t().unwrap().contiguous().unwrap());
        let ones = Tensor::ones(40, DType::F32, &Device::Cpu).unwrap();
        let sum = (&x + &residual).unwrap().broadcast_add(&ones).unwrap();
        let expected = candle_nn::ops::layer_norm(&sum, &ones, &ones, 1e-12).unwrap();
        let norm = Norm { gamma: vec![1.0; 40], beta: vec![1.0; 40], epsilon: 1e-12 };
        x.inplace_op2(&residual, &BiasResidualNorm { bias: vec![1.0; 40], norm }).unwrap();
        assert!(farthest(&x, &expected) < 1e-5);
    }
}
