//! The one integration-test binary: one link of the model's code instead of many.

mod calendar;
mod cli;
mod conversation;
mod crash;
mod daemon;
mod flush;
mod forgetting;
mod layers;
mod load;
mod model;
mod readme;
mod socket;
mod status;
mod support;
