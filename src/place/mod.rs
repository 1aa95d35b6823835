//! Where the files are: made, read back, torn down.
