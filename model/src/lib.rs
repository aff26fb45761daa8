//! GPU barrier specifications as labelled transition systems.
