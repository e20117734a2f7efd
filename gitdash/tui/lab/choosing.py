"""What a person chooses of an experiment: its question, options and variants. Pure."""

from dataclasses import dataclass
from typing import Final

from gitdash.model.experiment import ExperimentKind, VariantResult
from gitdash.tui.experiments import BUDGET_S, ExperimentChoice, OfferedExperiment, OfferedQuestion
from gitdash.units import human_duration

_RUNS: Final = (None, 5, 10, 20, 50)
_BUDGETS_S: Final = (15.0, BUDGET_S, 300.0, 1_200.0, 3_600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionLine:
    """One option as it is shown."""

    name: str
    title: str
    value: str
    sentence: str


class Choosing:
    """The choices for one experiment, at first those that suit most."""

    def __init__(self, offer: OfferedExperiment) -> None:
        self.offer = offer
        self._question_text = offer.questions[0].text
        self._runs: int | None = None
        self._budget_s = BUDGET_S
        self._is_cold = False
        self._has_curve = False
        self._unmarked: set[tuple[str, str]] = set()
        """Questions and names of variants."""

    @property
    def question(self) -> OfferedQuestion:
        """The question that is asked; the first if the chosen one is not offered any more."""
        questions = self.offer.questions
        return next((one for one in questions if one.text == self._question_text), questions[0])

    @property
    def runnable(self) -> list[VariantResult]:
        """The variants that can run here."""
        return [variant for variant in self.question.variants if variant.skipped is None]

    def is_marked(self, variant: VariantResult) -> bool:
        """Tell whether a variant will run."""
        return variant.skipped is None and (self.question.text, variant.name) not in self._unmarked

    def marked(self) -> list[VariantResult]:
        """Return the variants that will run, in their order."""
        return [variant for variant in self.question.variants if self.is_marked(variant)]

    def toggle(self, name: str) -> None:
        """Mark or unmark a variant."""
        self._unmarked ^= {(self.question.text, name)}

    def toggle_all(self) -> None:
        """Mark all variants that can run, or unmark all if they are marked."""
        names = {(self.question.text, variant.name) for variant in self.runnable}
        if self._unmarked & names:
            self._unmarked -= names
        else:
            self._unmarked |= names

    def choice(self) -> ExperimentChoice:
        """Return what is asked for; the names of variants only where one of them was left out."""
        marked = self.marked()
        return ExperimentChoice(
            question=self.question.text,
            variants=() if len(marked) == len(self.runnable) else tuple(variant.name for variant in marked),
            runs=self._runs,
            budget_s=self._budget_s,
            is_cold=self._is_cold,
            has_curve=self._has_curve,
        )

    def options(self) -> list[OptionLine]:
        """Return the options that this experiment has."""
        lines = [self._question_line()] if len(self.offer.questions) > 1 else []
        lines += [self._runs_line(), self._budget_line(), self._cache_line()]
        return [*lines, self._curve_line()] if self.offer.kind is ExperimentKind.LOOKUP else lines

    def turn(self, name: str, step: int) -> None:
        """Take the next value of an option, or the one before it for -1."""
        if name == "question":
            texts = [one.text for one in self.offer.questions]
            self._question_text = texts[(texts.index(self.question.text) + step) % len(texts)]
        elif name == "runs":
            self._runs = _RUNS[(_RUNS.index(self._runs) + step) % len(_RUNS)]
        elif name == "time":
            self._budget_s = _BUDGETS_S[(_BUDGETS_S.index(self._budget_s) + step) % len(_BUDGETS_S)]
        elif name == "cache":
            self._is_cold = not self._is_cold
        else:
            self._has_curve = not self._has_curve

    def _question_line(self) -> OptionLine:
        return OptionLine(
            name="question",
            title="question",
            value=self.question.text,
            sentence=f"One of {len(self.offer.questions)}, each with its own results.",
        )

    def _runs_line(self) -> OptionLine:
        if self._runs is None:
            sentence = "At least 5, until intervals are narrow."
        else:
            sentence = f"Just {self._runs} of each variant."
        return OptionLine(name="runs", title="runs", value=str(self._runs or "enough"), sentence=sentence)

    def _budget_line(self) -> OptionLine:
        return OptionLine(
            name="time",
            title="time",
            value=human_duration(self._budget_s),
            sentence="For all runs; then no further begins.",
        )

    def _cache_line(self) -> OptionLine:
        sentence = (
            "Driven out of memory before each run." if self._is_cold else "Files are in memory, as after one run."
        )
        return OptionLine(name="cache", title="cache", value="cold" if self._is_cold else "warm", sentence=sentence)

    def _curve_line(self) -> OptionLine:
        sentence = "Also with 1, 10, 100 and 1,000 packs." if self._has_curve else "Only with the packs that there are."
        return OptionLine(name="curve", title="curve", value="yes" if self._has_curve else "no", sentence=sentence)
