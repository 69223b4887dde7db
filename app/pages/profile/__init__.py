"""The Profile page: what one application of each operator costs."""
