"""The screens of the lab: the experiments of a repository, and one of them with its runs and earlier results."""
