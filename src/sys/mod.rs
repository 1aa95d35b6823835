//! System calls that the standard library and rustix lack; the only room with unsafe code.
