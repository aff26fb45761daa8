//! Readers for barrier protocols, the clause catalogue and the library of protocols.
