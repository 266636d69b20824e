"""What several adapters need and no framework's API gives: arithmetic, source writing, pipeline input."""
