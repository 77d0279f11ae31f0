"""Pictures and pages of estimates."""
