"""Where shards live while an estimate is made."""
