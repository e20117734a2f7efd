"""Experiments: one question asked in several ways of one repository, measured side by side. Nothing is changed."""
