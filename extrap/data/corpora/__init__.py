"""Places text comes from, one per file; conf/data/corpus has one YAML for each."""
