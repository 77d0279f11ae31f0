"""The JSON interface: classifiers and language models vote beside people."""
