"""gitdash: a terminal dashboard for the health of many Git repositories.

Data flows through the folders in this order:

    discovery    roots -> Repository
    inspection   Repository -> Inspection (files only, no git process)
    measurement  Inspection -> SizeMeasurement (index arithmetic, or git)
    assessment   Inspection + sizes -> Findings (pure)
    history      what was known, in SQLite
    maintenance  Reports -> Plans (pure), and the running of fetches and tasks under a lock
    survey       drives the steps above and streams RepositoryReports; queues what acts
    export       reports -> JSON, CSV, Markdown, tables
    lab          runs the same question in several ways, and compares
    demo         makes a fleet that shows every finding
    cli, tui     the two front ends; neither knows the other

Below them: `formats` (bytes -> values), `gitcmd` (the door to git), `model` (nouns), `config` (what the user
set), `units` (values for people), `errors`. Imports point down only; import-linter holds that.
"""

__version__ = "0.1.0"
