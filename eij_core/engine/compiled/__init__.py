"""Machine code: entries, the layout of their records, their digest, the cache, the compiler."""
