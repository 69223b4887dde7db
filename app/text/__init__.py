"""Words of the pages: labels, numbers, tables, formulas, escaping, failures, theme."""
