"""Parts that several pages share: pickers, folds, the toolbar, choices in the address."""
