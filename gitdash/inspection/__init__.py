"""What the files of one repository say, read without running git."""
