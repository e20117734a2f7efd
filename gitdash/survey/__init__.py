"""A survey drives discovery, inspection, measurement, assessment and history, and streams reports."""
