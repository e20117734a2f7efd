"""The screen of all lenders, with those that borrow from them."""
