"""Names that are set as if they were settings."""

from __future__ import annotations

from pathlib import Path

from app.settings.environment_file import names_of_file
from config import unused_settings

# What bash, GitHub Actions, GitLab, Jenkins, Azure Pipelines, CircleCI, systemd and images set.
OF_SHELLS_AND_CI = """
BASH BASHOPTS COLUMNS DISPLAY EDITOR EUID HISTFILE HISTSIZE HOME HOST HOSTNAME HOSTTYPE LANG LESS
LINES LOGNAME LS_COLORS MACHTYPE MAIL MAILCHECK MAILPATH OLDPWD OPTIND OSTYPE PAGER PATH PPID
PROMPT PS1 PWD SECONDS SHELL SHELLOPTS SHLVL SSH_AGENT_PID SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION
SSH_TTY TERM TMPDIR TZ UID USER USERNAME VISUAL WINDOWID XDG_DATA_DIRS XDG_RUNTIME_DIR
XDG_SESSION_ID CI GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_ENV GITHUB_EVENT_NAME
GITHUB_JOB GITHUB_OUTPUT GITHUB_PATH GITHUB_REF GITHUB_REPOSITORY GITHUB_RUN_ID GITHUB_SERVER_URL
GITHUB_SHA GITHUB_TOKEN GITHUB_WORKFLOW GITHUB_WORKSPACE RUNNER_ARCH RUNNER_NAME RUNNER_OS
RUNNER_TEMP RUNNER_TOOL_CACHE CI_API_V4_URL CI_COMMIT_BRANCH CI_COMMIT_SHA CI_JOB_ID CI_JOB_NAME
CI_JOB_STAGE CI_JOB_TOKEN CI_JOB_URL CI_PAGES_URL CI_PIPELINE_ID CI_PROJECT_DIR CI_PROJECT_ID
CI_PROJECT_URL CI_REGISTRY CI_SERVER CI_SERVER_URL GITLAB_CI GITLAB_USER_ID GITLAB_USER_NAME
BUILD_ID BUILD_NUMBER BUILD_TAG BUILD_URL EXECUTOR_NUMBER GIT_BRANCH GIT_COMMIT GIT_URL
JENKINS_HOME JENKINS_URL JOB_NAME JOB_URL NODE_NAME WORKSPACE AGENT_ID AGENT_NAME AGENT_OS
BUILD_BUILDID BUILD_REASON SYSTEM_JOBID TF_BUILD CIRCLECI CIRCLE_BRANCH CIRCLE_BUILD_URL
CIRCLE_JOB CIRCLE_SHA1 CIRCLE_TAG TRAVIS TRAVIS_BRANCH TRAVIS_JOB_ID TRAVIS_OS_NAME INVOCATION_ID
JOURNAL_STREAM MAINPID MANAGERPID NOTIFY_SOCKET RUNTIME_DIRECTORY STATE_DIRECTORY SYSTEMD_EXEC_PID
GPG_KEY PYTHON_VERSION PYTHON_SHA256 VIRTUAL_ENV NODE_EXTRA_CA_CERTS DEBIAN_FRONTEND HTTP_PROXY
HTTPS_PROXY NO_PROXY http_proxy PIP_INDEX_URL UV_INDEX_URL SSL_CERT_FILE DOCKER_HOST DATABASE
PGHOST PGPASSWORD POSTGRES_PASSWORD
"""


def test_names_of_the_environment_are_told_that_are_nearly_those_of_settings() -> None:
    for name, nearest in (
        ("SIGNUP", "SIGN_UP"),
        ("MAIL_UR", "MAIL_URL"),
        ("MAIL_URI", "MAIL_URL"),
        ("LOG_FILE", "LOG_FILES"),
        ("DATABSE_URL", "DATABASE_URL"),
        ("trusted_proxies", "TRUSTED_PROXIES"),
    ):
        sentence = f"{name} is no setting; is it meant as {nearest}?"
        assert unused_settings({name: "x"}, ()) == [sentence]
    assert (
        unused_settings(dict.fromkeys([*OF_SHELLS_AND_CI.split(), "PROT", "SIGN_UP"], "x"), ())
        == []
    )


def test_every_unknown_name_of_the_file_is_told() -> None:
    names = ("PROT", "SMTP_HOST", "PGPASSWORD", "DOMAIN", "PORT")
    assert unused_settings(dict.fromkeys((*names, "EDITOR"), "1"), names) == [
        "PROT is no setting; is it meant as PORT?",
        "SMTP_HOST is no setting",
    ]


def test_the_names_of_the_file_are_known_to_who_has_its_values(tmp_path: Path) -> None:
    file = tmp_path / "canopy.env"
    assert names_of_file({}, file) == ()
    file.write_text("SMTP_HOST=x\nPORT='8000'\n")
    assert set(names_of_file({"SMTP_HOST": "x", "PORT": "8000", "A": "b"}, file)) == {
        "SMTP_HOST",
        "PORT",
    }
    assert names_of_file({"SMTP_HOST": "x"}, file) == ()
    unit = {"SMTP_HOST": "x", "PORT": "8000", "CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert set(names_of_file(unit)) == {"SMTP_HOST", "PORT"}
