"""What leaves gitdash: columns, tables, CSV, markdown, JSON. Pure: values in, text out; nobody prints here."""
