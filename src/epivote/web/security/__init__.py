"""Nobody acts for another: signed cookies, tokens of forms, rate limits, headers."""
