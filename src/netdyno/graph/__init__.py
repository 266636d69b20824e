"""What a network is, as plain data: values, operations, shapes, cost, checks and the wire form."""
