"""Problems on real numbers, minimised."""
