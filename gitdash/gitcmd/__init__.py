"""The door to git: how it is started, bounded, ended, and kept from running what a scanned repository says."""
