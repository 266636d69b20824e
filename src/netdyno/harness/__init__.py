"""What is read of a machine while a run goes on."""
