"""Small models that need no network, no key and no GPU: MiniLM, jieba and statistics.

All of them answer the same for the same text, in every process and thread. What is heavy
(torch, sentence-transformers, jieba's dictionary) loads once a process, at the first call.
"""
