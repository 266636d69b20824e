"""What the benchmark of proofs prints: a row for each kind of mistake, totals, and what was not caught and why."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from proof_mutations import Mutation
from proof_verdicts import Sight

EXACTLY, MEASURED = "float64", "float32"
ROW = "{:34} {:>7} {:>7} {:>9} {:>9} {:>8}  {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One mutation of one network in one framework, by precision; without a mutation, the network as it is."""

    framework: str
    network: str
    mutation: Mutation | None
    is_empty: bool
    sights: dict[str, Sight]
    caught_before: bool | None
    refusal: str

    def changes(self) -> bool:
        return any(sight.changes for sight in self.sights.values())

    def visible(self) -> bool:
        return any(sight.visible for sight in self.sights.values())

    def caught(self) -> bool:
        return any(sight.caught for sight in self.sights.values())

    def why_missed(self) -> str:
        if self.is_empty:
            return "proofs are made without randomness, and nothing else of it is left"
        if not self.sights:
            return f"the framework refuses: {self.refusal}"
        if not self.changes():
            return "it changes nothing in this network"
        most = max(sight.change for sight in self.sights.values())
        seen = max(sight.share for sight in self.sights.values())
        if not self.visible():
            return f"it moves no tensor by more than the resolution: at most {most:.2g} of a limit"
        return f"MISSED: it moves a tensor by {most:.3g} of its limit, and {seen:.3g} was seen"


def print_report(trials: Sequence[Trial], enough: float) -> bool:
    """Whether enough of what is visible was caught, and every network as it is passed."""
    alarms = {
        (trial.framework, trial.network, precision): sight.share
        for trial in trials
        for precision, sight in trial.sights.items()
        if trial.mutation is None and sight.caught
    }
    mutated = [without_alarms(trial, alarms) for trial in trials if trial.mutation is not None]
    print_table(mutated)
    is_enough = print_totals(mutated, enough)
    print_missed([trial for trial in mutated if trial.sights or trial.is_empty])
    for (framework, network, precision), share in alarms.items():
        print(f"{network} as it is does not pass in {framework} {precision} ({share:.3g} of a limit): left out there")
    return is_enough and not alarms


def without_alarms(trial: Trial, alarms: Container[tuple[str, str, str]]) -> Trial:
    """Without the precisions in which the right network does not pass: there everything is caught."""
    kept = {p: sight for p, sight in trial.sights.items() if (trial.framework, trial.network, p) not in alarms}
    return replace(trial, sights=kept, caught_before=trial.caught_before if MEASURED in kept else None)


def print_table(mutated: Sequence[Trial]) -> None:
    """Caught of visible in each precision, by the old rule of all that change anything, and the smallest."""
    kinds = list(dict.fromkeys(trial.mutation.kind for trial in mutated if trial.mutation))
    print(ROW.format("kind", "applied", "visible", "float64", "float32", "old rule", "smallest caught"))
    for kind in kinds:
        own = [trial for trial in mutated if trial.mutation and trial.mutation.kind == kind]
        smallest = " | ".join(dict.fromkeys(_smallest(own, precision) for precision in (EXACTLY, MEASURED)))
        print(ROW.format(kind, len(own), sum(t.visible() for t in own), *_rates(own), smallest).rstrip())


def print_totals(mutated: Sequence[Trial], enough: float) -> bool:
    print(ROW.format("all", len(mutated), sum(trial.visible() for trial in mutated), *_rates(mutated), ""))
    visible = [trial for trial in mutated if trial.visible()]
    caught = sum(trial.caught() for trial in visible)
    changing = [trial for trial in mutated if trial.changes()]
    seen = sum(trial.caught() for trial in changing)
    before = sum(bool(trial.caught_before) for trial in changing)
    share = caught / max(len(visible), 1)
    names = {(t.network, t.framework) for t in mutated}
    print(
        f"\n{len({t.mutation for t in mutated})} mutations, {len({n for n, _ in names})} networks, "
        f"{len({f for _, f in names})} frameworks"
    )
    print(f"caught {caught:,} of {len(visible):,} visible mutations ({share:.1%}); expected at least {enough:.0%}")
    print(f"of {len(changing):,} that change anything at all: caught {seen:,}, by the old rule {before:,}")
    own = [trial for trial in changing if trial.caught_before is not None]
    alone = sum(trial.sights[MEASURED].caught for trial in own)
    before = sum(bool(trial.caught_before) for trial in own)
    print(f"of {len(own):,} of these in {MEASURED} alone: caught {alone:,}, by the old rule {before:,}")
    return share >= enough


def print_missed(mutated: Sequence[Trial]) -> None:
    """The reasons, each with the mutations and networks that it holds for."""
    missed = [trial for trial in mutated if not trial.caught()]
    print(f"\nnot caught: {len(missed)}")
    for trial in sorted(
        missed, key=lambda trial: (not trial.visible(), trial.mutation.kind if trial.mutation else "")
    ):
        name = f"{trial.mutation.kind} {trial.mutation.strength}".strip() if trial.mutation else ""
        print(f"  {name}, {trial.network}, {trial.framework}: {trial.why_missed()}")


def _rates(own: Sequence[Trial]) -> list[str]:
    """Caught of visible in each precision, and by the old rule of all that change anything."""
    found = []
    for precision in (EXACTLY, MEASURED):
        sights = [trial.sights[precision] for trial in own if precision in trial.sights]
        visible = [sight for sight in sights if sight.visible]
        found.append(f"{sum(sight.caught for sight in visible)}/{len(visible)}")
    changing = [trial for trial in own if trial.changes() and trial.caught_before is not None]
    return [*found, f"{sum(bool(trial.caught_before) for trial in changing)}/{len(changing)}"]


def _smallest(own: Sequence[Trial], precision: str) -> str:
    """The weakest strength that is caught in every network and framework in which it changes anything."""
    by_strength: dict[str, list[Sight]] = {}
    for trial in own:
        if trial.mutation and precision in trial.sights and trial.sights[precision].changes:
            by_strength.setdefault(trial.mutation.strength, []).append(trial.sights[precision])
    caught = [strength for strength, sights in by_strength.items() if all(sight.caught for sight in sights)]
    return (caught[-1] or "yes") if caught else "none"
