//! Byte-exact change sets over many files, applied in all files or in none.
