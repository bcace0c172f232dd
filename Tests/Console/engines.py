"""The data of all scenarios, made once in one of the two engines; each server begins with a copy."""
import itertools
import os
import subprocess

from room import Server


class Files:
    """Databases in folders."""

    def __init__(self, settle):
        self.settle, self.first = settle, Server(settle)
        self.first.fill()
        self.first.stop()

    def server(self):
        return Server(self.settle, data=self.first.data)

    def close(self):
        self.first.folder.cleanup()


class Postgres:
    """Databases in the PostgreSQL of `Scripts/postgres/cluster.py run`, of which each server gets a database."""

    def __init__(self, settle):
        self.settle, self.name, self.numbers = settle, f"console_{os.getpid()}", itertools.count()
        self.ask(f"CREATE DATABASE {self.name} OWNER settle_owner TEMPLATE settle")
        subprocess.run([settle, "postgres", "migrate", *self.store(self.name, "_OWNER")], check=True, stdout=subprocess.DEVNULL)
        first = Server(settle, store=self.store(self.name))
        first.fill()
        first.close()

    def store(self, name, role=""):
        address, file = (os.environ[f"SETTLE_TEST_POSTGRES{role}{more}"] for more in ("", "_PASSWORD_FILE"))
        return ["--postgres", address.replace("dbname=settle", f"dbname={name}"), "--postgres-password-file", file]

    def ask(self, statement):
        with open(os.environ["SETTLE_TEST_POSTGRES_SUPERUSER_PASSWORD_FILE"]) as file:
            password = file.read().strip()
        address = os.environ["SETTLE_TEST_POSTGRES_SUPERUSER"].replace("dbname=settle", "dbname=postgres")
        subprocess.run(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", statement], check=True, env=os.environ | {"PGPASSWORD": password})

    def server(self):
        name = f"{self.name}_{next(self.numbers)}"
        self.ask(f"CREATE DATABASE {name} OWNER settle_owner TEMPLATE {self.name}")
        return Server(self.settle, store=self.store(name), isNew=False)

    def close(self):
        """The cluster goes with its databases."""


ENGINES = {"files": Files, "postgres": Postgres}
