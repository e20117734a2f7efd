"""Which question of an experiment is asked, where it has more than one."""

from collections.abc import Mapping, Sequence

from gitdash.lab.request import ExperimentRequest, NoSuchChoiceError

OPTION = "question"
"""Among the options of a request."""


def asked(request: ExperimentRequest, names: Mapping[str, Sequence[str]]) -> str:
    """Return the question that a request is about: the one it names, else the first that has the chosen variants.

    `names` are those of the variants by question, the one that is asked by default first. Raises NoSuchChoiceError.
    """
    question = request.options.get(OPTION)
    if question is None:
        chosen = set(request.chosen)
        return next((name for name, variants in names.items() if chosen <= set(variants)), next(iter(names)))
    if question not in names:
        raise NoSuchChoiceError(f"no such question; there are: {', '.join(names)}")
    return str(question)
