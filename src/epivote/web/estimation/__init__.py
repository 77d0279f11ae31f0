"""What the crowd says so far, worked out beside the requests."""
