"""Judgement: rules that turn the facts of one repository into findings. Pure: no disk, no git, no clock."""
