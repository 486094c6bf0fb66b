"""The pages of docs/reference: a module for each of them."""
