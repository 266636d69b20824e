"""The HTML page that `netdyno report` writes."""
