"""What a reply is worth: one file a family of metrics."""
