"""Small models without network, key or GPU: multilingual-e5-small, jieba, statistics.

All of them are deterministic, in every process and thread. Large parts (the
embedder, jieba's dictionary) load once per process, at the first call.
"""
