"""The first step: from roots to repositories, and who borrows from whom."""
