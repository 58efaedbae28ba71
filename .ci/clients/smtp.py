#!/usr/bin/python3
"""A mail server for the checks: takes mail after STARTTLS and a login, and keeps it in a maildir.

smtp.py PORT MAILDIR CERTIFICATE KEY USER PASSWORD
"""

import signal
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Mailbox
from aiosmtpd.smtp import AuthResult

port, maildir, certificate, key, user, password = sys.argv[1:]


def authenticate(server, session, envelope, mechanism, login):
    ok = (login.login, login.password) == (user.encode(), password.encode())
    return AuthResult(success=ok, handled=ok)  # unhandled: aiosmtpd answers 535


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(certificate, key)
controller = Controller(
    Mailbox(maildir), hostname="127.0.0.1", port=int(port), server_hostname="localhost", tls_context=tls, require_starttls=True,
    authenticator=authenticate, auth_required=True,
)
controller.start()
signal.sigwait([signal.SIGTERM, signal.SIGINT])
controller.stop()
