"""Exits: the exit codes of commands, and what a supervisor should do about each."""

EXIT_FAILED = 1  #: the command failed, or did not find what it was asked for
EXIT_REFUSED = 2  #: usage, a setting, a suite or a topic is wrong: do not restart, the error would be the same
EXIT_WORSE = 3  #: a comparison found worse what it was not to find worse
EXIT_TOO_FEW = 4  #: a comparison has too little to say whether that is worse which was not to be
EXIT_RESTART = 70  #: start the worker again (EX_SOFTWARE)
EXIT_HUNG_UP = 129  #: ended as its terminal was closed: 128 and SIGHUP
EXIT_INTERRUPTED = 130  #: ended by Ctrl-C, as shells say it: 128 and the number of the signal
EXIT_TERMINATED = 143  #: ended by SIGTERM, as a supervisor ends it: 128 and the number of the signal
