"""An engine that serves a model over HTTP (vLLM, SGLang, llama.cpp), asked in place of a model."""
