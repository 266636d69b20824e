"""Which is the largest batch that fits? Double it until one does not, then bisect; where the device's memory is
known, what batches took so far says where to look first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from msgspec import structs

from netdyno.bench.campaign import Campaign
from netdyno.bench.cells import FASTEST
from netdyno.errors import NetdynoError
from netdyno.graph.wire import digest
from netdyno.results.cell import Cell
from netdyno.results.limit import Limit
from netdyno.runtime.judge import OUT_OF_MEMORY
from netdyno.runtime.observer import Observer, Step
from netdyno.runtime.task import scratch_folder
from netdyno.runtime.worker_file import worker_hash
from netdyno.workloads.fit import NO_GRAPH, Fit, fit_request, try_fit

CAP = 2**20  # images: nobody trains with more in a step
LEAP = 8  # times as large as what fitted, at most: a line through small batches says little of large ones
NARROW = 8  # neighbours of so few are halved, not guessed


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Only multiples of `granularity` are tried; `again` tests again what is remembered, which may be too small if
    something else had taken memory then."""

    granularity: int = 1
    again: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.granularity <= CAP:
            raise NetdynoError(f"granularity: expected 1 to {CAP}, received {self.granularity}.")


DEFAULT = SearchOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Where a search begins: `own` is the network's batch, `kept` what is remembered, perhaps of other versions."""

    label: str
    own: int
    kept: Limit
    granularity: int = 1
    cap: int = CAP
    capacity: int | None = None  # bytes of the device, where they are known

    def first(self) -> int:
        """The largest that is remembered to fit, or half of what did not, or the network's own batch."""
        wanted = self.kept.fits or (self.kept.fails or 2 * self.own) // 2
        return self.granularity * max(1, min(wanted, self.cap) // self.granularity)

    def following(self, known: Limit, tried: Sequence[Fit]) -> int | None:
        """What to try next; None where nothing is left to learn."""
        fits, fails = self._places(known)
        guess = self._guess(tried)
        if fails is not None:
            return self.granularity * _between(fits, fails, guess) if fails - fits > 1 else None
        last = self.cap // self.granularity
        if self.kept.is_exact and fits == self._places(self.kept)[0]:
            grown = fits + 1
        else:
            grown = 2 * fits if guess is None else min(max(guess, fits + fits // 32 + 1), LEAP * fits)
        return self.granularity * min(grown, last) if fits < last else None

    def _guess(self, tried: Sequence[Fit]) -> int | None:
        """How many multiples the memory holds, by a line through the two largest that fitted. At every other try: a
        wrong line must not lead the search for long."""
        took = sorted((fit.batch, fit.peak_bytes) for fit in tried if fit.fits and fit.peak_bytes)[-2:]
        if self.capacity is None or len(took) < 2 or len(tried) % 2:
            return None
        (small, less), (large, more) = took
        if large == small or more <= less:
            return None
        images = large + (self.capacity - more) * (large - small) / (more - less)
        return max(0, int(images)) // self.granularity

    def tries_left(self, known: Limit) -> int:
        """How many tries it takes from what is known; while everything fitted, as if the next one did not."""
        fits, fails = self._places(known)
        if fails is None:
            return 1 + (max(fits, self.first() // self.granularity) - 1).bit_length()
        return max(1, (fails - fits - 1).bit_length())

    def result(self, known: Limit) -> int:
        """The largest multiple of the granularity that fits; 0 if none does."""
        return known.fits // self.granularity * self.granularity

    def _places(self, known: Limit) -> tuple[int, int | None]:
        """The bounds, counted in multiples of the granularity."""
        fails = None if known.fails is None else -(-known.fails // self.granularity)
        return known.fits // self.granularity, fails


def largest_batch_cell(
    cell: Cell, campaign: Campaign, observer: Observer[Fit], options: SearchOptions = DEFAULT
) -> Cell:
    """The cell at the largest batch that fits; it comes in at the batch from which to start."""
    limit = largest_batch(cell, campaign, observer, options)
    return structs.replace(cell, batch=limit.fits // options.granularity * options.granularity)


def largest_batch(cell: Cell, campaign: Campaign, observer: Observer[Fit], options: SearchOptions = DEFAULT) -> Limit:
    """The limit of a cell: what fits and what does not, each seen in a fresh process.

    What is learned is in the store after every try, so a search that was cut off goes on where it stopped. A limit
    that is known for the same versions costs one try, for other versions two if it is still the same.
    """
    label = cell.label().removesuffix(f" b{cell.batch}")
    if cell.execution == FASTEST:
        message = f"{label}: expected one execution, since the largest batch depends on it, received '{FASTEST}'."
        raise NetdynoError(message, hint="Name it with --execution.")
    key = structs.replace(cell, batch=1).key()
    kept = campaign.store.find_limit(campaign.machine, key) or Limit(machine=campaign.machine, cell_key=key)
    tries = _Tries(cell=cell, campaign=campaign, observer=observer, deciding=_deciding(cell, campaign))
    kept = replace(kept, versions="") if options.again else kept
    search = Search(
        label=label, own=cell.batch, kept=kept, granularity=options.granularity, capacity=_capacity(cell, campaign)
    )
    return find_largest(search, tries.attempt, tries.remember)


def try_batch(cell: Cell, campaign: Campaign, on_poll: Callable[[], None]) -> Fit:
    """Try the cell at its batch in a fresh process."""
    try:
        programme = campaign.bench.programme(cell)
    except NetdynoError as error:
        return Fit(batch=cell.batch, outcome=NO_GRAPH, reason=str(error))
    with scratch_folder(campaign.folders.scratch(), "fit") as folder:
        request = fit_request(cell, programme, campaign.worker(cell))
        return try_fit(cell, campaign.task(cell, request, folder), on_poll)


def find_largest(
    search: Search, attempt: Callable[[int, int], Fit], remember: Callable[[Limit], None] = lambda known: None
) -> Limit:
    """The limit, by as few tries as it takes: `attempt` is given a batch and how many tries are left.

    Each batch is tried once: where memory is noisy, the limit is that of this search and not of every one.
    """
    fit = attempt(search.first(), search.tries_left(search.kept))
    tried = [fit]
    known = learned(_of_versions(search.kept, fit.versions), fit, search.label)
    remember(known)
    while (batch := search.following(known, tried)) is not None:
        fit = attempt(batch, search.tries_left(known))
        tried.append(fit)
        if fit.versions:  # a worker that died very early has reported none
            known = _of_versions(known, fit.versions)
        known = learned(known, fit, search.label)
        remember(known)
    if not search.result(known):
        raise NetdynoError(
            f"{search.label}: expected a batch that fits, received out of memory even at {search.granularity}:"
            f" {known.reason.rstrip('.')}.",
            hint="Another precision may need less.",
        )
    return known


def learned(known: Limit, fit: Fit, label: str) -> Limit:
    """What is known after a try, which outweighs what is remembered; an error if it says nothing about size."""
    if fit.fits:
        still = known.fails is not None and known.fails > fit.batch
        return replace(
            known,
            fits=max(known.fits, fit.batch),
            fails=known.fails if still else None,
            reason=known.reason if still else "",
        )
    if not _is_about_size(fit, known):
        raise _stopped(fit, known, label)
    fits = known.fits if known.fits < fit.batch else 0
    return replace(known, fits=fits, fails=min(fit.batch, known.fails or fit.batch), reason=fit.reason)


def _between(fits: int, fails: int, guess: int | None) -> int:
    """The middle of what is not known yet, or the guess, well inside."""
    width = fails - fits
    if guess is None or width <= NARROW:
        return (fits + fails) // 2
    return max(fits + width // NARROW, min(guess, fails - width // NARROW))


def _of_versions(known: Limit, versions: str) -> Limit:
    """What is known of these versions; of others a limit is only a hint where to begin."""
    if known.versions == versions:
        return known
    return Limit(machine=known.machine, cell_key=known.cell_key, versions=versions)


def _is_about_size(fit: Fit, known: Limit) -> bool:
    """Whether a smaller batch may help. A crash is believed only if it speaks of memory and something did fit."""
    if fit.outcome == OUT_OF_MEMORY:
        return True
    return known.fits > 0 and (fit.outcome == NO_GRAPH or (fit.outcome in ("crashed", "failed") and fit.starved))


def _stopped(fit: Fit, known: Limit, label: str) -> NetdynoError:
    smaller = known.fits if known.fits < fit.batch else 0
    hint = f"The largest that fitted is {smaller}: measure it with --batch {smaller}." if smaller else ""
    message = (
        f"{label}: the search for the largest batch stopped at {fit.batch}: {fit.outcome}: {fit.reason.rstrip('.')}."
    )
    return NetdynoError(message, hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tries:
    """Tries a cell at one batch after another, and keeps what is known."""

    cell: Cell
    campaign: Campaign
    observer: Observer[Fit]
    deciding: str

    def attempt(self, batch: int, tries_left: int) -> Fit:
        cell = structs.replace(self.cell, batch=batch)
        self.observer.started(Step(cell=cell, number=1, left=tries_left))
        fit = try_batch(cell, self.campaign, self.observer.polled)
        self.observer.ended(fit)
        return replace(fit, versions=f"{fit.versions}, {self.deciding}") if fit.versions else fit

    def remember(self, known: Limit) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.campaign.store.add_limit(replace(known, found_at=now))


def _capacity(cell: Cell, campaign: Campaign) -> int | None:
    """Bytes of the smallest GPU. A CPU's memory is shared with everything else: it says nothing."""
    gpus = campaign.environment.get("gpus")
    known = [gpu for gpu in gpus if isinstance(gpu, Mapping)] if isinstance(gpus, Sequence) else []
    sizes = [gpu.get("memory_bytes") for gpu in known]
    return min((size for size in sizes if size), default=None) if cell.device == "cuda" else None


def _deciding(cell: Cell, campaign: Campaign) -> str:
    """What decides memory beside the framework's libraries: our own code, and a network that a user may change."""
    return f"worker {worker_hash(campaign.archive)}, graph {digest(campaign.bench.programme(cell))}"
