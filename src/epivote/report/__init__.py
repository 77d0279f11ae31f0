"""Pictures of estimates."""
