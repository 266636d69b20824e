"""One folder per framework, imported only when a request names it; and the kit that they share."""
