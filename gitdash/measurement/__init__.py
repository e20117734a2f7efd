"""The figures that need more than file sizes: index arithmetic for `exclusive`, git for `reachable`."""
