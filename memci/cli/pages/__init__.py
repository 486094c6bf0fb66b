"""What ``memci pages`` does beside the operations on pages."""
