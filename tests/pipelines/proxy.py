"""nginx with the configuration of `deploy/`, in front of a UI that runs; only ports and paths are the test's own."""

import grp
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx" / "wms-sync.conf"
WHOLE = """
daemon off;
user {user} {group};
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {configuration}
}}
"""
USER = "anna:{PLAIN}secret\n"


@contextmanager
def proxy_where_installed(folder: Path, upstream: int, port: int) -> Iterator[None]:
    """Run nginx on the port while the block lasts; its test is skipped where it is absent."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip("nginx is not installed here; .ci/run installs it")
    (folder / "users").write_text(USER)
    text = CONFIGURATION.read_text(encoding="utf-8")
    given = {
        "listen 443 ssl;": f"listen 127.0.0.1:{port};",
        "ssl_certificate /etc/nginx/tls/wms-sync.pem;": "",
        "ssl_certificate_key /etc/nginx/tls/wms-sync.key;": "",
        "/etc/nginx/wms-sync.htpasswd;": f"{folder}/users;",
        "http://127.0.0.1:3000;": f"http://127.0.0.1:{upstream};",
    }
    for ours, tests in given.items():
        assert ours in text
        text = text.replace(ours, tests)
    path = folder / "nginx.conf"
    owner = folder.stat()  # root's nginx would look at the file of users as somebody else
    user, group = pwd.getpwuid(owner.st_uid).pw_name, grp.getgrgid(owner.st_gid).gr_name
    path.write_text(WHOLE.format(folder=folder, configuration=text, user=user, group=group))
    with subprocess.Popen([program, "-c", path, "-p", folder, "-e", folder / "error.log"]) as nginx:
        try:
            _wait_for(port, nginx)
            yield
        finally:
            nginx.terminate()


def websocket(port: int, origin: str, login: str) -> int:
    """The status of a handshake for the websocket that the UI opens; 101 is what it wants."""
    lines = [
        "GET /graphql HTTP/1.1",
        "Host: wms-sync.example.com",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol: graphql-ws",
        f"Origin: {origin}",
        f"Authorization: Basic {login}",
    ]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(connection.recv(64).split()[1])


def _wait_for(port: int, nginx: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert nginx.poll() is None, "nginx has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("nginx does not listen")
