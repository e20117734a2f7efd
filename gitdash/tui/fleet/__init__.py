"""The first screen: the table of all repositories, its filter, groups and marks, and the lines around it."""
