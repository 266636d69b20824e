"""Where values come from: draws by name and seed, packed files, transforms, and what feeds a trainer."""
