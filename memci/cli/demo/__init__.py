"""``memci demo``: the whole system on two conversations, through its public API."""
