//! The one integration-test binary: one link of the model's code instead of many.

mod layers;
