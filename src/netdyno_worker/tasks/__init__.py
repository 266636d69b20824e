"""What a worker can be asked: one module a task, found by name, each with `run(adapter, request, emit)`."""
