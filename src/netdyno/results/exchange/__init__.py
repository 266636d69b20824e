"""Files of results: exports in several formats, and imports of other stores' exports."""
