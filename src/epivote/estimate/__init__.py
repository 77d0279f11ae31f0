"""Estimators: from ballots to an estimate."""
