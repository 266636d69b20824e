"""Where the ranks of a group are started; so far on this machine only."""
