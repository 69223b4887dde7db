"""What one application of each operator costs, measured in batches and kept in a file."""
