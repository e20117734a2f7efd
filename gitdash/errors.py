"""The tree of errors; each class stands beside the code that raises it.

    GitdashError                            anything that ends a command with one sentence
    +-- formats.reading.FormatError             a file's bytes are not what its format says
    +-- inspection.files.FileError              a file could not be read, or is not a regular file
    |   +-- inspection.files.FileMissingError   there is no such file
    +-- gitcmd.git_error.GitError               git failed, timed out, was cancelled, or is missing
    |   +-- measurement.queries.UntrustworthySizeError
    |                                           git answered, and its answer cannot be true
    |   +-- gitcmd.lookup_times.ObjectMissingError
    |                                           the object that was to be timed is not there
    +-- maintenance.lock.LockRefusedError       an object store is not ours to lock
    +-- maintenance.lock.LockHeldError          another process maintains the repository
    +-- maintenance.work.TaskStoppedError       a task cannot go on
    +-- maintenance.writing.WriteRefusedError   gitdash itself would have written where it must not
    +-- measurement.strategy.StrategyError      the strategy that was asked for cannot answer the question
    +-- config.settings.ConfigError             the configuration file is wrong
    +-- history.schema.HistoryError             the state file cannot be used
    +-- history.filter.FilterError              a condition that cannot be run
    +-- discovery.roots.RootError               a root does not exist
    +-- survey.single.NoRepositoryError         a command needs a repository, and the path leads to none
    |   +-- survey.single.OrdinaryFolderError   it is a folder, and none around it is one either
    +-- demo.folder.DemoError                   the demo fleet cannot be made
    +-- demo.exhibit.ObstacleError              one repository of it cannot be made on this machine
    +-- lab.request.ExperimentError             an experiment cannot be made here
    |   +-- lab.request.NoSuchChoiceError       no such variant or question, whatever the repository
    +-- export.columns.ColumnError              no such column
    +-- cli.bench_stored.NoExperimentError      no experiment has this number
    +-- cli.picture_file.PictureError           a picture cannot be written
    +-- cli.maintain.NotConfirmedError          nobody has agreed to what would be done
    +-- cli.output.OutputError                  data could not be written to stdout
    +-- cli.serve.NoWebExtraError               what serves to a browser is not installed
    +-- tui.app.NoTerminalError                 the dashboard has no terminal to draw on
    +-- tui.themes.UnknownThemeError            a colour theme that does not exist was asked for
    +-- tui.web.server.ServeError               the web server could not begin

The text of an error is short, lower case and factual; data stands in attributes.
"""

import enum


class GitdashError(Exception):
    """The base of all errors that gitdash raises on purpose."""


class ExitCode(enum.IntEnum):
    """What the process says when it ends."""

    DONE = 0
    """The command did what was asked."""
    FINDINGS = 1
    """`check` found something at or above --fail-on; or a measurement, an action or an experiment failed."""
    WRONG_USE = 2
    """Bad arguments, configuration, root, state file, or no usable git."""
    REFUSED = 3
    """Refused for safety."""
    INTERRUPTED = 130
    """Ctrl-C."""
