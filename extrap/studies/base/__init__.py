"""The study of RoPE's base."""
