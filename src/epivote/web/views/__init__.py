"""Thin: a view takes a visit, asks the store or the live value, and fills in a page."""
