"""Small models without network, key or GPU: MiniLM, jieba and statistics.

All of them are deterministic, in every process and thread. Large parts (torch,
sentence-transformers, jieba's dictionary) load once per process, at the first call.
"""
